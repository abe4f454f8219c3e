"""`kiplint migrate bump`."""

from __future__ import annotations

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import AnswerFormOption, Argument, ColorOption, Group, Option

EPILOG = (
    "Examples:  kiplint migrate bump Fetch   |   "
    "kiplint migrate bump Fetch --add-field 'FetchResponse.Topics.Epoch:int32:The epoch of the topic.' --unstable"
)


class Options(Group, frozen=True):
    """The options of `kiplint migrate bump`."""

    rpcs: Annotated[tuple[str, ...], Argument("The RPCs to give a new version.", "RPC", complete=completion.rpcs)]
    schemas: Annotated[str, Option("The directory of their definitions.", "SET")] = "."
    add_field: Annotated[
        tuple[str, ...],
        Option(
            "A field of the new version: Name:type:about, with ? after the type if it is optional, =DEFAULT, @TAG, "
            "and ! if it is never ignorable; []{Name:type, ...} is an array of a struct. Before the name, with dots, "
            "the fields that contain it, and the response if the field is not for the request. Repeatable.",
            "FIELD",
        ),
    ] = ()
    unstable: Annotated[bool, Option("Mark the new version as unstable: it may still change.")] = False
    new_version: Annotated[bool, Option("Add a version after an unstable one, instead of changing that.")] = False
    note: Annotated[str, Option("The comment on the version, after its number.", "TEXT", usual="the fields")] = ""
    dry_run: Annotated[bool, Option("Write nothing; report the changes.")] = False
    diff: Annotated[bool, Option("Write nothing; print the changes as a patch.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Give RPCs a new version, of the request and the response together.

    validVersions, headerVersions and the comment get the new version, and ranges that end with the latest version
    include it. An unstable version is changed instead. New fields come last, from the new version on; in older versions
    they are ignorable in a response, and have a default in a request. What would make the set worse is not written.
    """
    from kiplint.cli.output import present, present_patch
    from kiplint.commands.migrate.run import migrate_bump

    result = migrate_bump(
        *options.rpcs,
        schemas=options.schemas,
        fields=options.add_field,
        unstable=options.unstable,
        new_version=options.new_version,
        note=options.note,
        dry_run=options.dry_run or options.diff,
    )
    if options.diff:
        return present_patch(result, result.change.patch(), result.reasons)
    return present(result, options.output_format, options.color)
