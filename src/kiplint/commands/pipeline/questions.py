"""The questions to a lake that take no Spark, and its upkeep."""

from typing import Annotated

from kiplint.cli.options import (
    AnswerFormOption,
    Argument,
    AsOfOption,
    ColorOption,
    Command,
    LakeArgument,
    Option,
)
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.commands.pipeline.lake import open_lake, present_answer
from kiplint.engine.errors import UsageError
from kiplint.text.words import plural


class BlameCommand(Command, frozen=True):
    """The options of `kiplint pipeline blame`."""

    EPILOG = (
        "Examples:  kiplint pipeline blame lake SaslHandshake   |   "
        "kiplint pipeline blame lake compat/layout-changed   |   kiplint pipeline blame lake Fetch --reviewers"
    )

    lake: LakeArgument
    subject: Annotated[str, Argument("A message, an RPC, a rule, or a pack.", "MESSAGE|RULE")]
    reviewers: Annotated[bool, Option("Also show who changed the message most in the last year of the lake.")] = False
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Show everything that happened to a message or because of a rule, in order.

        Introduced and fixed findings, and changes, each with its commit and the first release that has it.
        """
        from kiplint.engine.config import configure

        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.history import blame

        rules = [rule.id for rule in configure(config={}).all_rules()]
        answer = blame(reader, self.subject, rules, reviewers=self.reviewers)
        return present_answer(answer, self.output_format, self.color)


class MatrixCommand(Command, frozen=True):
    """The options of `kiplint pipeline matrix`."""

    EPILOG = "Examples:  kiplint pipeline matrix lake   |   kiplint pipeline matrix lake 2.4.0 3.9.0"

    lake: LakeArgument
    client: Annotated[str | None, Argument("The client's release.", "CLIENT")] = None
    broker: Annotated[str | None, Argument("The broker's release.", "BROKER")] = None
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Show which releases interoperate as client and broker, or which version of each RPC a pair uses.

        The same as `kiplint negotiate` says of two sets (KIP-35, KIP-511, KIP-1313), for every pair of releases.
        """
        client, broker = self.client, self.broker
        if client and not broker:
            raise UsageError(f"matrix takes no release, or two: the client {client} and a broker")
        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.matrix import matrix, pair_matrix

        answer = pair_matrix(reader, client, broker) if client and broker else matrix(reader)
        return present_answer(answer, self.output_format, self.color)


class RolloutCommand(Command, frozen=True):
    """The options of `kiplint pipeline rollout`."""

    EPILOG = "Example:  kiplint pipeline rollout lake"

    lake: LakeArgument
    header: Annotated[int, Option("The request header version that is rolled out.", "VERSION", least=0, most=32767)] = 3
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Show the rollout of a request header version, over time and releases (KIP-1313)."""

        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.history import rollout

        return present_answer(rollout(reader, self.header), self.output_format, self.color)


class ChangesCommand(Command, frozen=True):
    """The options of `kiplint pipeline changes`."""

    EPILOG = (
        "Examples:  kiplint pipeline changes lake --since 2026-01-31   |   "
        "kiplint pipeline changes lake 3.5.0..3.8.0   |   kiplint pipeline changes lake kafka:3.8.0..fork:next"
    )

    lake: LakeArgument
    span: Annotated[
        str | None,
        Argument("Two revisions: each a release, a commit, or `next`, also as SOURCE:RELEASE.", "A..B"),
    ] = None
    since: Annotated[
        str | None, Option("Tell what revisions from this time on brought.", "DATE", usual="the last seven days")
    ] = None
    as_of: AsOfOption = None
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Show what was introduced, fixed or broken since a date, or what changed between any two revisions.

        The date is that of revisions: when they were committed. Findings have all severities, changes are
        those that break something. Between A and B the changes are those that `kiplint diff` reports; `next` is the
        newest revision of a source's branches.
        """
        if self.span and self.since:
            raise UsageError(f"changes takes two revisions or --since, not {self.span} and --since {self.since}")
        reader = open_lake(self.lake, self.as_of or "")
        if self.span:
            from kiplint.cli.output import present
            from kiplint.commands.pipeline.result import lake_diff

            return present(lake_diff(reader, self.span), self.output_format, self.color)
        from kiplint.pipeline.answers.history import changes

        return present_answer(changes(reader, self.since), self.output_format, self.color)


class ForksCommand(Command, frozen=True):
    """The options of `kiplint pipeline forks`."""

    EPILOG = (
        "Examples:  kiplint pipeline forks lake   |   kiplint pipeline forks lake --merging 4.1.0   |   "
        "kiplint pipeline forks lake --source 'vendor-*'"
    )

    lake: LakeArgument
    merging: Annotated[
        str | None,
        Option("A release, a commit or `next` of upstream to hold forks against.", "REV", usual="its newest release"),
    ] = None
    source: Annotated[tuple[str, ...], Option("Only forks whose source matches. Repeatable.", "GLOB")] = ()
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Compare each fork with upstream: its base, what it lacks, adds or changes, and what a merge breaks.

        A row for each line of a fork, the worst first; forks with the same definitions share a row. A single row is
        followed by its messages. `lacks` counts messages that the fork has no version of, `older` those of which it
        lacks some versions, `behind` upstream's changes since the base.
        """
        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.forks import forks

        return present_answer(forks(reader, self.source, self.merging or ""), self.output_format, self.color)


class OptimizeCommand(Command, frozen=True):
    """The options of `kiplint pipeline optimize`."""

    EPILOG = "Example:  kiplint pipeline optimize lake --keep 30"

    lake: LakeArgument
    keep: Annotated[int, Option("How many days of states stay, for --as-of.", "DAYS", least=0)] = 7
    quiet: Annotated[bool, Option("Print nothing but errors.", alias="-q")] = False

    def run(self) -> int:
        """Merge the small files of a lake, and remove files that no recent state needs.

        Leftovers of killed runs are removed too, and nothing else. A run does this automatically once a table has many
        small files.
        """
        lake = open_lake(self.lake).lake
        from kiplint.pipeline.lake.upkeep import optimize

        upkeep = optimize(lake, self.keep)
        if not self.quiet:
            since = f"{upkeep.oldest.published:%Y-%m-%d %H:%M}"
            tables, files = plural(upkeep.tables, "table"), plural(upkeep.files, "file")
            states = f"states since {since} (number {upkeep.oldest.number}) are there"
            print(f"{tables} compacted, {files} removed; {states}")
        return CLEAN


class VerifyCommand(Command, frozen=True):
    """The options of `kiplint pipeline verify`."""

    EPILOG = "Example:  kiplint pipeline verify lake.  Exit codes: 0 no damage, 1 damaged files, 2 no lake."

    lake: LakeArgument
    output_format: AnswerFormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Read every file of a lake against its log: sizes, checksums, numbers of rows.

        `kiplint pipeline run --resume` rebuilds the tables of damaged files.
        """
        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.documents import IntegrityDocument
        from kiplint.pipeline.lake.upkeep import log_of, verify

        damages = tuple(verify(reader.lake, reader.snapshot))
        logs = {damage.table for damage in damages if damage.part == log_of(damage.table)}
        tables = (table for table in reader.snapshot.tables.items() if table[0] not in logs)
        parts = [part for table in tables for part in reader.lake.parts(*table)]
        answer = IntegrityDocument(1, len(parts), sum(part.rows for part in parts), damages)
        present_answer(answer, self.output_format, self.color)
        return FINDINGS if damages else CLEAN
