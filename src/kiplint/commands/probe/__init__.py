"""`kiplint probe`."""
