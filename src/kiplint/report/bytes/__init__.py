"""How decoded bytes are shown."""
