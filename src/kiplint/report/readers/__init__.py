"""What definitions do to other readers of them, as people and programs are told."""
