"""The changelog of a release: what changed since another, in prose, as a page of Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, TextIO

from kiplint.commands.diff.run import diff_all
from kiplint.commands.diff.text import fold_causes, names_of
from kiplint.compat.judge import ChangeFinding
from kiplint.render.markdown import inline
from kiplint.render.report import RunResult
from kiplint.text.words import join_words, plural

if TYPE_CHECKING:
    from kiplint.commands.changelog.options import ChangelogCommand


class ChangelogResult(RunResult, frozen=True):
    """The changes from a set to another. `str` gives the changelog, a page of Markdown."""

    old: str
    """The name of the older release."""
    new: str
    """The name of the newer release."""
    changes: tuple[ChangeFinding, ...]
    """The changes, by file and position."""
    role: str = ""
    """The role that they matter to; empty for all."""

    command = "changelog"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.changelog.run:write_page"}
    unread = "not compared"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.changes)} changes from {self.old} to {self.new}>"

    def __str__(self) -> str:
        page = StringIO()
        write_page(self, page)
        return page.getvalue().rstrip("\n")


def changelog(options: ChangelogCommand) -> ChangelogResult:
    """What changed from a set to another, by all rules that come with kiplint, whatever the configuration selects.

    Raises UsageError for a glob of messages that fits nothing, and SourceError for what cannot be opened.
    """
    result = diff_all(options.old, options.new, options.messages, options.repository, options.role)
    before, after = (name.removesuffix(":") for name in (options.old, options.new))
    return ChangelogResult(
        before,
        after,
        result.changes,
        options.role or "",
        status="error" if result.broken else "ok",
        broken=result.broken,
    )


Chooser = Callable[[ChangeFinding], bool]

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
    ("New messages", "", lambda change: change.name == "new-message"),
    ("New versions and fields", "", lambda change: change.breaks == "none"),
    (
        "Defaults and markers",
        "The bytes are the same, but have another meaning.",
        lambda change: change.breaks == "semantics",
    ),
    ("Generated code", "Names and types in code change; the bytes do not.", lambda change: change.breaks == "source"),
)


def write_page(result: ChangelogResult, out: TextIO, *, color: bool = False) -> None:
    """Write the page; a sentence when nothing changed."""
    out.write(f"# From {inline(result.old)} to {inline(result.new)}\n")
    remaining = [change for change in result.changes if change.name != "new-field-not-ignorable"]
    if not remaining:
        out.write("\nNothing changed.\n")
    for title, lead, belongs in SECTIONS:
        section = [change for change in remaining if belongs(change)]
        remaining = [change for change in remaining if not belongs(change)]
        if section:
            out.write(f"\n## {title}\n\n" + (f"{lead}\n\n" if lead else ""))
            causes, others = fold_causes(section) if result.role else ({}, section)
            for cause, alike in causes.items():
                number, names = names_of(alike)
                out.write(f"- **{inline(cause)}**, {number}: {inline(join_words(names))}.\n")
            others.sort(key=attrgetter("rpc", "message_name"))
            for rpc, of_rpc in groupby(others, key=attrgetter("rpc")):
                halves: dict[str, list[str]] = {}
                for name, of_message in groupby(of_rpc, key=attrgetter("message_name")):
                    halves.setdefault(_sentence(list(of_message)), []).append(name)
                for sentence, names in halves.items():
                    subject = names[0] if len(names) == 1 else f"{rpc} request and response"
                    out.write(f"- **{inline(subject)}**{sentence}\n")


def _sentence(group: list[ChangeFinding]) -> str:
    """The changes of a message in a section."""
    if all(change.name in ("new-message", "message-removed") for change in group):
        return f" {inline(group[0].predicate)}."
    parts = list(dict.fromkeys(map(_part, group)))
    items = parts if len(parts) <= 12 else [*parts[:11], plural(len(parts) - 11, "more change")]
    return f": {join_words(items)}."


def _part(change: ChangeFinding) -> str:
    predicate = inline(change.predicate)
    if change.field:
        owner = change.field.rpartition(".")[0].replace("`", "'")
        where = f" (in `{owner}`)" if owner else ""
        is_break = change.breaks in ("wire", "storage")
        versions = f" in version {change.versions}" if is_break and change.versions else ""
        return f"{predicate}{where}{versions}"
    return predicate
