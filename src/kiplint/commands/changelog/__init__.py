"""`kiplint changelog`."""
