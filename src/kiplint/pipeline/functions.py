"""Spark's functions and windows, and Arrow's, each imported at its first use.

A question to a lake needs the columns of tables alone, and a run with nothing new needs none of these modules, which
take half a second to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from pyspark.sql import Window
    from pyspark.sql import functions as f
else:

    class _Lazy:
        def __init__(self, module: str, name: str = "") -> None:
            self._where = module, name

        def __getattr__(self, name: str) -> Any:
            module, inner = self._where
            imported = import_module(module)
            return getattr(getattr(imported, inner) if inner else imported, name)

    f = _Lazy("pyspark.sql.functions")
    Window = _Lazy("pyspark.sql", "Window")
    pc = _Lazy("pyarrow.compute")

__all__ = ["Window", "f", "pc"]
