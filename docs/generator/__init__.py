"""The content of the generated pages, one module for each page; `docs/generate.py` writes them."""
