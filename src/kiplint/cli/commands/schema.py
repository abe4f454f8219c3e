"""`kiplint schema`."""

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group

EPILOG = "Example:  kiplint schema config > kiplint.schema.json"


class Options(Group, frozen=True):
    """What it takes."""

    name: Annotated[Literal["message", "config", "pack", "output", "show"], Argument("Whose schema.")]


def run(options: Options) -> int:
    """Print a JSON Schema: of definitions (comments removed), configuration, rule packs, the output, or that of show.

    The output is the JSON of findings; what `show` writes as JSON has a schema of its own.
    """
    from kiplint.cli.process import CLEAN
    from kiplint.engine.config import config_schema
    from kiplint.engine.rule import pack_schema
    from kiplint.model.spec import message_schema
    from kiplint.report.findings.json import pretty
    from kiplint.report.layout.shape import show_schema
    from kiplint.report.output_schema import output_schema

    known = {
        "message": message_schema,
        "config": config_schema,
        "pack": pack_schema,
        "output": output_schema,
        "show": show_schema,
    }
    print(pretty(known[options.name]()))
    return CLEAN
