"""Comparison of schema sets, and negotiation between clients and brokers."""
