"""`kiplint migrate release`."""

from __future__ import annotations

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import AnswerFormOption, Argument, ColorOption, Group, Option

EPILOG = "Example:  kiplint migrate release InitProducerId --schemas clients/src/main/resources/common/message"


class Options(Group, frozen=True):
    """The options of `kiplint migrate release`."""

    rpcs: Annotated[tuple[str, ...], Argument("The RPCs to release.", "RPC", complete=completion.rpcs)]
    schemas: Annotated[str, Option("The directory of their definitions.", "SET")] = "."
    dry_run: Annotated[bool, Option("Write nothing; report the changes.")] = False
    diff: Annotated[bool, Option("Write nothing; print the changes as a patch.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Release the unstable version of RPCs: brokers offer it, and it may not change any more.

    latestVersionUnstable is removed from the request.
    """
    from kiplint.cli.output import present, present_patch
    from kiplint.commands.migrate.run import migrate_release

    dry_run = options.dry_run or options.diff
    result = migrate_release(*options.rpcs, schemas=options.schemas, dry_run=dry_run)
    if options.diff:
        return present_patch(result, result.change.patch(), result.reasons)
    return present(result, options.output_format, options.color)
