"""Answers to questions to a lake as tables: text for a terminal, or Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import Any, NamedTuple, TextIO

from kiplint.commands.pipeline.result import LakeAnswer, LakeReport
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.engine.finding import SEVERITIES
from kiplint.pipeline.answers import documents
from kiplint.pipeline.answers.documents import DriftRow, ForkRow, HistoryEvent, RevisionState, SpanRow, format_range
from kiplint.render.markdown import inline, write_row, write_verdict
from kiplint.render.table import DIM, paint, table, title, verdict_lines, width_of
from kiplint.text.show import printable
from kiplint.text.words import plural

EARLY = "before the first release"
UNRELEASED = "never: between no two releases, as the versions were not out yet, or it was taken back"
MOST_NAMES = 3
"""How many names a line shows before it only counts."""
MOST_RELEASES = 4


class Grid(NamedTuple):
    """A titled table of text; `note` stands below it, and alone where there are no rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def write(result: LakeAnswer | LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the tables for a terminal."""
    parts = ["\n".join(verdict_lines(result.verdict, width_of(out), color))] if isinstance(result, LakeReport) else []
    for grid in grids_of(result):
        cells = ([(cell, "") for cell in row] for row in grid.rows)
        lines = [title(grid.title, color), *table(grid.columns, cells, color, width_of(out))]
        parts.append("\n".join([*lines, *([paint(f"  {printable(grid.note)}", DIM, color)] if grid.note else [])]))
    out.write("\n\n".join(parts) + "\n")


def write_markdown(result: LakeAnswer | LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the tables as Markdown."""
    if isinstance(result, LakeReport):
        write_verdict(result.verdict, out)
    for number, grid in enumerate(grids_of(result)):
        out.write("\n" * bool(number) + f"## {inline(grid.title)}\n\n")
        if grid.rows:
            write_row(map(inline, grid.columns), out)
            write_row(["---"] * len(grid.columns), out)
        for row in grid.rows:
            write_row(map(inline, row), out)
        if grid.note:
            out.write("\n" * bool(grid.rows) + f"{inline(grid.note)}\n")


def grids_of(result: LakeAnswer | LakeReport) -> Iterable[Grid]:
    """The tables of a result."""
    if isinstance(result, LakeReport):
        return _report(result.document, result.severity)
    return grids(result.document)


def text_of(value: object) -> str:
    """A value as text: numbers with their thousands, nothing for null."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def day(time: str | None) -> str:
    """The day of a time in ISO 8601."""
    return (time or "")[:10]


def short(commit: str | None) -> str:
    """The beginning of a commit's id."""
    return (commit or "")[:10]


def by(row: Any) -> str:
    """Who made what a row is about: the author, the pull request, and KIPs."""
    request = f"#{row.pull_request}" if row.pull_request else ""
    return ", ".join(filter(None, (row.author, request, *(row.kips or ()))))


def titled(*line: str) -> str:
    """A source and its line."""
    return " ".join(filter(None, line))


def line_name(row: Any) -> str:
    """The source and the line of a row; one word where both are called the same."""
    return titled(*dict.fromkeys(line_of(row)))


def few(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """The first names, and how many more there are."""
    all_names = list(names)
    more = f" and {len(all_names) - most} more" if len(all_names) > most + 1 else ""
    return ", ".join(all_names[: most if more else most + 1]) + more


def line_of(row: Any) -> tuple[str, str]:
    """The source and the line of a row."""
    return row.source, row.lineage


@singledispatch
def grids(document: Any) -> Iterable[Grid]:
    """The tables of a document."""
    raise NotImplementedError(type(document).__name__)


@grids.register
def _query(document: documents.QueryDocument) -> Iterator[Grid]:
    count = len(document.rows)
    rows = [tuple(map(_cell, row.values())) for row in document.rows]
    note = f"only the first {count:,} rows; --limit shows more" if document.truncated else ""
    yield Grid(plural(count, "row"), document.columns, rows, note)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


@grids.register
def _blame(document: documents.BlameDocument) -> Iterator[Grid]:
    columns = ("when", "commit", "by", "release", "what", "rule", "message", "")
    if document.reviewers is not None:
        people = [(person.author, text_of(person.commits), day(person.last)) for person in document.reviewers]
        note = "" if people else "nobody changed it in the last year of the lake"
        yield Grid(f"Reviewers for {document.of}", ("author", "commits", "last"), people, note)
    for line, events in groupby(document.events, key=line_of):
        yield Grid(titled(*line), columns, [_event_cells(event, document.released) for event in events])
    if not document.events:
        yield Grid(document.of, (), [], "no findings and no changes")


def _event_cells(event: HistoryEvent, released: Sequence[str]) -> tuple[str, ...]:
    never = EARLY if event.before_first_release else "never" if event.source in released else ""
    text = event.message or "" if event.event != "fixed" else ""
    what = (event.event, event.rule, event.message_name or event.path or "", text)
    return (day(event.time), short(event.commit), by(event), event.release or never, *what)


@grids.register
def _recent(document: documents.RecentDocument) -> Iterator[Grid]:
    columns = ("line", "when", "commit", "by", "release", "rule", "message", "")
    for name in ("introduced", "fixed", "changed"):
        events = [event for event in document.changes if event.event == name]
        rows = [
            (
                *(titled(event.source, event.lineage), day(event.time), short(event.commit), by(event)),
                *(
                    event.release or "",
                    event.rule,
                    event.message_name or event.path or "",
                    "" if name == "fixed" else event.message or "",
                ),
            )
            for event in events
        ]
        yield Grid(name.capitalize(), columns, rows, "" if rows else "nothing")


@grids.register
def _adoption(document: documents.AdoptionDocument) -> Iterator[Grid]:
    columns = ("when", "commit", "release", "RPCs", "with it", "share")
    for line, some in groupby(document.sets, key=line_of):
        rows = [_adoption_cells(state) for state in _steps(list(some))]
        yield Grid(f"Request header {document.header}: {titled(*line)}", columns, rows)


def _steps(states: list[RevisionState]) -> Iterator[RevisionState]:
    """The revisions at which adoption changes, the first and the newest; every release."""
    for at, state in enumerate(states):
        if at in (0, len(states) - 1) or state.release or state.adopted != states[at - 1].adopted:
            yield state


def _adoption_cells(state: RevisionState) -> tuple[str, ...]:
    share = f"{state.adopted / state.rpcs:.0%}" if state.rpcs else ""
    counts = text_of(state.rpcs), text_of(state.adopted)
    return (day(state.time), short(state.commit), state.release or "", *counts, share)


@grids.register
def _pairs(document: documents.PairsDocument) -> Iterator[Grid]:
    names = Counter(document.releases)

    def label(source: str, release: str) -> str:
        return release if names[release] == 1 else f"{source}:{release}"

    rows = []
    for (source, client, trouble), some in groupby(
        document.pairs, key=lambda pair: (pair.client_source, pair.client, pair.trouble)
    ):
        if trouble:  # brokers next to each other with the same trouble for one client, as one line
            brokers = [label(pair.broker_source, pair.broker) for pair in some]
            span = brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"
            rows.append((label(source, client), span, str(len(trouble)), few(trouble, MOST_RELEASES)))
    fine, count = sum(not pair.trouble for pair in document.pairs), len(document.pairs)
    note = f"{fine:,} of {count:,} pairs agree on every RPC of clients that both have."
    if document.undefined:
        note += f" Without definitions, and so in no pair: {few(document.undefined)}."
    yield Grid("Pairs in trouble", ("client", "brokers", "RPCs", "without a common version, or refused"), rows, note)


@grids.register
def _cells(document: documents.CellsDocument) -> Iterator[Grid]:
    ours, theirs = (
        f"{source}:{name}" if document.client == document.broker else name
        for source, name in (
            (document.client_source, document.client),
            (document.broker_source, document.broker),
        )
    )
    rows = [
        (
            str(cell.api_key),
            cell.name + (f" (the broker's is {cell.broker_name})" if cell.broker_name not in (None, cell.name) else ""),
            format_range(cell.lowest, cell.highest),
            text_of(cell.chosen),
            "" if cell.request_header is None else f"{cell.request_header}/{cell.response_header}",
            cell.status + (", deprecated" if cell.deprecated else ""),
        )
        for cell in document.rpcs
    ]
    columns = ("key", "RPC", "versions", "chosen", "header", "status")
    yield Grid(f"{ours} as client, {theirs} as broker", columns, rows)


@grids.register
def _integrity(document: documents.IntegrityDocument) -> Iterator[Grid]:
    note = f"{plural(document.parts, 'file')} with {plural(document.rows, 'row')} read."
    rows = [(damage.table, damage.part, damage.problem) for damage in document.damaged]
    if rows:
        note += " `kiplint pipeline run --resume` makes their tables again."
    yield Grid("Damaged files" if rows else "No damage", ("table", "file", "what"), rows, note)


MOST_FORKS = 20
"""How many rows of forks are shown before they are only counted."""
LISTS = {
    "breaks": "What a merge breaks",
    "collisions": "Collisions: one version number, two layouts",
    "own": "Only in the fork",
    "lacks": "Lacks",
}
"""The lists of messages of a fork, with their titles."""


def alike(document: documents.ForksDocument) -> list[list[ForkRow]]:
    """The lines of forks in groups with the same definitions and the same base."""
    groups: dict[tuple[str, Any], list[ForkRow]] = {}
    for row in document.forks:
        groups.setdefault((row.content, row.base_commit), []).append(row)
    return list(groups.values())


@grids.register
def _forks(document: documents.ForksDocument) -> Iterator[Grid]:
    groups = alike(document)
    columns = ("fork", "base", "day", "behind", "lacks", "older", "own", "collisions", "fixed upstream", "merge breaks")
    rest = sum(map(len, groups[MOST_FORKS:]))
    notes = [f"{plural(rest, 'more fork')}: --source shows some of them, JSON has all."] if rest else []
    notes.append("`fixed upstream` counts errors and warnings.")
    if any(row.base_by == "content" for row in document.forks):
        notes.append("A base with ~ is the nearest content: there is no common commit.")
    rows = [(called_forks(some), *forked(some[0], document.messages)) for some in groups[:MOST_FORKS]]
    heading = f"{plural(len(document.forks), 'fork')} against {document.upstream} {document.against}"
    yield Grid(heading, columns, rows, " ".join(notes) if rows else "The lake has upstream only.")
    for some in groups if len(groups) == 1 else ():
        for name, what in LISTS.items():
            cells = [(row.message_name, row.versions, fork_note(row)) for row in getattr(some[0], name)]
            if cells:
                yield Grid(f"{what}: {called_forks(some)}", ("message", "versions", ""), cells)
        if fixes := [_fix_cells(row) for row in some[0].fixed_upstream if row.severity != "info"]:
            yield Grid(
                f"Fixed upstream: {called_forks(some)}", ("fixed", "commit", "release", "rule", "message"), fixes
            )


def _fix_cells(row: documents.ForkFinding) -> tuple[str, ...]:
    place = day(row.fixed_time), short(row.fixed_commit), row.fixed_release or ""
    return *place, row.rule, row.message_name or row.path or ""


def called_forks(rows: Sequence[ForkRow]) -> str:
    """The names of forks with the same definitions."""
    return few(map(line_name, rows), 1)


def fork_note(row: documents.ForkMessage) -> str:
    """The note on a message in a list."""
    if row.breaks:
        return f"breaks {row.breaks}: {row.reason}"
    return row.reason or ("the whole message" if row.whole else "")


def forked(row: ForkRow, messages: int) -> tuple[str, ...]:
    """The cells of a fork behind its name, as text."""
    base = ("~" if row.base_by == "content" else "") + (row.base_release or short(row.base_commit))
    whole = sum(message.whole for message in row.lacks)
    grave = sum(finding.severity != "info" for finding in row.fixed_upstream)
    counts = (len(row.lacks) - whole, len(row.own), len(row.collisions), grave, len(row.breaks))
    return base, day(row.base_time), text_of(row.behind), f"{whole} of {messages}", *map(text_of, counts)


def is_tags(row: Any) -> bool:
    """Whether a line is one of releases."""
    return str(row.lineage).partition("=")[0] == "tags"


def _report(document: documents.ReportDocument, severity: str) -> Iterator[Grid]:
    released = {row.source for row in document.sources if is_tags(row)}
    branch_sources = {row.source for row in document.sources if not is_tags(row)}

    def once(rows: Iterable[SpanRow]) -> list[SpanRow]:
        """The rows without duplicates: releases repeat the rows of their branch."""
        return [row for row in rows if not (is_tags(row) and row.source in branch_sources)]

    lines = [(row.source, row.lineage, row.kind, text_of(row.sets), _place(row)) for row in document.sources]
    numbers = ", ".join(f"{count:,} {name}" for name, count in document.counts.items())
    yield Grid("Sources", ("source", "line", "kind", "sets", "location"), lines, f"Distinct: {numbers}")
    yield open_findings(document.findings)
    severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
    heading = f"{' and '.join(severities).capitalize()} findings in time"
    spans = [row for row in once(document.findings) if row.severity in severities]
    yield from _in_time(heading, spans, released, FINDING_CELLS)
    yield from _in_time("What broke bytes or records", once(document.breaks), released, BREAK_CELLS)
    statuses = [(name, text_of(count), "trouble" if name in TROUBLE else "") for name, count in document.matrix.items()]
    note = (
        "`kiplint pipeline matrix LAKE` says which releases." if statuses else "No releases: name a source with #tags."
    )
    yield Grid("RPCs between all releases, as client and broker", ("status", "pairs and RPCs", ""), statuses, note)
    if document.drift:
        counts = [(row.source, row.lineage, row.status, text_of(row.layouts)) for row in document.drift]
        yield Grid("Forks beside upstream", ("source", "line", "status", "layouts"), counts)
    if document.collisions:
        columns = ("fork", "message", "versions", "file", "what", "upstream's own is in")
        cells = sorted(map(_collision, document.collisions))
        yield Grid("Collisions: one version number, two layouts", columns, cells)
    if document.problems:
        problems = [(row.stage, row.subject, row.problem) for row in document.problems]
        yield Grid("Problems", ("stage", "at", "what"), problems)


def _place(source: Any) -> str:
    since = (source.as_of or "")[:16].replace("T", " ")
    return f"{source.location} (as of {since}: it could not be read since)" if since else source.location


def open_findings(findings: Iterable[SpanRow]) -> Grid:
    """How many findings of each severity the newest set of each line has, and how many it has no more."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in findings:
        counts.setdefault(line_of(row), Counter())[row.severity if row.open else "fixed"] += 1
    names = (*SEVERITIES, "fixed")
    rows = [(*line, *(text_of(numbers[name]) for name in names)) for line, numbers in sorted(counts.items())]
    return Grid("Findings in the newest set of each line", ("source", "line", *SEVERITIES, "fixed before"), rows)


Cell = Callable[[SpanRow], str]
FINDING_CELLS: dict[str, Cell] = {
    "introduced": lambda row: day(row.introduced_time),
    "commit": lambda row: short(row.introduced_commit),
    "by": by,
    "fixed": lambda row: "open" if row.open else day(row.fixed_time),
    "commit ": lambda row: short(row.fixed_commit),
    "first release": lambda row: "",
    "fixed in": lambda row: row.fixed_release or "",
    "rule": lambda row: row.rule,
}
BREAK_CELLS: dict[str, Cell] = {
    "when": lambda row: day(row.introduced_time),
    "commit": lambda row: short(row.introduced_commit),
    "by": by,
    "first release": lambda row: "",
    "breaks": lambda row: row.breaks,
    "rule": lambda row: row.rule,
}


def _in_time(heading: str, spans: Iterable[SpanRow], released: set[str], cells: dict[str, Cell]) -> Iterator[Grid]:
    """Spans by line; the spans of a rule between the same revisions are a single row, with their messages."""
    for line, of_line in groupby(spans, key=line_of):
        rows = []
        for _, same in groupby(sorted(of_line, key=_ends), key=_ends):
            some = list(same)
            release = first_release(some[0], released)
            values = [release if name == "first release" else cell(some[0]) for name, cell in cells.items()]
            rows.append((*values, few(sorted({row.message_name or row.path for row in some}))))
        never = cells is BREAK_CELLS and any("never" in row for row in rows)
        yield Grid(
            f"{heading}: {titled(*line)}", [*map(str.strip, cells), "messages"], rows, UNRELEASED if never else ""
        )


def _ends(row: SpanRow) -> tuple[Any, ...]:
    start = (row.introduced_position, row.introduced_commit, row.rule, row.breaks or "", row.fixed_commit or "")
    releases = (row.first_release or "", row.fixed_release or "", row.before_first_release, row.backports or ())
    return (*start, *releases)


def first_release(row: SpanRow, released: Iterable[str]) -> str:
    """The first release that has a finding or change, and those to which it was backported."""
    if not row.first_release:
        return EARLY if row.before_first_release else "never" if row.source in released else ""
    backports = few(row.backports or ())
    return f"{row.first_release} (backported to {backports})" if backports else row.first_release


def _collision(row: DriftRow) -> tuple[str, ...]:
    what = (format_range(row.lowest, row.highest), row.path, row.difference or "")
    return (
        line_name(row),
        row.message_name,
        *what,
        row.upstream_release or short(row.upstream_commit),
    )
