"""`kiplint rules`."""
