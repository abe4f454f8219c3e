"""What changed between two schema sets, and what that breaks."""
