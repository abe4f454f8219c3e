"""What the generated pages say, one module for each page; `docs/generate.py` writes them."""
