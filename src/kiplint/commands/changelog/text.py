"""A changelog in prose, as a page of Markdown: what a client author reads before an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TextIO

from kiplint.commands.changelog.run import ChangelogResult
from kiplint.compat import kinds
from kiplint.compat.judge import Judged
from kiplint.compat.kinds import NewFieldNotIgnorable
from kiplint.render.markdown import inline
from kiplint.text.words import listed, plural

Chooser = Callable[[Judged], bool]

SECTIONS: tuple[tuple[str, str, Chooser], ...] = (
    (
        "Breaks on the wire",
        "Released versions have other bytes, or bytes with another meaning.",
        lambda change: change.breaks == "wire",
    ),
    (
        "Breaks storage",
        "Records on disk have other bytes, or can no longer be read.",
        lambda change: change.breaks == "storage",
    ),
    ("No longer served", "", lambda change: change.breaks == "support"),
    ("New messages", "", lambda change: isinstance(change.change, kinds.NewMessage)),
    ("New versions and fields", "", lambda change: change.breaks == "none"),
    (
        "Defaults and markers",
        "The bytes are the same, but have another meaning.",
        lambda change: change.breaks == "semantics",
    ),
    ("Generated code", "Names and types in code change; the bytes do not.", lambda change: change.breaks == "source"),
)


def write(result: ChangelogResult, out: TextIO, *, color: bool = False) -> None:
    """Write the page; a sentence when nothing changed."""
    out.write(f"# From {inline(result.old)} to {inline(result.new)}\n")
    remaining = [change for change in result.changes if not isinstance(change.change, NewFieldNotIgnorable)]
    if not remaining:
        out.write("\nNothing changed.\n")
    for title, lead, belongs in SECTIONS:
        section = [change for change in remaining if belongs(change)]
        remaining = [change for change in remaining if not belongs(change)]
        if section:
            out.write(f"\n## {title}\n\n" + (f"{lead}\n\n" if lead else ""))
            section.sort(key=lambda change: change.message_name)
            for name, group in groupby(section, key=lambda change: change.message_name):
                out.write(f"- **{inline(name)}**{_sentence(list(group))}\n")


def _sentence(group: list[Judged]) -> str:
    """The changes of a message in a section."""
    if all(isinstance(change.change, (kinds.NewMessage, kinds.MessageRemoved)) for change in group):
        return f" {inline(group[0].predicate)}."
    parts = list(dict.fromkeys(map(_part, group)))
    shown = parts if len(parts) <= 12 else [*parts[:11], plural(len(parts) - 11, "more change")]
    return f": {listed(shown)}."


def _part(change: Judged) -> str:
    predicate = inline(change.predicate)
    if change.field:
        owner = change.field.rpartition(".")[0].replace("`", "'")
        where = f" (in `{owner}`)" if owner else ""
        is_break = change.breaks in ("wire", "storage")
        versions = f" in version {change.versions}" if is_break and change.versions else ""
        return f"{predicate}{where}{versions}"
    return predicate
