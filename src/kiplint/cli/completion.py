"""Completions: what a shell offers after Tab."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, Protocol

from kiplint.cli.process import COMPLETE


def script(shell: str) -> str:
    """The script that completes kiplint's command lines in a shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    text: str = get_completion_script(prog_name="kiplint", complete_var=COMPLETE, shell=shell)
    return text


def know_shells() -> None:
    """Make typer answer the shells, which it does by itself only for its own `--install-completion`."""
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()
    _join_equals()


def _join_equals() -> None:
    """Replace the sign in `--select=x` by a blank: bash makes a word of its own of it."""
    words = os.environ.get("COMP_WORDS", "")
    before = words.split()[: int(os.environ.get("COMP_CWORD", "0"))]
    signs = sum(word == "=" and option.startswith("--") for option, word in pairwise(before))
    if signs:
        os.environ["COMP_WORDS"] = re.sub(r"(?<=\s)(--[a-z-]+)(\s)=(?:\s|$)", r"\1\2", words)
        os.environ["COMP_CWORD"] = str(len(before) - signs)


def rules(incomplete: str) -> list[str]:
    """The values of `--select` and `--ignore`, with the rules of the user's packs; a list may have commas."""
    ids = [rule for rule, _ in rule_ids()]
    packs = dict.fromkeys(rule.partition("/")[0] for rule in ids)
    return _after_comma(incomplete, ["default", "all", *packs, *ids])


def rule_ids() -> list[tuple[str, str]]:
    """The ids of all rules, each with its title."""
    from kiplint.engine.config import configure
    from kiplint.engine.errors import UsageError
    from kiplint.engine.packs import shipped_rules

    try:
        rules = configure().all_rules()
    except UsageError:  # the next run reports it
        rules = list(shipped_rules())
    return [(rule.id, rule.title) for rule in rules]


def formats() -> list[tuple[str, str]]:
    """The formats of `--output-format`, each with its description."""
    from kiplint.render.formats import FORMATS

    return [(name, form.about) for name, form in FORMATS.items()]


def page_formats() -> list[tuple[str, str]]:
    """The formats of a report that has a page."""
    from kiplint.render.formats import PAGE

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
    tags = [f"{tag}:" for tag in _tags(ctx) if f"{tag}:".startswith(incomplete)]
    if incomplete or not tags:
        return tags
    folders = sorted(entry.name for entry in os.scandir() if entry.is_dir() and not entry.name.startswith("."))
    return [*(f"{name}/" for name in folders), *tags]


def revisions(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The tags of the repository, newest first."""
    return [tag for tag in _tags(ctx) if tag.startswith(incomplete)]


def messages(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The names of the messages in the set named before, else in the working directory."""
    return [name for name in _messages(ctx) if name.startswith(incomplete)]


def rpcs(ctx: WordsBefore, incomplete: str) -> list[str]:
    """The names of the RPCs, or where none begins so, of the messages; a list may have commas."""
    before, comma, word = incomplete.rpartition(",")
    names = _messages(ctx)
    halves = {name.removesuffix("Request") for name in names if name.endswith("Request")}
    fitting = sorted(name for name in halves if name.startswith(word))
    return [f"{before}{comma}{name}" for name in fitting or names if name.startswith(word)]


def _tags(ctx: WordsBefore) -> list[str]:
    from kiplint.sources.history import version_tags
    from kiplint.sources.schema_files import SourceError

    with suppress(SourceError):
        return version_tags(ctx.params.get("repository"))[::-1]
    return []


def _messages(ctx: WordsBefore) -> list[str]:
    from kiplint.compat.tree import load
    from kiplint.sources.schema_files import SourceError

    params = ctx.params
    values = [params.get(name) for name in ("new", "source", "schemas", "set", "sets")]
    first = next((value for value in values if value), ".")
    source = first if isinstance(first, str) else first[0]
    with suppress(SourceError):
        return sorted({message.name for message in load(source, params.get("repository")).messages})
    return []
