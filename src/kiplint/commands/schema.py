"""`kiplint schema`: the JSON Schemas that kiplint publishes, generated from the types that read or write the JSON."""

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
from kiplint.render.json import pretty
from kiplint.text.words import did_you_mean

EPILOG = """\b
Examples:
  kiplint schema config > kiplint.schema.json
  kiplint schema diff"""


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The schema to print: message, config, pack, or a command that writes JSON, such as check or diff.",
        ),
    ],
) -> int:
    """Print the JSON Schema of a definition or an output.

    There are schemas for definitions (without comments), the configuration, rule packs, and the JSON of each command.
    """
    print(pretty(schema(name)))
    return CLEAN


INPUT_SCHEMAS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "message": message_schema,
    "config": config_schema,
    "pack": pack_schema,
}
"""By name the function that makes the schema of what kiplint reads."""

OUTPUT_TYPES: Final = {
    "check": ("check", "CheckDocument"),
    "decode": ("decode", "DecodeDocument"),
    "diff": ("diff", "DiffDocument"),
    "kip": ("kip", "KipDocument"),
    "migrate": ("migrate", "MigrationDocument"),
    "negotiate": ("negotiate", "Negotiation"),
    "review": ("review", "ReviewDocument"),
    "rollout": ("rollout", "RolloutDocument"),
    "show": ("show", "ShowDocument"),
}
"""By command the module below kiplint.commands and the type of its JSON; the module is only loaded for its schema."""

NAMES: Final = (*INPUT_SCHEMAS, *OUTPUT_TYPES)
"""The names of all schemas: of what kiplint reads, then of what it writes."""


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) with a name such as `config` or `diff`. Raises UsageError if there is none."""
    if name in INPUT_SCHEMAS:
        return INPUT_SCHEMAS[name]()
    if name not in OUTPUT_TYPES:
        hint = did_you_mean(name, NAMES) or f": there are {', '.join(NAMES)}"
        raise UsageError(f"there is no schema {name}{hint}")
    module_name, type_name = OUTPUT_TYPES[name]
    document_type = getattr(import_module(f"kiplint.commands.{module_name}"), type_name)
    schemas, definitions = msgspec.json.schema_components([document_type], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kiplint {name}",
        **schemas[0],
        "$defs": definitions,
    }
