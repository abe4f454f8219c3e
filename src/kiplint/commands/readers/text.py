"""What befalls readers, in a sentence and in groups: hundreds of definitions often have one and the same trouble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kiplint.commands.readers.run import Befallen, ReaderRow, ReadersResult
from kiplint.render.table import BOLD, DIM, SEVERITY, paint, table, width_of
from kiplint.text.show import printable
from kiplint.text.words import listed, plural


def sentence(result: ReadersResult) -> str:
    """`This change makes kafka-protocol-rs fail (202 definitions) and kio take the wrong header (95 messages).`"""
    parts = [part for row in result.rows for part in _parts(row)]
    about = f"The change since {result.since}" if result.since else "The set"
    if not parts:
        return f"{about} makes no reader fail or read anything else than Kafka."
    return f"{about} makes {listed(parts)}."


def _parts(row: ReaderRow) -> Iterator[str]:
    said = []
    if row.fails:
        said.append(f"fail ({plural(len(row.fails), 'definition')})")
    for what, verb in (("header", "take the wrong header"), ("layout", "read other bytes")):
        messages = {one.finding.message_name for one in row.misreads if one.reading.what == what}
        if messages:
            said.append(f"{verb} ({plural(len(messages), 'message')})")
    if said:
        yield f"{row.profile.title} {listed(said)}"


def groups(some: tuple[Befallen, ...]) -> list[tuple[str, list[Befallen]]]:
    """What befalls a reader, by what is said of it, the most frequent first."""
    found: dict[str, list[Befallen]] = {}
    for one in some:
        reading = one.reading
        said = reading.why or f"{reading.taken}, not {reading.really}"
        found.setdefault(said, []).append(one)
    return sorted(found.items(), key=lambda pair: -len(pair[1]))


def ignored(row: ReaderRow) -> str:
    """`headerVersions (190), zeroCopy (5)`, and the messages whose latest version is left out."""
    if not row.profile.layouts:
        return f"all but {listed(row.profile.message.properties)}"
    parts = [f"{name} ({count:,})" for name, count in sorted(row.ignores.items(), key=lambda pair: (-pair[1], pair[0]))]
    if row.leaves_out:
        parts.append(f"unstable versions ({len(row.leaves_out):,})")
    return ", ".join(parts)


SHOWN = 3
"""How many places are told of what befalls a reader in the same way."""

HEAD = ("reader", "reads", "fails", "misreads", "ignores")


def write(result: ReadersResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    rows = [
        [
            (row.profile.name, ""),
            (f"{row.reads:,}", ""),
            (f"{len(row.fails):,}", SEVERITY["error"] if row.fails else DIM),
            (f"{len(row.misreads):,}", SEVERITY["warning"] if row.misreads else DIM),
            (ignored(row) or "-", DIM),
        ]
        for row in result.rows
    ]
    out.write("".join(f"{line}\n" for line in table(HEAD, rows, color, width_of(out), indent="")) + "\n")
    for row in result.rows:
        _write_row(row, out, color)
    out.write(f"{printable(sentence(result))}\n")


def _write_row(row: ReaderRow, out: TextIO, color: bool) -> None:
    for some, head in ((row.fails, f"fails, {row.profile.fails}"), (row.misreads, "takes for something else")):
        if not some:
            continue
        out.write(f"{paint(f'{row.profile.title} {head}', BOLD, color)}\n")
        for said, found in groups(some):
            out.write(f"  {printable(said)}\n{''.join(_places(found, color))}")
        out.write("\n")


def _places(found: list[Befallen], color: bool) -> list[str]:
    lines = []
    for one in found[:SHOWN]:
        finding = one.finding
        versions = f" {one.reading.versions}" if one.reading.versions else ""
        where = f"{finding.path}:{finding.span.line}:{finding.span.column}"
        lines.append(f"    {printable(finding.message_name)}{versions}  {paint(printable(where), DIM, color)}\n")
    if more := len(found[SHOWN:]):
        lines.append(f"    and {more:,} more\n")
    return lines
