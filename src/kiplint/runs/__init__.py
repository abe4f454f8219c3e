"""Whole runs without a terminal: from what a command was told to what it has to report."""
