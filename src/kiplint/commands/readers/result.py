"""The result of `kiplint readers`, and its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from kiplint.engine.finding import Finding, Severity
from kiplint.model.problem import ReadingElement
from kiplint.readers.profile import Profile
from kiplint.render.findings.json import FindingObject, FindingsSummary, Line, finding_object
from kiplint.render.report import Report, written_by
from kiplint.text.show import encodable
from kiplint.text.words import listed, plural


class PlacedReading(msgspec.Struct, frozen=True):
    """A reader's failure or misreading at a definition, and the finding for it."""

    reading: ReadingElement
    finding: Finding


class ReaderRow(msgspec.Struct, frozen=True):
    """A reader: the messages that it reads, its failures, and its misreadings of versions.

    `ignores` counts the properties that it ignores, by name; `leaves_out` are the messages whose latest version, being
    unstable, it leaves out. Compared with a revision: `loses` are the messages that it read there alone, and `totals`
    the numbers that it read and failed at there, and fails at now.
    """

    profile: Profile
    read: tuple[str, ...]
    fails: tuple[PlacedReading, ...]
    misreads: tuple[PlacedReading, ...]
    ignores: Mapping[str, int]
    leaves_out: tuple[str, ...]
    loses: tuple[str, ...] = ()
    totals: tuple[int, int, int] | None = None

    @property
    def reads(self) -> int:
        """The number of definitions that it reads."""
        return len(self.read)


class ReaderPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a definition."""

    message_name: str
    path: str
    line: Line
    column: Line
    pointer: Annotated[str, Meta(description="The JSON pointer (RFC 6901) of the place.")]
    severity: Severity


class ReaderFailure(ReaderPlace, frozen=True, kw_only=True):
    """A definition at which a reader fails."""

    why: str


class ReaderMisreading(ReaderPlace, frozen=True, kw_only=True):
    """Versions that a reader reads differently than Kafka."""

    versions: str
    what: Annotated[str, Meta(description="`header` or `layout`.")]
    kafka: Annotated[str, Meta(description="What Kafka reads.")]
    reader: Annotated[str, Meta(description="What the reader reads.")]


class ReaderObject(msgspec.Struct, frozen=True, kw_only=True):
    """A reader of Kafka's definitions outside of Kafka."""

    name: str
    title: str
    repository: str
    reads: Annotated[int, Meta(description="The number of definitions that it reads.")]
    fails: list[ReaderFailure]
    misreads: list[ReaderMisreading]
    ignores: Annotated[dict[str, int], Meta(description="How often it ignores a property, by name.")]
    leaves_out: Annotated[list[str], Meta(description="The messages whose latest, unstable version it leaves out.")]
    loses: Annotated[
        list[str] | UnsetType,
        Meta(description="With --since: the messages that it no longer reads; left out for none."),
    ] = UNSET
    reads_before: Annotated[int | UnsetType, Meta(description="With --since: the number that it read before.")] = UNSET
    fails_before: Annotated[int | UnsetType, Meta(description="With --since: all its failures before.")] = UNSET
    fails_now: Annotated[int | UnsetType, Meta(description="With --since: all its failures now.")] = UNSET


class ReadersSummary(FindingsSummary, frozen=True, kw_only=True):
    """The numbers of all readers."""

    older: Annotated[
        int | UnsetType, Meta(description="With --since: findings that were there before; left out for 0.")
    ] = UNSET
    fails: int
    misreads: int
    sentence: Annotated[str, Meta(description="The summary in a sentence.")]


class ReadersDocument(msgspec.Struct, frozen=True):
    """What `kiplint readers --output-format json` writes."""

    version: Literal[1]
    readers: list[ReaderObject]
    findings: list[FindingObject]
    summary: ReadersSummary


SHOWN: Final = 3
"""The number of places that are shown of the same failure or misreading, and of messages that a reader loses."""
DOCUMENTS: Final = {"readers": ReadersDocument}


class ReadersResult(Report, frozen=True):
    """The result of `check_readers`."""

    rows: tuple[ReaderRow, ...] = ()
    """The readers, by name."""
    since: str = ""
    """The revision since which the findings are new, or empty."""

    command = "readers"
    renderers = written_by("readers", "text", "markdown")
    tells_nothing = False

    @property
    def sentence(self) -> str:
        """`The set makes kafka-protocol-rs fail (202 definitions) and kio take the wrong header (95 messages).`"""
        parts = [part for row in self.rows for part in _parts(row)]
        subject = f"The change since {self.since}" if self.since else "The set"
        if not parts:
            return f"{subject} makes no reader fail or read anything else than Kafka."
        return f"{subject} makes {listed(parts)}."

    @property
    def document(self) -> ReadersDocument:
        """The JSON document."""
        return ReadersDocument(
            version=1,
            readers=list(map(_reader_object, self.rows)),
            findings=list(map(finding_object, self.findings)),
            summary=ReadersSummary(
                **self.numbers,
                older=self.older or UNSET,
                fails=sum(len(row.fails) for row in self.rows),
                misreads=sum(len(row.misreads) for row in self.rows),
                sentence=encodable(self.sentence),
            ),
        )


def _parts(row: ReaderRow) -> Iterator[str]:
    parts = []
    if row.loses:
        parts.append(f"lose {listed(row.loses[:SHOWN])}{' and others' if len(row.loses) > SHOWN else ''}")
    if row.fails:
        parts.append(f"fail ({plural(len(row.fails), 'definition')})")
    for what, verb in (("header", "take the wrong header"), ("layout", "read other bytes")):
        messages = {misread.finding.message_name for misread in row.misreads if misread.reading.what == what}
        if messages:
            parts.append(f"{verb} ({plural(len(messages), 'message')})")
    if parts:
        yield f"{row.profile.title} {listed(parts)}"


def _reader_object(row: ReaderRow) -> ReaderObject:
    return ReaderObject(
        name=row.profile.name,
        title=row.profile.title,
        repository=row.profile.repository,
        reads=row.reads,
        fails=[
            ReaderFailure(**asdict(_place(failure.finding)), why=encodable(failure.reading.why))
            for failure in row.fails
        ],
        misreads=[
            ReaderMisreading(
                **asdict(_place(misread.finding)),
                versions=misread.reading.versions,
                what=misread.reading.what,
                kafka=encodable(misread.reading.really),
                reader=encodable(misread.reading.taken),
            )
            for misread in row.misreads
        ],
        ignores={encodable(name): count for name, count in row.ignores.items()},
        leaves_out=list(map(encodable, row.leaves_out)),
        loses=list(map(encodable, row.loses)) or UNSET,
        **dict(zip(("reads_before", "fails_before", "fails_now"), row.totals or (), strict=False)),
    )


def _place(finding: Finding) -> ReaderPlace:
    return ReaderPlace(
        message_name=encodable(finding.message_name),
        path=encodable(finding.path),
        line=finding.span.line,
        column=finding.span.column,
        pointer=encodable(finding.pointer),
        severity=finding.severity,
    )
