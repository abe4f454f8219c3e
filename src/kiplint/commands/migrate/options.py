"""The commands of `kiplint migrate`."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from kiplint.cli import completion
from kiplint.cli.options import AnswerFormOption, Argument, ColorOption, Group, Option, call, split

if TYPE_CHECKING:
    from kiplint.commands.migrate.result import MigrationResult

DirectoryOption = Annotated[str, Option("The directory of their definitions.", "SET")]
DryRunOption = Annotated[bool, Option("Write nothing; report the changes.")]
PatchOption = Annotated[bool, Option("Write nothing; print the changes as a patch.")]


def _written(result: "MigrationResult", options: Any) -> int:
    """Write a result to standard output, or its patch; the exit code."""
    from kiplint.cli.output import present, present_patch

    if options.diff:
        return present_patch(result, result.change.patch(), result.reasons)
    return present(result, options.output_format, options.color)


class Kip1313Room:
    """`kiplint migrate kip-1313`."""

    EPILOG = (
        "Examples:  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message   |   "
        "kiplint migrate kip-1313 --only Fetch,Produce ."
    )

    class Options(Group, frozen=True):
        """The options of `kiplint migrate kip-1313`."""

        paths: Annotated[
            tuple[str, ...],
            Argument(
                "Directories (with all below), or files; the request and response of an RPC change together.", "PATH"
            ),
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
        dry_run: DryRunOption = False
        diff: PatchOption = False
        summary: Annotated[
            Literal["markdown"] | None,
            Option("Print the rollout of the header instead, for the text of a pull request."),
        ] = None
        output_format: AnswerFormOption = "text"
        color: ColorOption = "auto"

    @staticmethod
    def run(options: "Kip1313Room.Options") -> int:
        """Migrate all RPCs to header versions and request header 3 (KIP-1313).

        Requests and responses get headerVersions and a new version with request header 3; RequestHeader gets version 3
        with ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs
        lose the id that the header now has. A later run continues what an earlier one or a person left. The exit code
        is 1 while a person has to change something.
        """
        import sys

        from kiplint.cli.output import finish
        from kiplint.commands.migrate.run import migrate_kip_1313
        from kiplint.engine.errors import UsageError

        only = split(options.only)
        if options.only and not only:
            raise UsageError("--only names no RPC; leave the option out to change all RPCs")
        result = call(migrate_kip_1313, options, only=only, dry_run=options.dry_run or options.diff)
        if not options.summary or options.diff:
            return _written(result, options)
        from kiplint.commands.migrate.text import write_rollout

        write_rollout(result, sys.stdout)
        return finish(result)


class BumpRoom:
    """`kiplint migrate bump`."""

    EPILOG = (
        "Examples:  kiplint migrate bump Fetch   |   kiplint migrate bump Fetch "
        "--add-field 'FetchResponse.Topics.Epoch:int32:The epoch of the topic.' --unstable"
    )

    class Options(Group, frozen=True):
        """The options of `kiplint migrate bump`."""

        rpcs: Annotated[tuple[str, ...], Argument("The RPCs to give a new version.", "RPC", complete=completion.rpcs)]
        schemas: DirectoryOption = "."
        add_field: Annotated[
            tuple[str, ...],
            Option(
                "A field of the new version: Name:type:about, with ? after the type if it is optional, =DEFAULT, @TAG, "
                "and ! if it is never ignorable; []{Name:type, ...} is an array of a struct. Before the name, with "
                "dots, the fields that contain it, and the response if the field is not for the request. Repeatable.",
                "FIELD",
            ),
        ] = ()
        unstable: Annotated[bool, Option("Mark the new version as unstable: it may still change.")] = False
        new_version: Annotated[bool, Option("Add a version after an unstable one, instead of changing that.")] = False
        note: Annotated[str, Option("The comment on the version, after its number.", "TEXT", usual="the fields")] = ""
        dry_run: DryRunOption = False
        diff: PatchOption = False
        output_format: AnswerFormOption = "text"
        color: ColorOption = "auto"

    @staticmethod
    def run(options: "BumpRoom.Options") -> int:
        """Give RPCs a new version, of the request and the response together.

        validVersions, headerVersions and the comment get the new version, and ranges that end with the latest version
        include it. An unstable version is changed instead. New fields come last, from the new version on; in older
        versions they are ignorable in a response, and have a default in a request. What would make the set worse is not
        written.
        """
        from kiplint.commands.migrate.run import migrate_bump

        dry_run = options.dry_run or options.diff
        return _written(call(migrate_bump, options, fields=options.add_field, dry_run=dry_run), options)


class ReleaseRoom:
    """`kiplint migrate release`."""

    EPILOG = "Example:  kiplint migrate release InitProducerId --schemas clients/src/main/resources/common/message"

    class Options(Group, frozen=True):
        """The options of `kiplint migrate release`."""

        rpcs: Annotated[tuple[str, ...], Argument("The RPCs to release.", "RPC", complete=completion.rpcs)]
        schemas: DirectoryOption = "."
        dry_run: DryRunOption = False
        diff: PatchOption = False
        output_format: AnswerFormOption = "text"
        color: ColorOption = "auto"

    @staticmethod
    def run(options: "ReleaseRoom.Options") -> int:
        """Release the unstable version of RPCs: brokers offer it, and it may not change any more.

        latestVersionUnstable is removed from the request.
        """
        from kiplint.commands.migrate.run import migrate_release

        return _written(call(migrate_release, options, dry_run=options.dry_run or options.diff), options)
