"""What a shell offers for the sets and messages that lie around: tags, directories, names.

Nothing is offered where something cannot be read: the run itself will say why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol


class Context(Protocol):
    """What typer knows of the words before."""

    params: Mapping[str, Any]


def sets(ctx: Context, incomplete: str) -> list[str]:
    """The tags of the repository as sets, newest first, and for an empty word the directories too.

    A word that is no beginning of a tag is left to the shell, which knows files.
    """
    found = [f"{tag}:" for tag in _tags(ctx) if f"{tag}:".startswith(incomplete)]
    if incomplete or not found:
        return found
    folders = sorted(one.name for one in os.scandir() if one.is_dir() and not one.name.startswith("."))
    return [*(f"{name}/" for name in folders), *found]


def revisions(ctx: Context, incomplete: str) -> list[str]:
    """The tags of the repository, newest first."""
    return [tag for tag in _tags(ctx) if tag.startswith(incomplete)]


def messages(ctx: Context, incomplete: str) -> list[str]:
    """The names of the messages in the set that was named before, or is here."""
    return [name for name in _messages(ctx) if name.startswith(incomplete)]


def rpcs(ctx: Context, incomplete: str) -> list[str]:
    """The names of the RPCs, and of messages once what is written is the beginning of no RPC; after a comma another."""
    before, comma, word = incomplete.rpartition(",")
    every = _messages(ctx)
    halves = {name.removesuffix("Request") for name in every if name.endswith("Request")}
    found = sorted(name for name in halves if name.startswith(word)) or [
        name for name in every if name.startswith(word)
    ]
    return [f"{before}{comma}{name}" for name in found]


def _tags(ctx: Context) -> list[str]:
    from kiplint.engine.errors import UsageError
    from kiplint.runs.upgrade import tags_of
    from kiplint.sources.schema_files import SourceError

    try:
        return tags_of(ctx.params.get("repo"))[::-1]
    except (SourceError, UsageError):
        return []


def _messages(ctx: Context) -> list[str]:
    from kiplint.runs.trees import load
    from kiplint.sources.schema_files import SourceError

    known = ctx.params
    named = [known.get(name) for name in ("new", "source", "schemas", "set", "sets")]
    first = next((one for one in named if one), ".")
    place = first if isinstance(first, str) else first[0]
    try:
        return sorted({one.name for one in load(place, known.get("repo")).messages})
    except SourceError:
        return []
