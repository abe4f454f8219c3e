"""`kiplint migrate bump`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.options import FormOption
from kiplint.cli.output import present, present_patch
from kiplint.commands.migrate.run import migrate_bump

EPILOG = """\b
Examples:
  kiplint migrate bump Fetch
  kiplint migrate bump Fetch --note 'adds Epoch.' --unstable"""

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Write nothing; report the changes.")]
DiffOption = Annotated[bool, typer.Option("--diff", help="Write nothing; print the changes as a patch.")]


def command(
    rpcs: Annotated[
        list[str],
        typer.Argument(metavar="RPC", help="The RPCs to give a new version."),
    ],
    schemas: Annotated[str, typer.Option(metavar="SET", help="The directory of their definitions.")] = ".",
    unstable: Annotated[
        bool, typer.Option("--unstable", help="Mark the new version as unstable: it may still change.")
    ] = False,
    new_version: Annotated[bool, typer.Option("--new-version", help="Add a version after an unstable one.")] = False,
    note: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="The comment on the version, after its number.",
            show_default="is the same as version N",
        ),
    ] = "",
    dry_run: DryRunOption = False,
    diff: DiffOption = False,
    output_format: FormOption = "text",
) -> int:
    """Give RPCs a new version, request and response together.

    validVersions, headerVersions and the comment get the new version, and ranges that end with the latest version
    include it. After an unstable version, which may still change, there is only one with --new-version. What would make
    the set worse is not written.
    """
    result = migrate_bump(
        *rpcs, schemas=schemas, unstable=unstable, new_version=new_version, note=note, dry_run=dry_run or diff
    )
    if diff:
        return present_patch(result, result.change.patch(), result.reasons)
    return present(result, output_format)
