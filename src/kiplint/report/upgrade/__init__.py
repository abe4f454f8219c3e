"""How an upgrade path is told."""
