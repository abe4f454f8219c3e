"""The page of a report: plots over time, the matrix of releases as a heat map, and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TextIO

from kiplint.commands.pipeline.text import cell
from kiplint.render.page import Block, Cell, Plot, PlotLine, Row, Section, Table, Text, write_page
from kiplint.render.report import Verdict
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.pipeline.answers import Rows

WIDTH, TOP, BOTTOM = 600, 10, 110
"""Of a plot, in its own units."""
MOST_RELEASES: Final = 60
"""How many releases of a source the heat map shows, the newest ones."""
PLOTS: Final = {
    "Versions": {"versions": "accent"},
    "RPCs": {"rpcs": "muted", "adopted": "accent"},
    "Open findings": {"errors": "error", "warnings": "warning"},
}
"""The plots of a line of history: the title, and the looks of the columns that it shows."""
NAMES: Final = {"rpcs": "RPCs", "adopted": "with request header 3"}


def write_report(
    out: TextIO, titles: Mapping[str, str], answers: Mapping[str, Rows], pairs: Sequence[Mapping[str, Any]]
) -> None:
    """Write the page, by the answers of the report, the titles of those that are tables, and the pairs of releases."""
    tables = [
        Table(
            title,
            [name.replace("_", " ") for name in answers[table].columns],
            [Row([cell(value) for value in row], values={}) for row in answers[table].values],
        )
        for table, title in titles.items()
        if answers[table].values
    ]
    sections = [
        Section("over-time", "Over time", list(_plots(answers["history"].records))),
        Section("between", "Releases as client and broker", list(_heat_maps(pairs))),
        Section("report", "Report", tables, ()),
    ]
    names = ", ".join(dict.fromkeys(row["source"] for row in answers["sources"].records))
    write_page(
        out,
        command="pipeline report",
        title=f"History of {names}",
        verdict=_verdict(answers),
        sections=[section for section in sections if section.blocks],
    )


def _verdict(answers: Mapping[str, Rows]) -> Verdict:
    errors = sum(row["errors"] for row in answers["findings"].records)
    breaks = sum(row["release"] is not None for row in answers["breaks"].records)
    sentence = f"{plural(errors, 'open error')}, and {plural(breaks, 'commit')} with breaks that a release has."
    return Verdict.of(sentence, (), "`kiplint pipeline blame LAKE MESSAGE` names the commits.")


def _plots(history: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for line, group in groupby(history, key=lambda row: (row["source"], row["lineage"])):
        states = sorted(group, key=_moment)
        for title, looks in PLOTS.items() if len(states) > 1 else ():
            yield _plot(f"{title} of {' '.join(filter(None, line))}", states, looks)


def _plot(title: str, states: Sequence[Mapping[str, Any]], looks: Mapping[str, str]) -> Plot:
    first, last = _moment(states[0]), _moment(states[-1])
    places = [round((_moment(state) - first) * WIDTH / (last - first or 1), 1) for state in states]
    counts = {name: [state[name] or 0 for state in states] for name in looks}
    most = max(1, *(max(numbers) for numbers in counts.values()))
    lines = [
        PlotLine(f"{NAMES.get(name, name)}: {numbers[-1]:,}", looks[name], _steps(places, numbers, most))
        for name, numbers in counts.items()
    ]
    marks = [(place, state["release"]) for place, state in zip(places, states, strict=True) if state["release"]]
    return Plot(title, lines, most, cell(states[0]["time"]) or "first", cell(states[-1]["time"]) or "last", marks)


def _steps(places: Sequence[float], numbers: Sequence[int], most: int) -> str:
    """The points of a line that stays level until the next number."""
    heights = [BOTTOM - round(number * (BOTTOM - TOP) / most, 1) for number in numbers]
    steps = zip(places, heights[:1] + heights, heights, strict=False)
    points = [(place, height) for place, *both in steps if both[0] != both[1] for height in both]
    ends = (places[0], heights[0]), (WIDTH, heights[-1])
    return " ".join(f"{place:g},{height:g}" for place, height in (ends[0], *points, ends[1]))


def _moment(state: Mapping[str, Any]) -> float:
    """When a revision was made, in seconds; its position where that is not known."""
    return float(state["time"].timestamp() if state["time"] else state["position"])


def _heat_maps(pairs: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    for source, group in groupby(pairs, key=lambda pair: pair["source"]):
        by_pair = {(pair["client"], pair["broker"]): pair for pair in group}
        releases = list(dict.fromkeys(client for client, _ in by_pair))[-MOST_RELEASES:]
        most = max(1, *(len(pair["trouble"]) for pair in by_pair.values()))
        rows = [Row((client, *(_heat(by_pair[client, broker], most) for broker in releases))) for client in releases]
        left_out = " The newest releases are shown." if len(rows) == MOST_RELEASES else ""
        yield Text(f"How many RPCs a client, in a row, cannot use with a broker, in a column.{left_out}", "small")
        yield Table(f"Releases of {source}", ("client", *releases), rows, "heat", has_heads=True)


def _heat(pair: Mapping[str, Any], most: int) -> Cell:
    number = len(pair["trouble"])
    what = ", ".join(pair["trouble"]) or "every RPC of clients that both have can be used"
    return Cell(str(number or ""), f"h{-(-4 * number // most)}", f"{pair['client']} with {pair['broker']}: {what}")
