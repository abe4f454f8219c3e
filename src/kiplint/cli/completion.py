"""What a shell offers after Tab: rules, packs, formats, and what a change may break."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Protocol

from kiplint.cli.process import COMPLETE


def script(shell: str) -> str:
    """The lines that make a shell complete kiplint's command lines."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    text: str = get_completion_script(prog_name="kiplint", complete_var=COMPLETE, shell=shell)
    return text


def know_shells() -> None:
    """Let typer answer the shells' questions, which it does by itself only for its own `--install-completion`."""
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()
    _join_equals()
    _keep_options()


def _join_equals() -> None:
    """Take the sign in `--select=x` for a blank, where bash has made a word of its own of it."""
    words = os.environ.get("COMP_WORDS", "")
    before = words.split()[: int(os.environ.get("COMP_CWORD", "0"))]
    signs = sum(two == "=" and one.startswith("--") for one, two in pairwise(before))
    if signs:
        os.environ["COMP_WORDS"] = re.sub(r"(?<=\s)(--[a-z-]+)(\s)=(?:\s|$)", r"\1\2", words)
        os.environ["COMP_CWORD"] = str(len(before) - signs)


def _keep_options() -> None:
    """Offer `--select=tags` for `--select=t`, which most shells take for one word; typer offers what comes behind."""
    from typer import _completion_classes as shells

    for kind in (shells.BashComplete, shells.ZshComplete, shells.FishComplete):
        kind.get_completions = _whole(kind.get_completions)  # type: ignore[method-assign]


def _whole(plain: Callable[..., Any]) -> Callable[..., Any]:
    def get_completions(self: object, args: list[str], incomplete: str) -> Any:
        items = plain(self, args, incomplete)
        name, equals, _ = incomplete.partition("=")
        if equals and name.startswith("--"):
            for item in items:
                item.value = f"{name}={item.value}"
        return items

    return get_completions


def rules(incomplete: str) -> list[str]:
    """What `--select` and `--ignore` take, the rules of one's own packs included; after a comma comes another."""
    known = [rule for rule, _ in rule_ids()]
    packs = dict.fromkeys(rule.partition("/")[0] for rule in known)
    return _after_comma(incomplete, ["default", "all", *packs, *known])


def rule_ids() -> list[tuple[str, str]]:
    """The ids of all rules, each with its title."""
    from kiplint.engine.configure import configure
    from kiplint.engine.errors import UsageError
    from kiplint.engine.packs import shipped_rules

    try:
        known = configure().known()
    except UsageError:  # the next run will tell
        known = list(shipped_rules())
    return [(rule.id, rule.title) for rule in known]


def formats() -> list[tuple[str, str]]:
    """What `--output-format` takes, before an equals sign and a file."""
    from kiplint.render.formats import about, format_names

    return [(name, about(name)) for name in format_names()]


def schemas(incomplete: str) -> list[str]:
    """The names that `kiplint schema` takes."""
    from kiplint.commands.schema.run import schema_names

    return [name for name in schema_names() if name.startswith(incomplete)]


def breaks(incomplete: str) -> list[str]:
    """What `--fail-on-breaks` takes."""
    from kiplint.compat.judge import BREAKS

    return _after_comma(incomplete, BREAKS)


def _after_comma(incomplete: str, words: Iterable[str]) -> list[str]:
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in words]


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
    from kiplint.sources.history import version_tags
    from kiplint.sources.schema_files import SourceError

    try:
        return version_tags(ctx.params.get("repo"))[::-1]
    except SourceError:
        return []


def _messages(ctx: Context) -> list[str]:
    from kiplint.compat.tree import load
    from kiplint.sources.schema_files import SourceError

    known = ctx.params
    named = [known.get(name) for name in ("new", "source", "schemas", "set", "sets")]
    first = next((one for one in named if one), ".")
    place = first if isinstance(first, str) else first[0]
    try:
        return sorted({one.name for one in load(place, known.get("repo")).messages})
    except SourceError:
        return []
