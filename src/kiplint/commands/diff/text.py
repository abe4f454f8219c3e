"""A diff in text and in Markdown: what breaks with its proof, and the rest below the names of RPCs and messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, TextIO

from kiplint.commands.diff.run import DiffResult
from kiplint.compat.classify import BREAKS, GRAVE, ChangeFinding, breaks_of_counts
from kiplint.compat.proof import sentence
from kiplint.engine.finding import SEVERITIES
from kiplint.render.markdown import inline, write_table, write_verdict
from kiplint.render.table import DIM, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.render.text import excerpt
from kiplint.text.show import printable
from kiplint.text.words import plural

ENTRY_COLUMNS: Final = ("severity", "breaks", "rule", "place", "what")


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write a result, and below it the verdict."""
    changes = write_alike(result.changes, out, color=color) if result.role else result.changes
    _write_changes(changes, result.sources, out, color=color)
    if result.changes:
        out.write("\n".join(fold(result.verdict.sentence, width_of(out))) + "\n")


def write_diff(
    changes: Sequence[ChangeFinding], message_count: int, sources: Mapping[str, bytes], out: TextIO, *, color: bool
) -> None:
    """Write the changes in `message_count` messages and a line that counts them; nothing when nothing changed."""
    _write_changes(changes, sources, out, color=color)
    if changes:
        out.write("\n".join(fold(summary_line(changes, message_count), width_of(out))) + "\n")


def _write_changes(changes: Sequence[ChangeFinding], sources: Mapping[str, bytes], out: TextIO, *, color: bool) -> None:
    """Write the changes: what breaks with its lines and its proof, and the rest below the names of RPCs."""
    width = width_of(out)
    for change in filter(_is_grave, changes):
        finding = excerpt(change, sources.get(change.path, b""), color, width)
        out.write(finding.rstrip() + "\n" + proof(change, color, width) + "\n")
    write_rows((change for change in changes if not _is_grave(change)), out, color=color)


LEAST_ALIKE: Final = 4
"""The number of RPCs or messages with the same change from which on they are one entry."""


def write_alike(changes: Sequence[ChangeFinding], out: TextIO, *, color: bool) -> list[ChangeFinding]:
    """Write the changes of whole messages that many have in common, an entry for each, and return the others.

    The worst and most frequent come first. Of a new field, infos other than that it is new are not returned.
    """
    groups: dict[str, list[ChangeFinding]] = {}
    for change in changes:
        if not (change.field or _is_grave(change)):
            groups.setdefault(_without_names(change), []).append(change)
    alike = {what: group for what, group in groups.items() if len({change.rpc for change in group}) >= LEAST_ALIKE}
    for what, group in sorted(alike.items(), key=lambda item: (BREAKS.index(item[1][0].breaks), -len(item[1]))):
        are_rpcs = all(change.message_type in ("request", "response") for change in group)
        number = plural(len({change.rpc for change in group}), "RPC" if are_rpcs else "message")
        has_versions = any(change.versions and change.versions in change.predicate for change in group)
        names = dict.fromkeys(
            f"{change.rpc} {change.versions}" if has_versions else change.rpc
            for change in sorted(group, key=attrgetter("rpc"))
        )
        severity = paint(group[0].severity, SEVERITY[group[0].severity], color)
        out.write(f"{severity}  {group[0].rule}  {title(f'{what} ({number})', color)}\n")
        out.write("".join(f"{line}\n" for line in [*paragraph(names, width=width_of(out)), ""]))
    written_ids = {id(change) for group in alike.values() for change in group}
    fields = {(change.message_name, change.field) for change in changes if change.name == "new-field"}
    return [
        change
        for change in changes
        if id(change) not in written_ids
        and (
            change.severity != "info" or change.name == "new-field" or (change.message_name, change.field) not in fields
        )
    ]


def _without_names(change: ChangeFinding) -> str:
    """What changed, without the name of the message and its versions."""
    what = change.predicate.replace(change.message_name, "it")
    if not change.versions:
        return what
    what = re.sub(rf", with versions? {re.escape(change.versions)}$", "", what)
    return re.sub(rf"\bversions? {re.escape(change.versions)} (is|are)\b", "versions are", what)


