"""Spark's functions and windows, imported when one is first used: who only reads a lake needs the columns alone."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

__all__ = ["Window", "f"]
