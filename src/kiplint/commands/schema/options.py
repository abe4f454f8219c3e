"""`kiplint schema`."""

from typing import Annotated, Literal, get_args

from kiplint.cli.options import Argument, Group

EPILOG = "Example:  kiplint schema config > kiplint.schema.json"


Name = Literal["message", "config", "pack", "output", "show", "migrate", "new", "negotiate", "upgrade-path"]


class Options(Group, frozen=True):
    """What it takes."""

    name: Annotated[Name, Argument(f"Whose schema: {', '.join(get_args(Name))}.", "NAME")]


def run(options: Options) -> int:
    """Print a JSON Schema: of definitions (comments removed), the configuration, rule packs, or JSON output.

    `output` is that of check, the others are those of the commands of their names.
    """
    from kiplint.cli.process import CLEAN
    from kiplint.commands.schema.run import OUTPUTS
    from kiplint.engine.config import config_schema
    from kiplint.engine.rule import pack_schema
    from kiplint.model.spec import message_schema
    from kiplint.render.findings.json import pretty

    known = {"message": message_schema, "config": config_schema, "pack": pack_schema, **OUTPUTS}
    print(pretty(known[options.name]()))
    return CLEAN
