"""`kiplint negotiate --clients` and `--list-clients`: released clients."""
