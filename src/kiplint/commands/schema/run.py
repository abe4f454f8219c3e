"""The JSON Schemas that kiplint publishes, each made of the types that read or write the JSON."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec

from kiplint.engine.config import config_schema
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import pack_schema
from kiplint.model.spec import message_schema
from kiplint.text.files import module_names
from kiplint.text.words import did_you_mean

Schema = dict[str, Any]

COMMANDS = "kiplint.commands"

READ = {"message": message_schema, "config": config_schema, "pack": pack_schema}
"""The schemas of what kiplint reads."""


def schema(name: str) -> Schema:
    """The JSON Schema (draft 2020-12) of that name. Raises UsageError where there is none."""
    if name in READ:
        return READ[name]()
    known = documents()
    if name not in known:
        names = [*READ, *known]
        raise UsageError(f"there is no schema {name}{did_you_mean(name, names) or ': there are ' + ', '.join(names)}")
    return document_schema(known[name], name)


def schema_names() -> list[str]:
    """The names of all schemas: of what kiplint reads, then of what it writes."""
    return [*READ, *documents()]


def documents() -> dict[str, Any]:
    """The types of the JSON documents that commands write, by name. Each room declares its own, as `DOCUMENTS`."""
    found: dict[str, Any] = {}
    for module in _results(COMMANDS):
        found |= getattr(module, "DOCUMENTS", {})
    return dict(sorted(found.items()))


def _results(package: str) -> Iterator[ModuleType]:
    """The modules of rooms that may declare documents: `result` of a folder, else the room itself."""
    for name in module_names(import_module(package).__path__[0]):
        module = import_module(f"{package}.{name}")
        if not hasattr(module, "__path__"):
            yield module
            continue
        if "result" in module_names(module.__path__[0]):
            yield import_module(f"{module.__name__}.result")
        if hasattr(module, "COMMANDS"):
            for room in module.COMMANDS:
                yield import_module(f"{module.__name__}.{room.replace('-', '_')}")


def document_schema(document: Any, name: str) -> Schema:
    """The JSON Schema of a document's type, or of a tuple of types, any of which it may have."""
    types = document if isinstance(document, tuple) else (document,)
    schemas, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    top = {"anyOf": [*schemas]} if len(types) > 1 else schemas[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kiplint {name}",
        **top,
        "$defs": parts,
    }
