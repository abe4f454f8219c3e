"""An example message that proves a break, as a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, TextIO

import msgspec

from kiplint.commands.diff.run import DiffResult, as_finding
from kiplint.compat.judge import BREAKS, GRAVE, Judged
from kiplint.compat.witness import Witness
from kiplint.render.findings.text import excerpt
from kiplint.render.table import DIM, SEVERITY, fold, led, paint, table, title, width_of
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import printable
from kiplint.text.words import listed, plural

HEADER = "header"
"""What a reader with another header takes the body's first bytes for."""
MOST_HEX, MOST_TEXT = 40, 30
"""How many bytes of an example are shown, and how many characters of a value."""


def sentence(one: Witness) -> str:
    """`old writes 0 as 0001; new refuses at byte 2, 1 byte follows after the end of the message`."""
    data = one.hex if len(one.hex) <= 2 * MOST_HEX else one.hex[: 2 * MOST_HEX] + "..."
    wrote = f"{one.field} {_short(one.wrote)}" if one.field else "nothing there"
    if one.read_as == HEADER:
        what = f"begins the body elsewhere: {printable(str(one.read))}"
    elif one.outcome == "refused":
        what = f"refuses at byte {one.offset}, {printable(str(one.read))}"
    else:
        read = f"{one.read_as} {_short(one.read)}" if one.read_as else "nothing"
        what = f"takes {wrote} at byte {one.offset} for {read}"
    return f"{one.writer} writes {one.version} as {data or 'no bytes'}; {one.reader} {what}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "...")


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_diff(result.changes, result.messages, result.sources, out, color=color)


def write_diff(
    changes: Sequence[Judged], compared: int, sources: Mapping[str, bytes], out: TextIO, *, color: bool
) -> None:
    """Write the changes and a line that counts them; nothing when nothing changed."""
    lines = lru_cache(maxsize=2)(lambda path: Lines(decode_text(sources.get(path, b""))))
    width = width_of(out)
    for one in changes:
        if one.breaks in GRAVE or one.severity == "error":
            said = excerpt(as_finding(one), lines(one.path), color, width)
            out.write(said.rstrip() + "\n" + _proof(one, color, width) + "\n")
    rest = [one for one in changes if one.breaks not in GRAVE and one.severity != "error"]
    rest.sort(key=lambda one: (heading(one), BREAKS.index(one.breaks), one.rule, one.message_type))
    for name, group in groupby(rest, key=heading):
        out.write(f"{title(name, color)}\n{_rows(list(group), color, width)}\n")
    if changes:
        out.write("\n".join(fold(summary_line(changes, compared), width)) + "\n")


def summary_line(changes: Iterable[Judged], compared: int) -> str:
    """`12 changes in 203 messages: 1 breaks wire, 3 semantics, 8 nothing.`, and how many breaks lack their proof."""
    changes = list(changes)
    counts = Counter(one.breaks for one in changes)
    unproven = sum(one.is_unproven for one in changes)
    said = f" {plural(unproven, 'break')} without proof: too many fields to try." if unproven else ""
    parts = [f"{counts[what]} {'nothing' if what == 'none' else what}" for what in BREAKS if counts[what]]
    parts[0] = parts[0].replace(" ", " breaks " if parts[0].startswith("1 ") else " break ", 1)
    return f"{plural(sum(counts.values()), 'change')} in {plural(compared, 'message')}: {listed(parts)}.{said}"


def _proof(one: Judged, color: bool, width: int | None) -> str:
    rows: list[str] = []
    for word, side in (("before", one.old), ("after", one.new)):
        if "layout" in side:
            rows += _labelled(f"{word:>6}", side["layout"] or "nothing", color, width)
    rows += [row for witness in one.proof for row in _labelled(" proof", sentence(witness), color, width)]
    return "".join(f"{row}\n" for row in rows)


def _labelled(label: str, text: str, color: bool, width: int | None) -> list[str]:
    first, *others = led((f"  {label}", ""), (f"  {text}", ""), width, False)
    return [first.replace(label, paint(label, DIM, color), 1), *others]


def heading(one: Judged) -> str:
    """The RPC of a request or response, else the message."""
    message = one.change.message
    return message.base_name if message.is_rpc else one.message_name


def _rows(group: list[Judged], color: bool, width: int | None) -> str:
    """The changes below a heading; what is said of request and response alike is one line."""
    halves: dict[tuple[str, str, str], list[str]] = {}
    for one in group:
        said = halves.setdefault((one.severity, one.rule, _told(one)), [])
        if one.change.message.is_rpc and one.message_type not in said:
            said.append(one.message_type)
    rows = [
        [(severity, SEVERITY[severity]), (rule, ""), (f"{' and '.join(types)}{told}".lstrip(": "), "")]
        for (severity, rule, told), types in halves.items()
    ]
    return "".join(f"{line}\n" for line in table((), rows, color, width))


def _told(one: Judged) -> str:
    """A change's sentence behind `request` or `response`, without the name that stands in the heading."""
    if one.field:
        return f" {one.versions}, {one.field}: {one.said}" if one.versions else f" {one.field}: {one.said}"
    return f": {one.said}" if one.aside == one.said else f" {one.aside}"
