"""What a shell offers after Tab for the values of options and arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from kiplint.compat.tree import load
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import shipped_rules
from kiplint.render.formats import FORMATS, PAGE
from kiplint.sources.history import version_tags
from kiplint.sources.schema_files import SourceError


def rules(incomplete: str) -> list[str]:
    """The values of `--select` and `--ignore`, with the rules of the user's packs; a list may have commas."""
    ids = [rule for rule, _ in rule_ids()]
    packs = dict.fromkeys(rule.partition("/")[0] for rule in ids)
    return _after_comma(incomplete, ["default", "all", *packs, *ids])


def rule_ids() -> list[tuple[str, str]]:
    """The ids of all rules, each with its title."""
    try:
        rules = configure().all_rules()
    except UsageError:  # the next run reports it
        rules = list(shipped_rules())
    return [(rule.id, rule.title) for rule in rules]


def formats() -> list[tuple[str, str]]:
    """The formats of `--output-format`, each with its description."""
    return [(name, form.about) for name, form in FORMATS.items()]


def page_formats() -> list[tuple[str, str]]:
    """The formats of a report that has a page."""
    return [*formats(), (PAGE, "A page to look at and share, in one file that needs no network.")]


def breaks(incomplete: str) -> list[str]:
    """The values of `--fail-on-breaks`; a list may have commas."""
    from kiplint.compat.classify import BREAKS

    return _after_comma(incomplete, BREAKS)


def _after_comma(incomplete: str, words: Iterable[str]) -> list[str]:
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in words]


class WordsBefore(Protocol):
    """Typer's context: the parameters of the words before."""

    params: Mapping[str, Any]


def sets(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The tags of the repository as sets, newest first, and for an empty word the directories too.

    A word that begins no tag is left to the shell, which completes files.
    """
    tags = [f"{tag}:" for tag in revisions(ctx, "")]
    if incomplete or not tags:
        return [tag for tag in tags if tag.startswith(incomplete)]
    folders = sorted(entry.name for entry in os.scandir() if entry.is_dir() and not entry.name.startswith("."))
    return [*(f"{name}/" for name in folders), *tags]


def revisions(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The tags of the repository, newest first."""
    with suppress(SourceError):
        return [tag for tag in version_tags(ctx.params.get("repository"))[::-1] if tag.startswith(incomplete)]
    return []


def messages(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The names of the messages in the set named before, else in the working directory."""
    values = [ctx.params.get(name) for name in ("new", "source", "schemas", "set", "sets")]
    first = next((value for value in values if value), ".")
    source = first if isinstance(first, str) else first[0]
    with suppress(SourceError):
        names = {message.name for message in load(source, ctx.params.get("repository")).messages}
        return sorted(name for name in names if name.startswith(incomplete))
    return []


def rpcs(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The names of the RPCs, or where none begins so, of the messages; a list may have commas."""
    before, comma, word = incomplete.rpartition(",")
    names = messages(ctx, "")
    requests = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    candidates = [name for name in requests if name.startswith(word)] or names
    return [f"{before}{comma}{name}" for name in candidates if name.startswith(word)]
