"""How a rollout is told."""
