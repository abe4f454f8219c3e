"""`kiplint schema`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

EPILOG = "Example:  kiplint schema config > kiplint.schema.json"


def schema(
    name: Annotated[Literal["message", "config", "pack", "output"], typer.Argument(help="Whose schema.")],
) -> None:
    """Print a JSON Schema: of definitions (comments removed), the configuration, rule packs, or the JSON output."""
    from kiplint.cli.process import run

    run(lambda: _print(name))


def _print(name: str) -> int:
    import msgspec

    from kiplint.cli.process import CLEAN
    from kiplint.engine.config import config_schema
    from kiplint.engine.rule import pack_schema
    from kiplint.model.spec import message_schema
    from kiplint.report.output_schema import output_schema

    made = {"message": message_schema, "config": config_schema, "pack": pack_schema, "output": output_schema}[name]()
    print(msgspec.json.format(msgspec.json.encode(made), indent=2).decode())
    return CLEAN
