"""kiplint: linter and compatibility checker for Apache Kafka message schemas.

The functions do what the commands do, print nothing, and return what the commands print.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """A public name; the first use of one imports them all, so that `import kiplint` is fast."""
    if name == "__all__":
        return __dir__()
    if name in __dir__():
        return getattr(import_module("kiplint.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *(name for name in vars(import_module("kiplint.api")) if not name.startswith("_"))]
