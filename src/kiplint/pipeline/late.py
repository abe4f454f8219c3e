"""Spark's functions and windows, and Arrow's, imported when one is first used.

Who only reads a lake needs the columns alone, and a run without anything new needs nothing of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from pyspark.sql import Window
    from pyspark.sql import functions as f
else:

    class _Late:
        def __init__(self, module: str, name: str = "") -> None:
            self._where = module, name

        def __getattr__(self, name: str) -> Any:
            module, inner = self._where
            found = import_module(module)
            return getattr(getattr(found, inner) if inner else found, name)

    f = _Late("pyspark.sql.functions")
    Window = _Late("pyspark.sql", "Window")
    pc = _Late("pyarrow.compute")

__all__ = ["Window", "f", "pc"]
