"""`kiplint migrate bump`."""

from __future__ import annotations

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.groups import AnswerFormOption, ColorOption
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint migrate bump Fetch   |   "
    "kiplint migrate bump Fetch --add-field 'FetchResponse.Topics.Epoch:int32:The epoch of the topic.' --unstable"
)


class Options(Group, frozen=True):
    """What it takes."""

    rpcs: Annotated[tuple[str, ...], Argument("The RPCs to give a new version.", "RPC", complete=completion.rpcs)]
    schemas: Annotated[str, Option("The directory that they are in.", "SET")] = "."
    add_field: Annotated[
        tuple[str, ...],
        Option(
            "A field that the version brings: Name:type:about. In front of the name, with dots, the fields that lead "
            "to it, and the response, if it is not for the request. Repeatable.",
            "FIELD",
        ),
    ] = ()
    unstable: Annotated[bool, Option("Say that the new version may still change.")] = False
    note: Annotated[
        str, Option("What the comment says of the version, after its number.", "TEXT", usual="the fields")
    ] = ""
    dry_run: Annotated[bool, Option("Write nothing; say what would be done.")] = False
    diff: Annotated[bool, Option("Write nothing; print the change as a patch.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Give RPCs a new version, of the request and the response together.

    validVersions, headerVersions and the comment are led on; what ended with the latest version goes on. New fields
    come last, from the new version on, and writers may leave them out of older ones.
    """
    from kiplint.cli.output import present_change
    from kiplint.commands.migrate.run import migrate_bump

    found = migrate_bump(
        *options.rpcs,
        schemas=options.schemas,
        fields=options.add_field,
        unstable=options.unstable,
        note=options.note,
        dry_run=options.dry_run or options.diff,
    )
    return present_change(found, options.output_format, options.color, as_patch=options.diff)
