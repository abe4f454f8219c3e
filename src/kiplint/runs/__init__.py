"""Whole runs without a terminal: values in, a result out; what to show of it is for others."""
