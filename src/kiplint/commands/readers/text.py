"""The outcome of readers for people: a table, and failures and misreadings in groups; as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from kiplint.commands.readers.result import SHOWN, PlacedReading, ReaderRow, ReadersResult
from kiplint.render.markdown import inline, write_table
from kiplint.render.table import BOLD, DIM, SEVERITY, paint, table, width_of
from kiplint.text.show import printable
from kiplint.text.words import listed

HEAD: Final = ("reader", "reads", "fails", "misreads", "ignores")


def write(result: ReadersResult, out: TextIO, *, color: bool) -> None:
    """Write the table, the places of failures and misreadings, and all in a sentence."""
    rows = [
        [
            (row.profile.name, ""),
            (_numbers(row)[0], ""),
            (_numbers(row)[1], SEVERITY["error"] if row.fails else DIM),
            (f"{len(row.misreads):,}", SEVERITY["warning"] if row.misreads else DIM),
            (_ignored(row) or "-", DIM),
        ]
        for row in result.rows
    ]
    out.write("".join(f"{line}\n" for line in table(HEAD, rows, color, width_of(out), indent="")) + "\n")
    for row in result.rows:
        _write_row(row, out, color)
    out.write(f"{printable(result.sentence)}\n")


def _write_row(row: ReaderRow, out: TextIO, color: bool) -> None:
    for readings, head in ((row.fails, f"fails, {row.profile.fails}"), (row.misreads, "reads otherwise than Kafka")):
        if not readings:
            continue
        out.write(f"{paint(f'{row.profile.title} {head}', BOLD, color)}\n")
        for detail, group in _groups(readings):
            out.write(f"  {printable(detail)}\n{''.join(_places(group, color))}")
        out.write("\n")


def _places(readings: Sequence[PlacedReading], color: bool) -> Iterator[str]:
    for placed in readings[:SHOWN]:
        finding = placed.finding
        versions = f" {placed.reading.versions}" if placed.reading.versions else ""
        place = printable(f"{finding.path}:{finding.span.line}:{finding.span.column}")
        yield f"    {printable(finding.message_name)}{versions}  {paint(place, DIM, color)}\n"
    if more := len(readings[SHOWN:]):
        yield f"    and {more:,} more\n"


def write_markdown(result: ReadersResult, out: TextIO, *, color: bool) -> None:
    """Write the sentence, the table, and the first place of each failure and misreading."""
    out.write(f"{inline(result.sentence)}\n\n")
    rows = ((row.profile.title, *_numbers(row), f"{len(row.misreads):,}", _ignored(row) or "-") for row in result.rows)
    write_table(HEAD, rows, out)
    broken = [row for row in result.rows if row.fails or row.misreads]
    if broken:
        out.write("\n")
    for row in broken:
        for detail, group in _groups((*row.fails, *row.misreads)):
            first = group[0].finding
            more = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
            out.write(f"- {inline(f'{row.profile.title}: {detail}: {first.path}:{first.span.line}{more}')}\n")


def _groups(readings: Sequence[PlacedReading]) -> list[tuple[str, list[PlacedReading]]]:
    """Failures and misreadings by their detail, the most frequent first."""
    groups: dict[str, list[PlacedReading]] = {}
    for placed in readings:
        detail = placed.reading.why or f"{placed.reading.taken}, not {placed.reading.really}"
        groups.setdefault(detail, []).append(placed)
    return sorted(groups.items(), key=lambda pair: -len(pair[1]))


def _numbers(row: ReaderRow) -> tuple[str, str]:
    """How many definitions a reader reads and fails at, compared with a revision before and now."""
    if row.totals is None:
        return f"{row.reads:,}", f"{len(row.fails):,}"
    reads, fails, now = row.totals
    return f"{reads:,} -> {row.reads:,}", f"{fails:,} -> {now:,}"


def _ignored(row: ReaderRow) -> str:
    """`headerVersions (190), zeroCopy (5)`, and the number of unstable versions."""
    if not row.profile.layouts:
        return f"all but {listed(row.profile.message.properties)}"
    parts = [f"{name} ({count:,})" for name, count in sorted(row.ignores.items(), key=lambda pair: (-pair[1], pair[0]))]
    if row.leaves_out:
        parts.append(f"unstable versions ({len(row.leaves_out):,})")
    return ", ".join(parts)
