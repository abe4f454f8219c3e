"""Fixes and migrations: verified edits that keep all other bytes."""
