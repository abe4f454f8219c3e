"""`kiplint upgrade-path`."""
