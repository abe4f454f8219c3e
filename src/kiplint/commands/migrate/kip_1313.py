"""`kiplint migrate kip-1313`."""

from __future__ import annotations

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import AnswerFormOption, Argument, ColorOption, Group, Option, split

EPILOG = (
    "Examples:  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message   |   "
    "kiplint migrate kip-1313 --only Fetch,Produce ."
)


class Options(Group, frozen=True):
    """The options of `kiplint migrate kip-1313`."""

    paths: Annotated[
        tuple[str, ...],
        Argument("Directories (with all below), or files; the request and response of an RPC change together.", "PATH"),
    ]
    only: Annotated[
        tuple[str, ...],
        Option("Change only these RPCs, such as Fetch,Produce. Repeatable.", "RPC", complete=completion.rpcs),
    ] = ()
    except_telemetry: Annotated[
        bool, Option("Leave GetTelemetrySubscriptions and PushTelemetry for a later change.")
    ] = False
    only_declare: Annotated[
        bool, Option("Add headerVersions as flexibleVersions implies them, and no new version.")
    ] = False
    tagged: Annotated[bool, Option("Make the client instance id in the header a tagged field.")] = False
    dry_run: Annotated[bool, Option("Write nothing; report the changes.")] = False
    diff: Annotated[bool, Option("Write nothing; print the changes as a patch.")] = False
    summary: Annotated[
        Literal["markdown"] | None, Option("Print the rollout of the header instead, for the text of a pull request.")
    ] = None
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Migrate all RPCs to header versions and request header 3 (KIP-1313).

    Requests and responses get headerVersions and a new version with request header 3; RequestHeader gets version 3
    with ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs lose
    the id that the header now has. A later run continues what an earlier one or a person left. The exit code is 1
    while a person has to change something.
    """
    import sys

    from kiplint.cli.output import finish, present, present_patch
    from kiplint.commands.migrate.run import migrate_kip_1313
    from kiplint.engine.errors import UsageError

    only = split(options.only)
    if options.only and not only:
        raise UsageError("--only names no RPC; leave the option out to change all RPCs")
    result = migrate_kip_1313(
        *options.paths,
        only=only,
        except_telemetry=options.except_telemetry,
        only_declare=options.only_declare,
        tagged=options.tagged,
        dry_run=options.dry_run or options.diff,
    )
    if options.diff:
        return present_patch(result, result.change.patch(), result.reasons)
    if options.summary:
        from kiplint.commands.migrate.text import write_rollout

        write_rollout(result, sys.stdout)
        return finish(result)
    return present(result, options.output_format, options.color)
