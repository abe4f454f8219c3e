"""`kiplint diff`."""
