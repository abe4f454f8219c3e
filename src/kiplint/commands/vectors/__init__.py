"""`kiplint vectors`."""
