"""How a negotiation is told."""
