"""`kiplint show`."""
