"""What a client and its brokers agree on."""
