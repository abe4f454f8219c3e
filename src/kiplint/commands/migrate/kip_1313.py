"""`kiplint migrate kip-1313`."""

from __future__ import annotations

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.groups import AnswerFormOption, ColorOption, split
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message   |   "
    "kiplint migrate kip-1313 --only Fetch,Produce ."
)


class Options(Group, frozen=True):
    """What it takes."""

    paths: Annotated[
        tuple[str, ...], Argument("Directories (walked), or files, whose other halves change too.", "PATH")
    ]
    only: Annotated[
        tuple[str, ...], Option("Change only these, as Fetch,Produce. Repeatable.", "RPC", complete=completion.rpcs)
    ] = ()
    only_declare: Annotated[bool, Option("Add headerVersions as flexibleVersions implies them, and no version.")] = (
        False
    )
    tagged: Annotated[bool, Option("Make the client instance id in the header a tagged field.")] = False
    dry_run: Annotated[bool, Option("Write nothing; say what would be done.")] = False
    diff: Annotated[bool, Option("Write nothing; print the change as a patch.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Bring all RPCs to header versions and request header 3 (KIP-1313).

    Requests and responses get headerVersions and a new version, behind request header 3; RequestHeader gets version 3
    with ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs lose
    the id that the header now has. A second run changes nothing. The exit code is 1 while a person has to help.
    """
    from kiplint.cli.output import present_change
    from kiplint.commands.migrate.run import migrate_kip_1313
    from kiplint.engine.errors import UsageError

    only = split(options.only)
    if options.only and not only:
        raise UsageError("--only names no RPC; leave it out for all of them")
    found = migrate_kip_1313(
        *options.paths,
        only=only,
        only_declare=options.only_declare,
        tagged=options.tagged,
        dry_run=options.dry_run or options.diff,
    )
    return present_change(found, options.output_format, options.color, as_patch=options.diff)
