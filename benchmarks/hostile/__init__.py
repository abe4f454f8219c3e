"""Input that was made to be slow: how time and memory grow with its size."""
