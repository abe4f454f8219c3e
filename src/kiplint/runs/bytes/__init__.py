"""Runs about bytes: decode, encode, vectors."""
