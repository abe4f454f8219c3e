"""What people ask a lake, one module for each question."""
