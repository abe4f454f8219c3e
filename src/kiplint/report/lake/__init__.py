"""How the pipeline's answers are told."""
