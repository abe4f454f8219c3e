"""`kiplint negotiate --matrix`: every set as the client of every other."""
