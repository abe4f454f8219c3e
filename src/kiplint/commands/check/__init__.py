"""`kiplint check`."""
