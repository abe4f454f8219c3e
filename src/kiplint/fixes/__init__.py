"""Fixes and migrations: edits in, verified edits out; all other bytes stay."""
