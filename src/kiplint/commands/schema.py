"""`kiplint schema`: the JSON Schemas that kiplint publishes, each made of the types that read or write the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any

from kiplint.cli.options import Argument, Command


def _complete(incomplete: str) -> list[str]:
    return [name for name in schema_names() if name.startswith(incomplete)]


class SchemaCommand(Command, frozen=True):
    """The options of `kiplint schema`."""

    EPILOG = "Examples:  kiplint schema config > kiplint.schema.json   |   kiplint schema diff"

    name: Annotated[
        str,
        Argument(
            "Whose schema: message, config, pack, or a command that writes JSON, such as check or diff.",
            "NAME",
            complete=_complete,
        ),
    ]

    def run(self) -> int:
        """Print the JSON Schema of a definition or an output.

        There is one of definitions (comments removed), the configuration, rule packs, and each command's JSON. `output`
        is another name for `check`.
        """
        from kiplint.cli.process import CLEAN
        from kiplint.render.findings.json import pretty

        print(pretty(schema(self.name)))
        return CLEAN


JsonSchema = dict[str, Any]


def _read() -> Mapping[str, Callable[[], JsonSchema]]:
    """The schemas of what kiplint reads."""
    from kiplint.engine.config import config_schema
    from kiplint.engine.rule import pack_schema
    from kiplint.model.spec import message_schema

    return {"message": message_schema, "config": config_schema, "pack": pack_schema}


def schema(name: str) -> JsonSchema:
    """The JSON Schema (draft 2020-12) of that name. Raises UsageError where there is none."""
    from kiplint.engine.errors import UsageError
    from kiplint.text.words import did_you_mean

    if name in (read := _read()):
        return read[name]()
    by_name = documents()
    if name not in by_name:
        names = [*read, *by_name]
        raise UsageError(f"there is no schema {name}{did_you_mean(name, names) or ': there are ' + ', '.join(names)}")
    return document_schema(by_name[name], name)


def schema_names() -> list[str]:
    """The names of all schemas: of what kiplint reads, then of what it writes."""
    return [*_read(), *documents()]


def documents() -> dict[str, Any]:
    """The types of the JSON documents that commands write, by name. Each room declares its own, as `DOCUMENTS`."""
    schemas: dict[str, Any] = {}
    for module in _results("kiplint.commands"):
        schemas |= getattr(module, "DOCUMENTS", {})
    return dict(sorted(schemas.items()))


def _results(package: str) -> Iterator[ModuleType]:
    """The modules of rooms that may declare documents: `result` of a folder, else its `run`, else the room itself."""
    from kiplint.text.files import module_names

    for name in module_names(import_module(package).__path__[0]):
        module = import_module(f"{package}.{name}")
        parts = module_names(module.__path__[0]) if hasattr(module, "__path__") else []
        part = next((part for part in ("result", "run") if part in parts), "")
        yield import_module(f"{module.__name__}.{part}") if part else module


def document_schema(document: Any, name: str) -> JsonSchema:
    """The JSON Schema of a document's type, or of a tuple of types, any of which it may have."""
    import msgspec

    types = document if isinstance(document, tuple) else (document,)
    schemas, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    top = {"anyOf": [*schemas]} if len(types) > 1 else schemas[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kiplint {name}",
        **top,
        "$defs": parts,
    }
