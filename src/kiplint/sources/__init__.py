"""Where schema sets come from."""
