"""`kiplint readers`."""
