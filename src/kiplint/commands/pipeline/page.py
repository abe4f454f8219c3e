"""The page of a lake: plots over time, the releases that work together, and the tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, TextIO

from kiplint.commands.pipeline.result import LakeReport
from kiplint.commands.pipeline.text import day, grids_of, line_name, line_of
from kiplint.pipeline.answers.documents import ReleasePair, ReportDocument, RevisionState, SpanRow
from kiplint.render.page import Block, Cell, Plot, PlotLine, Row, Section, Table, Text, write_page

WIDTH, TOP, BOTTOM = 600, 10, 110
"""Of a plot, in its own units."""
MOST_RELEASES: Final = 60
"""How many releases of a source the heat map shows, the newest ones."""


def write(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the page."""
    document = result.document
    tables = [
        Table(grid.title, grid.columns, [Row(cells, values={}) for cells in grid.rows])
        for grid in grids_of(result)
        if grid.rows
    ]
    sections = [
        Section("over-time", "Over time", list(_plots(document))),
        Section("between", "Releases as client and broker", list(_heat_maps(result.pairs))),
        Section("report", "Report", tables, ()),
    ]
    write_page(
        out,
        command="pipeline report",
        title=f"History of {', '.join(dict.fromkeys(row.source for row in document.sources))}",
        verdict=result.verdict,
        sections=[section for section in sections if section.blocks],
    )


def _plots(document: ReportDocument) -> Iterator[Block]:
    """For each line of history with several revisions: its versions, its RPCs, and its open findings."""
    for line, group in groupby(sorted(document.history, key=line_of), key=line_of):
        states = sorted(group, key=_moment)
        if len(states) < 2:
            continue
        findings = [row for row in document.findings if line_of(row) == line]
        counts: Mapping[str, Sequence[tuple[str, str, list[int]]]] = {
            "Versions": [("versions", "accent", [state.versions for state in states])],
            "RPCs": [
                ("RPCs", "muted", [state.rpcs for state in states]),
                ("with request header 3", "accent", [state.adopted for state in states]),
            ],
            "Open findings": [
                (f"{severity}s", severity, [_open_at(state, findings, severity) for state in states])
                for severity in ("error", "warning")
            ],
        }
        name = line_name(states[0])
        yield from (_plot(f"{title} of {name}", states, some) for title, some in counts.items())


def _plot(title: str, states: Sequence[RevisionState], counts: Sequence[tuple[str, str, list[int]]]) -> Plot:
    first, last = _moment(states[0]), _moment(states[-1])
    places = [round((_moment(state) - first) * WIDTH / (last - first), 1) if last > first else 0.0 for state in states]
    most = max(1, *(number for _, _, numbers in counts for number in numbers))
    marks = [(place, state.release) for place, state in zip(places, states, strict=True) if state.release]
    lines = [
        PlotLine(f"{name}: {numbers[-1]:,}", look, _steps(places, numbers, most)) for name, look, numbers in counts
    ]
    return Plot(title, lines, most, day(states[0].time) or "first", day(states[-1].time) or "last", marks)


def _steps(places: Sequence[float], numbers: Sequence[int], most: int) -> str:
    """The points of a line that stays level until the next one; those that change nothing are left out."""
    points: list[str] = []
    last = -1
    for place, number in zip(places, numbers, strict=True):
        if number != last:
            points += [_point(place, last, most)] if points else []
            points.append(_point(place, number, most))
        last = number
    return " ".join([*points, _point(WIDTH, last, most)])


def _point(place: float, number: int, most: int) -> str:
    return f"{place:g},{BOTTOM - round(number * (BOTTOM - TOP) / most, 1):g}"


def _moment(state: RevisionState) -> float:
    """When a revision was made, in seconds; its position where that is not known."""
    return datetime.fromisoformat(state.time).timestamp() if state.time else float(state.position)


def _open_at(state: RevisionState, findings: Iterable[SpanRow], severity: str) -> int:
    """How many findings of a severity a revision has."""
    return sum(
        row.severity == severity
        and (row.introduced_position or 0) <= state.position
        and (row.open or (row.fixed_position or 0) > state.position)
        for row in findings
    )


def _heat_maps(pairs: Sequence[ReleasePair]) -> Iterator[Block]:
    """For each source its newest releases as clients, by brokers: how many RPCs of a pair are in trouble."""
    for source, group in groupby(sorted(pairs, key=lambda pair: pair.client_source), lambda pair: pair.client_source):
        some = list(group)
        cells = {((pair.client_source, pair.client), (pair.broker_source, pair.broker)): pair for pair in some}
        clients = list(dict.fromkeys(client for client, _ in cells))[-MOST_RELEASES:]
        brokers = list(dict.fromkeys(broker for _, broker in cells))[-MOST_RELEASES:]
        most = max(1, *(len(pair.trouble) for pair in some))
        rows = [
            Row((client[1], *(_heat(cells.get((client, broker)), most) for broker in brokers))) for client in clients
        ]
        names = [broker if owner == source else f"{owner}:{broker}" for owner, broker in brokers]
        left_out = " The newest releases are shown." if len(rows) == MOST_RELEASES else ""
        yield Text(f"How many RPCs a client, in a row, cannot use with a broker, in a column.{left_out}", "small")
        yield Table(f"Releases of {source}", ("client", *names), rows, "heat", has_heads=True)


def _heat(pair: ReleasePair | None, most: int) -> Cell:
    if pair is None:
        return Cell("")
    number = len(pair.trouble)
    what = ", ".join(pair.trouble) or "every RPC of clients that both have can be used"
    return Cell(str(number or ""), f"h{-(-4 * number // most)}", f"{pair.client} with {pair.broker}: {what}")
