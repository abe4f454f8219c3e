"""Asking live brokers what they speak (KIP-35, KIP-511)."""
