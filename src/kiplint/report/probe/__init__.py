"""How the answers of brokers are shown."""
