"""`kiplint explain`."""
