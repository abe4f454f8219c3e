"""The answers to questions, for JSON. Fields are stable: new fields may be added, none is removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec

from kiplint.pipeline.lake.schema import Columns, columns
from kiplint.pipeline.tables import Drift, Matrix, Problems, Spans

Row = dict[str, Any]
Time = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Text = str | None
_KINDS: dict[str, Any] = {"string": str, "timestamp": Time, "int": int, "bigint": int, "boolean": bool}
_KINDS |= {"array<string>": tuple[str, ...], "array<int>": tuple[int, ...]}


def _struct(name: str, columns: Columns) -> Any:
    """A frozen Struct with the columns of a table, any of which may be null."""
    return msgspec.defstruct(
        name, [(column, _KINDS[kind] | None, None) for column, kind in columns.items()], frozen=True
    )


if TYPE_CHECKING:
    SourceRow: TypeAlias = Any
    SpanRow: TypeAlias = Any
    DriftRow: TypeAlias = Any
    ProblemRow: TypeAlias = Any
    CellRow: TypeAlias = Any
else:
    SourceRow = _struct("SourceRow", columns("source, lineage, kind, location, sets bigint, as_of timestamp"))
    SpanRow = _struct("SpanRow", {**Spans.COLUMNS, **columns("author, subject, pull_request int, kips array<string>")})
    DriftRow = _struct("DriftRow", Drift.COLUMNS)
    ProblemRow = _struct("ProblemRow", Problems.COLUMNS)
    CellRow = _struct("CellRow", dict(list(Matrix.COLUMNS.items())[2:]))


def as_structs(kind: type[Any], rows: Iterable[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Rows as Structs of a kind: times in ISO 8601, fields that it has not left out."""
    names = kind.__struct_fields__
    return tuple(kind(**{name: plain(row[name]) for name in names if name in row}) for row in rows)


def plain(value: object) -> Any:
    """A value, for JSON."""
    if isinstance(value, datetime):
        return value.isoformat()
    return tuple(value) if isinstance(value, list) else value


def format_range(lowest: int | None, highest: int | None) -> str:
    """A version range in Kafka's notation, empty for none."""
    if lowest is None:
        return ""
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


class LakeDocument(msgspec.Struct, frozen=True):
    """An answer."""

    version: Literal[1]


class QueryDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline query` answers; `truncated` where there are more rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    truncated: bool


class HistoryEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as it was introduced or fixed, or a change, with the first release that has it, and who made it."""

    source: str
    lineage: str
    event: Literal["introduced", "fixed", "changed"]
    position: int | None = None
    commit: Text
    time: Time | None
    release: Text
    rule: str
    severity: str
    breaks: Text
    message_name: Text
    field: Text
    path: Text
    message: Text
    before_first_release: bool = False
    author: Text = None
    subject: Text = None
    pull_request: int | None = None
    kips: tuple[str, ...] | None = None


class Reviewer(msgspec.Struct, frozen=True):
    """An author, how many of their commits changed the messages in the last year of the lake, and when the last did."""

    author: str
    commits: int
    last: Time | None


class BlameDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline blame` answers; `released` are the sources that have releases.

    `reviewers` are those who know the messages best, with `--reviewers` only.
    """

    of: str
    events: tuple[HistoryEvent, ...]
    released: tuple[str, ...]
    reviewers: tuple[Reviewer, ...] | None = None


class RecentDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline changes` answers."""

    since: Time
    changes: tuple[HistoryEvent, ...]


class RevisionState(msgspec.Struct, frozen=True, kw_only=True):
    """A revision, its RPCs and their versions, and how many `adopted` the request header."""

    source: str
    lineage: str
    position: int
    commit: Text
    time: Time | None
    release: Text
    rpcs: int
    adopted: int
    versions: int


class AdoptionDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline rollout` answers."""

    header: int
    sets: tuple[RevisionState, ...]


class ReleasePair(msgspec.Struct, frozen=True):
    """A release as client of another as broker: RPCs by status, and those in trouble."""

    client: str
    broker: str
    client_source: str
    broker_source: str
    statuses: dict[str, int]
    trouble: tuple[str, ...]


class PairsDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline matrix LAKE` answers; `undefined` are releases without definitions, in no pair."""

    releases: tuple[str, ...]
    pairs: tuple[ReleasePair, ...]
    undefined: tuple[str, ...]


class CellsDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline matrix LAKE CLIENT BROKER` answers."""

    client: str
    broker: str
    client_source: str
    broker_source: str
    rpcs: tuple[CellRow, ...]


class ForkMessage(msgspec.Struct, frozen=True, kw_only=True):
    """Versions of a message, `whole` where the other side has none of it; `reason` says what breaks or collides."""

    message_name: str
    message_type: str
    versions: str
    whole: bool = False
    breaks: Text = None
    reason: Text = None
    upstream_release: Text = None


class ForkFinding(msgspec.Struct, frozen=True, kw_only=True):
    """An open finding of a fork, and how upstream got rid of it."""

    rule: str
    severity: str
    message_name: Text
    path: Text
    message: Text
    introduced_commit: Text
    introduced_time: Time | None
    fixed_commit: Text
    fixed_time: Time | None
    fixed_release: Text
    ended: Text


class ForkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a fork at its newest revision; lines with one `content` have the same definitions.

    The base is the newest revision that it shares with upstream (`base_by` commit), or upstream's nearest one
    (content); `behind` counts upstream's changes of definitions since, `days_behind` the days.
    """

    source: str
    lineage: str
    commit: Text
    time: Time | None
    content: str
    base_by: Literal["commit", "content"] | None
    base_lineage: Text
    base_commit: Text
    base_time: Time | None
    base_release: Text
    behind: int | None
    days_behind: int | None
    lacks: tuple[ForkMessage, ...]
    own: tuple[ForkMessage, ...]
    collisions: tuple[ForkMessage, ...]
    fixed_upstream: tuple[ForkFinding, ...]
    breaks: tuple[ForkMessage, ...]


class ForksDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline forks` answers; upstream's revision `against` has so many `messages`."""

    upstream: str
    against: str
    messages: int
    forks: tuple[ForkRow, ...]


class DriftCount(msgspec.Struct, frozen=True):
    """How many layouts of a fork's line have a status."""

    source: str
    lineage: str
    status: str
    layouts: int


class ReportDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline report` answers."""

    sources: tuple[SourceRow, ...]
    counts: dict[str, int]
    findings: tuple[SpanRow, ...]
    breaks: tuple[SpanRow, ...]
    matrix: dict[str, int]
    drift: tuple[DriftCount, ...]
    collisions: tuple[DriftRow, ...]
    problems: tuple[ProblemRow, ...]
    history: tuple[RevisionState, ...] = ()


class DamagedPart(msgspec.Struct, frozen=True):
    """A file of a table that is not as the lake's log has it, or the log itself."""

    table: str
    part: str
    problem: str


class IntegrityDocument(LakeDocument, frozen=True):
    """What `kiplint pipeline verify` answers: how many files were read, with how many rows, and the damaged ones."""

    parts: int
    rows: int
    damaged: tuple[DamagedPart, ...]
