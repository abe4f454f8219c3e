"""The stages of a run, one module each: they read tables, put the engine to work, and write tables."""
