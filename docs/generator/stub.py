"""What `src/kiplint/__init__.pyi` derives: the modules of the types that results have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

IMPORT: Final = r"(?m)^from (\S+) import (\w+) as \w+\n"


def make(stub: str, types: Mapping[str, type]) -> str:
    """The stub with public types by name."""
    places = {name: module for module, name in re.findall(IMPORT, stub)}
    places |= {name: kind.__module__ for name, kind in types.items()}
    names = sorted(places, key=lambda name: (places[name], name[0].islower(), name.lower()))
    rows = "".join(f"from {places[name]} import {name} as {name}\n" for name in names)
    start = stub.index("from kiplint.")
    return stub[:start] + rows + re.sub(IMPORT, "", stub[start:])
