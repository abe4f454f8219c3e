"""Options reach the parameters of the functions that commands call, and none is lost."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import pytest

import kiplint
from kiplint.cli import reader
from kiplint.cli.options import ALIASES, Argument, Choosing, Configuring, Group, Option, call, parameters
from kiplint.engine.errors import UsageError

CHOSEN = {"select", "ignore", "severity", "config", "generator", "isolated"}
OUTPUT = {"output_format", "open", "color", "quiet", "statistics"}
TAKEN_BY_THE_COMMAND: dict[str, set[str]] = {
    "changelog": set(),
    "check": {"all", "diff", "fix"},
    "diff": set(),
    "kip": set(),
    "migrate bump": {"add_field", "diff"},
    "migrate kip-1313": {"diff", "summary"},
    "migrate release": {"diff"},
    "negotiate": {"clients", "list_clients", "matrix"},
    "new coordinator": set(),
    "new from-kip": set(),
    "new record": set(),
    "new rpc": {"listener"},
    "review": set(),
    "rollout": set(),
    "vectors": set(),
}
"""By command: the options that its room reads itself. All others are parameters of the function that it calls."""


def room(command: str) -> Any:
    group: Any = import_module(reader.COMMANDS)
    for word in command.split():
        group = reader.room(group, word)
    return group


@pytest.mark.parametrize("command", TAKEN_BY_THE_COMMAND)
def test_no_option_is_lost(command: str) -> None:
    function = getattr(kiplint, command.replace(" ", "_").replace("-", "_"))
    code = function.__code__
    known = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]}
    chosen = CHOSEN if "chosen" in known else set()
    options = {param.name for param in parameters(room(command).Options)}
    assert (
        options - {*OUTPUT} - chosen - TAKEN_BY_THE_COMMAND[command]
        == {name for name in options if name in known or ALIASES.get(name) in known}
        - {*OUTPUT}
        - TAKEN_BY_THE_COMMAND[command]
    )


class Options(Group, frozen=True):
    names: Annotated[tuple[str, ...], Argument("Names.")] = ("a", "b")
    repo: Annotated[str | None, Option("A repository.")] = "x"
    other: Annotated[str, Option("What the function does not have.")] = ""
    choosing: Choosing = Choosing(("tags, rpc",), (), ("style=off",))
    configuring: Configuring = Configuring(isolated=True)


def test_values_go_by_name() -> None:
    def function(first: str, *names: str, repository: str | None = None, kept: int = 7, **chosen: Any) -> object:
        return first, names, repository, kept, chosen

    assert call(function, Options(), first="c") == (
        "c",
        ("a", "b"),
        "x",
        7,
        {"select": ["tags", "rpc"], "ignore": [], "severity": {"style": "off"}, "config": {}, "generator": None},
    )
    plain: Callable[..., object] = lambda *names, kept=1: (names, kept)  # noqa: E731
    assert call(plain, Options(), kept=2) == (("a", "b"), 2)


def test_a_severity_needs_a_level() -> None:
    def function(**chosen: Any) -> object:
        return chosen

    with pytest.raises(UsageError, match="--severity takes RULE=LEVEL"):
        call(function, Options(choosing=Choosing(severity=("style",))))
