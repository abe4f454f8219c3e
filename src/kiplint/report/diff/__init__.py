"""How a diff is told."""
