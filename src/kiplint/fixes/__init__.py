"""Mends and migrations: edits that change what is wrong, or what is to be new, and nothing else."""
