"""The commands of `kiplint migrate`."""

from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.classes import AnswerFormOption, Argument, ColorOption, Command, Group, Option
from kiplint.text.words import comma_parts

if TYPE_CHECKING:
    from kiplint.commands.migrate.result import MigrationResult

DirectoryOption = Annotated[str, Option("The directory of their definitions.", "SET")]


class Writing(Group, frozen=True):
    """What is written: the files, or only a report or a patch."""

    dry_run: Annotated[bool, Option("Write nothing; report the changes.")] = False
    diff: Annotated[bool, Option("Write nothing; print the changes as a patch.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    @property
    def to_files(self) -> bool:
        """Whether the files are written."""
        return not (self.dry_run or self.diff)

    def present(self, result: "MigrationResult") -> int:
        """Write a result to standard output, or its patch; the exit code."""
        from kiplint.cli.output import present, present_patch

        if self.diff:
            return present_patch(result, result.change.patch(), result.reasons)
        return present(result, self.output_format, self.color)


class Kip1313Command(Command, frozen=True):
    """The options of `kiplint migrate kip-1313`."""

    EPILOG = (
        "Examples:  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message   |   "
        "kiplint migrate kip-1313 --only Fetch,Produce ."
    )

    sets: Annotated[
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
    summary: Annotated[
        Literal["markdown"] | None,
        Option("Print the rollout of the header instead, for the text of a pull request.", terminal=True),
    ] = None
    writing: Writing = Writing()

    def run(self) -> int:
        """Migrate RPCs to header versions and request header 3 (KIP-1313).

        Requests and responses get headerVersions and a new version with request header 3; RequestHeader gets version 3
        with ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs
        lose the id that the header now has. A later run continues what an earlier one or a person left. The exit code
        is 1 while a person has to change something.
        """
        import sys

        from kiplint.cli.output import finish
        from kiplint.commands.migrate.run import migrate_kip_1313
        from kiplint.engine.errors import UsageError

        if self.only and not comma_parts(self.only):
            raise UsageError("--only names no RPC; leave the option out to change all RPCs")
        result = migrate_kip_1313(self)
        if not self.summary or self.writing.diff:
            return self.writing.present(result)
        from kiplint.commands.migrate.text import write_rollout

        write_rollout(result, sys.stdout)
        return finish(result)


class BumpCommand(Command, frozen=True):
    """The options of `kiplint migrate bump`."""

    EPILOG = "Examples:  kiplint migrate bump Fetch   |   kiplint migrate bump Fetch --note 'adds Epoch.' --unstable"

    rpcs: Annotated[tuple[str, ...], Argument("The RPCs to give a new version.", "RPC", complete=completion.rpcs)]
    schemas: DirectoryOption = "."
    unstable: Annotated[bool, Option("Mark the new version as unstable: it may still change.")] = False
    new_version: Annotated[bool, Option("Add a version after an unstable one.")] = False
    note: Annotated[
        str, Option("The comment on the version, after its number.", "TEXT", usual="is the same as version N")
    ] = ""
    writing: Writing = Writing()

    def run(self) -> int:
        """Give RPCs a new version, request and response together.

        validVersions, headerVersions and the comment get the new version, and ranges that end with the latest version
        include it. After an unstable version, which may still change, there is only one with --new-version. What would
        make the set worse is not written.
        """
        from kiplint.commands.migrate.run import migrate_bump

        return self.writing.present(migrate_bump(self))
