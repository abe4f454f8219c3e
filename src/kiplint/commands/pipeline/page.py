"""The pages of a lake: findings and breaks in time as bars, versions of RPCs as lines; and of its forks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple, TextIO

from kiplint.commands.pipeline.result import ForksAnswer, LakeReport
from kiplint.commands.pipeline.text import (
    LISTS,
    alike,
    by,
    called_forks,
    day,
    first_release,
    fork_note,
    forked,
    is_tags,
    line_name,
    line_of,
    open_findings,
    short,
)
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.engine.finding import SEVERITIES
from kiplint.pipeline.answers.documents import ReportDocument, RevisionState, SpanRow
from kiplint.render.links import repository_address
from kiplint.render.page import Tally, anchors, to_pack, write_page

WIDTH, HEIGHT = 600, 110
"""Of a chart, in its own units."""


class Axis(NamedTuple):
    """From the first moment to the last, in seconds; a revision without a time is placed by its position."""

    first: float
    last: float

    def place(self, moment: float, width: int = WIDTH) -> int:
        """Where a moment is, from 0 to the width."""
        return round((moment - self.first) * width / (self.last - self.first)) if self.last > self.first else 0


class Chart(NamedTuple):
    """One line of history: its two numbers as lines, where releases are, what is at the edges, and all in words."""

    title: str
    versions: str
    rpcs: str
    adopted: str
    releases: list[tuple[int, str]]
    first: str
    last: str
    most: tuple[int, int]
    summary: str


def chart(title: str, sets: Sequence[RevisionState]) -> Chart:
    """The chart of a line of history; `sets` is not empty."""
    moments = list(map(moment, sets))
    axis = Axis(min(moments), max(moments))
    rpcs, versions = (max(1, *(getattr(state, what) for state in sets)) for what in ("rpcs", "versions"))
    first, last = sets[0], sets[-1]

    def line(what: str, most: int) -> str:
        return _steps(
            [
                (axis.place(at), HEIGHT - round(getattr(state, what) * (HEIGHT - 8) / most))
                for at, state in zip(moments, sets, strict=True)
            ]
        )

    return Chart(
        title,
        line("versions", versions),
        line("rpcs", rpcs),
        line("adopted", rpcs),
        [(axis.place(at), state.release) for at, state in zip(moments, sets, strict=True) if state.release],
        day(first.time) or "first",
        day(last.time) or "last",
        (rpcs, versions),
        f"{title}: from {first.rpcs} RPCs in {first.versions} versions to {last.rpcs} in {last.versions}; "
        f"{last.adopted} with request header 3",
    )


def moment(state: RevisionState) -> float:
    """When a revision was made, in seconds; its position where that is not known."""
    return _seconds(state.time, state.position)


def _steps(points: Sequence[tuple[int, int]]) -> str:
    """The points of a line that stays level until the next one; those that change nothing are left out."""
    corners: list[tuple[int, int]] = []
    for x, y in points:
        if not corners or corners[-1][1] != y:
            if corners:
                corners.append((x, corners[-1][1]))
            corners.append((x, y))
    if points and corners[-1][0] != WIDTH:
        corners.append((WIDTH, corners[-1][1]))
    return " ".join(f"{x},{y}" for x, y in corners)


SECTIONS = {
    "Open errors": "errors",
    "Breaks that a release has": "released",
    "Breaks that no release has": "unreleased",
    "Other open findings": "open",
    "Fixed findings": "fixed",
}
"""The titles of the entries, in their order, with their anchors. The first two are never folded."""

STATES = {"break": "breaks", "open": "open", "fixed": "fixed"}
MARKS = {"break": "error", "open": "warning", "fixed": "good"}
LIFE = 100


class Event(NamedTuple):
    """A finding or a break as the JSON has it, its name in addresses, its state, and its bar: place and length."""

    row: SpanRow
    anchor: str
    state: str
    line: str
    bar: tuple[int, int]


class Section(NamedTuple):
    """Entries of a kind: those that matter first are open; of others each commit has a row with its entries."""

    anchor: str
    title: str
    commits: list[tuple[str, list[Event]]]
    folded: bool

    @property
    def number(self) -> int:
        """How many entries there are."""
        return sum(len(events) for _, events in self.commits)


def _sections(events: Sequence[Event]) -> list[Section]:
    """The entries by kind, those that matter first."""
    parts: dict[str, list[Event]] = {anchor: [] for anchor in SECTIONS.values()}
    for event in events:
        if event.state == "break":
            is_released = event.row.first_release or event.row.before_first_release
            parts["released" if is_released else "unreleased"].append(event)
        else:
            parts["errors" if event.state == "open" and event.row.severity == "error" else event.state].append(event)
    return [
        Section(anchor, title, list(_commits(part)) if is_folded else [("", part)], is_folded)
        for title, anchor in SECTIONS.items()
        if (part := parts[anchor])
        for is_folded in (anchor not in ("errors", "released"),)
    ]


def _commits(events: Iterable[Event]) -> Iterator[tuple[str, list[Event]]]:
    commits: dict[tuple[str, str | None], list[Event]] = {}
    for event in events:
        commits.setdefault((event.line, event.row.introduced_commit), []).append(event)
    for (line, commit), some in commits.items():
        row = some[0].row
        parts = (day(row.introduced_time), short(commit), f"by {by(row)}" if by(row) else "", line)
        yield " ".join(filter(None, parts)), some


def write(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the page."""
    document = result.document
    sets = sorted(document.history, key=line_of)
    lines = {line: list(some) for line, some in groupby(sets, key=line_of)}
    events = list(_events(document, lines, result.severity))
    released = {row.source for row in document.sources if is_tags(row)}
    names = sorted({event.line for event in events})
    sections = _sections(events)
    drift = {fork: {row.status: row.layouts for row in rows} for fork, rows in groupby(document.drift, key=line_name)}
    write_page(
        "commands/pipeline/page.html",
        out,
        verdict=result.verdict,
        sources=document.sources,
        addresses={row.source: repository_address(row.location) for row in document.sources if row.location},
        newest=open_findings(document.findings),
        sections=sections,
        charts=[chart(line_name(some[0]), sorted(some, key=moment)) for some in lines.values() if len(some) > 1],
        events=events,
        packed=to_pack(len(events)),
        rows=[],
        states=[
            Tally(state, title, sum(event.state == state for event in events), MARKS[state])
            for state, title in STATES.items()
        ],
        severities=[(name, name) for name in SEVERITIES if any(event.row.severity == name for event in events)],
        lines=[(name, name) for name in names],
        rules=[(rule, rule) for rule in sorted({event.row.rule for event in events})],
        matrix=sorted(document.matrix.items(), key=lambda pair: -pair[1]),
        trouble=TROUBLE,
        drift=drift,
        statuses=sorted({row.status for row in document.drift}),
        collisions=document.collisions,
        problems=document.problems,
        day=day,
        shipped=lambda row: first_release(row, released) or "no release",
        titled=line_name,
        by=by,
        marks=MARKS,
        titles=STATES,
    )


