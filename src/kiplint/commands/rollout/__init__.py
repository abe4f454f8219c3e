"""`kiplint rollout`."""
