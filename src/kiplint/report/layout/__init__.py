"""How a layout is drawn."""
