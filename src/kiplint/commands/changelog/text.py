"""A diff in prose, as a page of Markdown: what a client author reads before an upgrade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TextIO

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
        lambda one: one.breaks == "wire",
    ),
    (
        "Breaks storage",
        "Records on disk have other bytes, or can be read no more.",
        lambda one: one.breaks == "storage",
    ),
    ("No longer served", "", lambda one: one.breaks == "support"),
    ("New messages", "", lambda one: isinstance(one.change, kinds.NewMessage)),
    ("New versions and fields", "", lambda one: one.breaks == "none"),
    (
        "Defaults and markers",
        "The bytes are the same, and are taken differently.",
        lambda one: one.breaks == "semantics",
    ),
    ("Generated code", "Names and types in code change; the bytes do not.", lambda one: one.breaks == "source"),
)


def write_changelog(changes: Sequence[Judged], old: str, new: str, out: TextIO) -> None:
    """Write the page; one sentence when nothing changed."""
    out.write(f"# From {inline(old)} to {inline(new)}\n")
    left = [one for one in changes if not isinstance(one.change, NewFieldNotIgnorable)]
    if not left:
        out.write("\nNothing changed.\n")
    for title, lead, chosen in SECTIONS:
        mine = [one for one in left if chosen(one)]
        left = [one for one in left if not chosen(one)]
        if mine:
            out.write(f"\n## {title}\n\n" + (f"{lead}\n\n" if lead else ""))
            mine.sort(key=lambda one: one.message_name)
            for name, group in groupby(mine, key=lambda one: one.message_name):
                out.write(f"- **{inline(name)}**{_sentence(list(group))}\n")


def _sentence(group: list[Judged]) -> str:
    """All that a section says of one message."""
    if all(isinstance(one.change, (kinds.NewMessage, kinds.MessageRemoved)) for one in group):
        return f" {inline(group[0].predicate)}."
    parts = list(dict.fromkeys(map(_part, group)))
    shown = parts if len(parts) <= 12 else [*parts[:11], plural(len(parts) - 11, "more change")]
    return f": {listed(shown)}."


def _part(one: Judged) -> str:
    said = inline(one.predicate)
    if one.field:
        owner = one.field.rpartition(".")[0].replace("`", "'")
        where = f" (in `{owner}`)" if owner else ""
        versions = f" in version {one.versions}" if one.breaks in ("wire", "storage") and one.versions else ""
        return f"{said}{where}{versions}"
    return said
