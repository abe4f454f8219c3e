"""The packs that ship as Python, a module each. `hatch_build.py` writes the modules; none is kept in git."""
