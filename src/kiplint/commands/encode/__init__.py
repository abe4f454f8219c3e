"""`kiplint encode`."""
