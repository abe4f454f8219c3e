"""`kiplint kip`."""
