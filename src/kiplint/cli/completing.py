"""What a shell offers after Tab: rules, packs, formats, and what a change may break."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from kiplint.cli.surroundings import COMPLETE


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
    from kiplint.engine.errors import UsageError
    from kiplint.engine.packs import shipped_rules
    from kiplint.runs.configuration import configure

    try:
        known = configure().known()
    except UsageError:  # the next run will tell
        known = list(shipped_rules())
    return [(rule.id, rule.title) for rule in known]


def formats() -> list[tuple[str, str]]:
    """What `--output-format` takes, before an equals sign and a file."""
    from kiplint.report.findings.formats import FORMATS

    return list(FORMATS.items())


def breaks(incomplete: str) -> list[str]:
    """What `--fail-on-breaks` takes."""
    from kiplint.compat.changes.judge import BREAKS

    return _after_comma(incomplete, BREAKS)


def _after_comma(incomplete: str, words: Iterable[str]) -> list[str]:
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in words]
