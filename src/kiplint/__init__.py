"""kiplint: linter and compatibility checker for Apache Kafka message schemas.

The functions do what the commands do, print nothing, and return what the commands print.
"""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """A public name, whose module is imported on first use, so that `import kiplint` takes no time."""
    places = _places()
    if name == "__all__":
        value: object = sorted(["__version__", *places])
    elif name in places:
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{places[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *_places()])


def _places() -> dict[str, str]:
    """The modules of the other public names, as `__init__.pyi` has them for type checkers."""
    import re

    stub = __spec__.loader.get_data(f"{__file__}i").decode()  # also out of a zip file
    return {name: module for module, name in re.findall(r"(?m)^from kiplint\.(\S+) import (\w+) as", stub)}