def write_forks(result: ForksAnswer, out: TextIO, *, color: bool) -> None:
    """Write the page of forks: a row for each group of forks, and below it the messages that its numbers count."""
    document = result.document
    groups = [(called_forks(some), list(map(line_name, some)), some[0]) for some in alike(document)]
    names = anchors([name for name, *_ in groups])
    write_page(
        "commands/pipeline/forks.html",
        out,
        document=document,
        groups=[
            (anchor, *group, forked(group[2], document.messages)) for anchor, group in zip(names, groups, strict=True)
        ],
        lists=LISTS,
        note=fork_note,
        day=day,
    )


def _events(
    document: ReportDocument, lines: Mapping[tuple[str, str], Sequence[RevisionState]], severity: str
) -> Iterator[Event]:
    severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
    findings = (row for row in document.findings if row.severity in severities)
    axes = {line: Axis(min(map(moment, sets)), max(map(moment, sets))) for line, sets in lines.items()}
    rows = sorted([*document.breaks, *findings], key=_newest_first)
    names = anchors([f"{row.rule.rpartition('/')[2]}-{row.message_name or row.path}" for row in rows])
    for row, anchor in zip(rows, names, strict=True):
        state = "break" if row.what == "change" else "open" if row.open else "fixed"
        axis = axes.get(line_of(row), Axis(0, 0))
        start = axis.place(_seconds(row.introduced_time, row.introduced_position), LIFE)
        stop = LIFE if state == "open" else axis.place(_seconds(row.fixed_time, row.fixed_position), LIFE)
        length = max(2, (stop if state != "break" else start + 2) - start)
        yield Event(row, anchor, state, line_name(row), (min(start, LIFE - 2), length))


def _newest_first(row: SpanRow) -> tuple[Any, ...]:
    closed = not row.open and row.what != "change"
    return (
        closed,
        SEVERITIES.index(row.severity),
        -_seconds(row.introduced_time, row.introduced_position),
        row.rule,
        row.message_name,
        row.field or "",
        row.source,
        row.lineage,
    )


def _seconds(time: str | None, position: int | None) -> float:
    return datetime.fromisoformat(time).timestamp() if time else float(position or 0)
