"""`kiplint new coordinator`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group, Option

EPILOG = "Example:  kiplint new coordinator RackLease --key 'Group:string, Rack:string' --value 'Epoch:int32'"


class Options(Group, frozen=True):
    """The options of `kiplint new coordinator`."""

    name: Annotated[str, Argument("The name, without Key or Value.", "NAME")]
    schemas: Annotated[str, Option("The directory for the definitions.", "SET")] = "."
    api_key: Annotated[int | None, Option("Its API key.", "KEY", usual="the next free key", least=0, most=32767)] = None
    key: Annotated[str, Option("The fields of the key, such as 'Group:string'.", "FIELDS")] = ""
    value: Annotated[str, Option("The fields of the value.", "FIELDS")] = ""
    dry_run: Annotated[bool, Option("Write nothing; print the two definitions.")] = False
    output_format: Annotated[Literal["text", "json"], Option("The format of the output.")] = "text"


def run(options: Options) -> int:
    """Write the key and the value of a coordinator's record, which pass `kiplint check`.

    Licence, line ends and names of fields are as in the other definitions in the directory.
    """
    from kiplint.commands.new.output import show
    from kiplint.commands.new.run import new_coordinator

    result = new_coordinator(
        options.name,
        options.schemas,
        api_key=options.api_key,
        key=options.key,
        value=options.value,
        dry_run=options.dry_run,
    )
    return show(result, options.output_format, dry_run=options.dry_run)
