"""Examples that prove a break: bytes of one side that the other reads differently, or not at all."""
