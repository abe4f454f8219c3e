"""`kiplint schema`."""
