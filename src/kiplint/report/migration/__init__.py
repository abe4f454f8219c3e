"""How a migration is told."""