def write_rows(changes: Iterable[ChangeFinding], out: TextIO, *, color: bool) -> None:
    """Write the changes as a line each, below the names of RPCs and messages."""
    sorted_changes = sorted(
        changes, key=lambda change: (change.rpc, BREAKS.index(change.breaks), change.rule, change.message_type)
    )
    for name, group in groupby(sorted_changes, key=attrgetter("rpc")):
        out.write(f"{title(name, color)}\n{_rows(list(group), color, width_of(out))}\n")


def write_markdown(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write a result as Markdown, for pull requests and job summaries."""
    if result.changes:
        write_verdict(result.verdict, out)
        write_change_table(result.changes, out)


def write_change_table(changes: Sequence[ChangeFinding], out: TextIO) -> None:
    """Write a table of the changes, the worst first, and their proofs."""
    rows = (
        (
            change.severity,
            change.breaks.replace("none", "nothing"),
            change.rule,
            f"{change.path}:{change.line}",
            change.summary if _is_grave(change) else change.message,
        )
        for change in sorted(changes, key=lambda item: (SEVERITIES.index(item.severity), BREAKS.index(item.breaks)))
    )
    write_table(ENTRY_COLUMNS, rows, out)
    write_proofs(changes, out)


def write_proofs(changes: Iterable[ChangeFinding], out: TextIO) -> None:
    """Write the example messages of changes as a list."""
    proofs = [f"{change.message_name}, {change.rule}: {sentence(item)}" for change in changes for item in change.proof]
    if proofs:
        out.write("\nProof, by example messages:\n\n" + "".join(f"- {inline(text)}\n" for text in proofs))


def _is_grave(change: ChangeFinding) -> bool:
    return change.breaks in GRAVE or change.severity == "error"


def summary_line(changes: Sequence[ChangeFinding], message_count: int) -> str:
    """`12 changes in 9 of 203 messages: 1 breaks wire, 3 semantics, 8 nothing.`, and how many breaks lack a proof."""
    counts = Counter(change.breaks.replace("none", "nothing") for change in changes)
    unproven = sum(change.unproven for change in changes)
    rest = f" {plural(unproven, 'break')} without proof: too many fields to try." if unproven else ""
    changed_count = len({(change.message_name, change.message_type) for change in changes})
    whole = max(message_count, changed_count)  # the message of an RPC that a KIP leaves out can break as well
    where = f"{changed_count:,} of {plural(whole, 'message')}"
    return f"{plural(len(changes), 'change')} in {where}: {breaks_of_counts(counts)}.{rest}"


def proof(change: ChangeFinding, color: bool, width: int | None) -> str:
    """The layouts before and after, and the example messages, in a line each that fits."""
    rows = [
        (word, side["layout"] or "nothing")
        for word, side in (("before", change.old), ("after", change.new))
        if "layout" in side
    ]
    rows += [("proof", sentence(example)) for example in change.proof]
    lines: list[str] = []
    for word, text in rows:
        line = f"  {word:>6}  {printable(text)}"
        if width is not None and len(line) > width:
            line = f"{line[: width - 1]}…"
        lines.append(line.replace(word, paint(word, DIM, color), 1))
    return "".join(f"{line}\n" for line in lines)


def _rows(changes: Iterable[ChangeFinding], color: bool, width: int | None) -> str:
    """The changes below a heading; the same change of request and response is one line."""
    types: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        own_types = types.setdefault((change.severity, change.rule, change.below_heading), [])
        if change.message_type in ("request", "response") and change.message_type not in own_types:
            own_types.append(change.message_type)
    rows = [
        [(severity, SEVERITY[severity]), (rule, ""), (f"{' and '.join(own_types)}{text}".lstrip(": "), "")]
        for (severity, rule, text), own_types in types.items()
    ]
    return "".join(f"{line}\n" for line in table((), rows, color, width))
