"""`kiplint decode`."""
