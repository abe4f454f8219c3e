"""`kiplint negotiate`."""
