"""Spark's functions and windows, and Arrow's, imported when one is first used.

Who only reads a lake needs the columns alone, and a run without anything new needs nothing of it. Where a run is done
`here`, Spark's are those of `kiplint.pipeline.local`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

_here: list[bool] = [False]

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from pyspark.sql import Window
    from pyspark.sql import functions as f
else:

    class _Late:
        def __init__(self, module: str, name: str = "", here: Callable[[], Any] | None = None) -> None:
            self._where = module, name
            self._here = here

        def __getattr__(self, name: str) -> Any:
            if self._here and _here[-1]:
                return getattr(self._here(), name)
            module, inner = self._where
            found = import_module(module)
            return getattr(getattr(found, inner) if inner else found, name)

    def _functions() -> Any:
        from kiplint.pipeline.local import functions

        return functions

    def _window() -> Any:
        from kiplint.pipeline.local.window import Window

        return Window

    f = _Late("pyspark.sql.functions", here=_functions)
    Window = _Late("pyspark.sql", "Window", here=_window)
    pc = _Late("pyarrow.compute")

__all__ = ["Window", "engine", "f", "pc"]


@contextmanager
def engine(*, here: bool) -> Iterator[None]:
    """Whether columns are those of this process, rather than Spark's."""
    _here.append(here)
    try:
        yield
    finally:
        _here.pop()
