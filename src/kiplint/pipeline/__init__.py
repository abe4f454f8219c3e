"""Whole histories and many forks on Spark: the engine of `check` and `diff` on executors, once for each content."""
