"""`kiplint schema`: the JSON Schemas that kiplint publishes, each made of the types that read or write the JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import msgspec
import typer

from kiplint.cli.process import CLEAN
from kiplint.engine.config import config_schema
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import pack_schema
from kiplint.model.spec import message_schema
from kiplint.render.findings.json import pretty
from kiplint.text.words import did_you_mean

EPILOG = """\b
Examples:
  kiplint schema config > kiplint.schema.json
  kiplint schema diff"""


def _complete(incomplete: str) -> list[str]:
    return [name for name in schema_names() if name.startswith(incomplete)]


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Whose schema: message, config, pack, or a command that writes JSON, such as check or diff.",
            autocompletion=_complete,
        ),
    ],
) -> int:
    """Print the JSON Schema of a definition or an output.

    There is one of definitions (comments removed), the configuration, rule packs, and each command's JSON. `output` is
    another name for `check`.
    """
    print(pretty(schema(name)))
    return CLEAN


JsonSchema = dict[str, Any]


READ: Final[Mapping[str, Callable[[], JsonSchema]]] = {
    "message": message_schema,
    "config": config_schema,
    "pack": pack_schema,
}
"""The schemas of what kiplint reads."""

DOCUMENTS: Final[Mapping[str, str]] = {
    "check": "check.run",
    "decode": "decode",
    "diff": "diff.run",
    "kip": "kip",
    "migrate": "migrate.run",
    "negotiate": "negotiate",
    "output": "check.run",
    "review": "review.result",
    "rollout": "rollout",
    "show": "show",
}
"""The JSON documents that commands write, by name, and the module whose `DOCUMENTS` has their types.

Only one module is loaded for a schema: others may need an extra.
"""


def schema(name: str) -> JsonSchema:
    """The JSON Schema (draft 2020-12) of that name. Raises UsageError where there is none."""
    if name in READ:
        return READ[name]()
    if name not in DOCUMENTS:
        names = schema_names()
        raise UsageError(f"there is no schema {name}{did_you_mean(name, names) or ': there are ' + ', '.join(names)}")
    module = import_module(f"kiplint.commands.{DOCUMENTS[name]}")
    return document_schema(module.DOCUMENTS[name], name)


def schema_names() -> list[str]:
    """The names of all schemas: of what kiplint reads, then of what it writes."""
    return [*READ, *DOCUMENTS]


def document_schema(document: Any, name: str) -> JsonSchema:
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
