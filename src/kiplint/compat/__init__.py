"""What changed between schema sets, and what client and broker make of each other."""
