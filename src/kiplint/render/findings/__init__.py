"""The formats of findings, one module each."""
