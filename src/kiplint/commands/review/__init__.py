"""`kiplint review`."""
