"""How the matrix of releases is told."""
