"""`kiplint new record`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli.options import Argument, Group, Option

EPILOG = "Example:  kiplint new record Rack --schemas metadata --fields 'Name:string, Ids:[]int32'"


class Options(Group, frozen=True):
    """The options of `kiplint new record`."""

    name: Annotated[str, Argument("The name, without Record.", "NAME")]
    schemas: Annotated[str, Option("The directory for the definition.", "SET")] = "."
    api_key: Annotated[int | None, Option("Its API key.", "KEY", usual="the next free key", least=0, most=32767)] = None
    fields: Annotated[str, Option("Its fields, such as 'Name:string, Ids:[]int32'.", "FIELDS")] = ""
    dry_run: Annotated[bool, Option("Write nothing; print the definition.")] = False
    output_format: Annotated[Literal["text", "json"], Option("The format of the output.")] = "text"


def run(options: Options) -> int:
    """Write a metadata record that passes `kiplint check`.

    Licence, line ends and names of fields are as in the other definitions in the directory.
    """
    from kiplint.commands.new.output import show
    from kiplint.commands.new.run import new_record

    result = new_record(
        options.name, options.schemas, api_key=options.api_key, fields=options.fields, dry_run=options.dry_run
    )
    return show(result, options.output_format, dry_run=options.dry_run)
