"""`kiplint schema`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group

EPILOG = "Examples:  kiplint schema config > kiplint.schema.json   |   kiplint schema diff"
SECTION = "Reference"


class Options(Group, frozen=True):
    """What it takes."""

    name: Annotated[
        str,
        Argument(
            "Whose schema: message, config, pack, or a command that writes JSON, such as check or diff.",
            "NAME",
            complete=completion.schemas,
        ),
    ]


def run(options: Options) -> int:
    """Print a JSON Schema: of definitions (comments removed), the configuration, rule packs, or a command's JSON.

    `output` is another name for `check`.
    """
    from kiplint.cli.process import CLEAN
    from kiplint.commands.schema.run import schema
    from kiplint.render.findings.json import pretty

    print(pretty(schema(options.name)))
    return CLEAN
