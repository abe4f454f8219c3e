"""The options of a command as a program writes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kiplint.cli.classes import Choosing, Configuring
from kiplint.commands.check.options import CheckCommand
from kiplint.engine.errors import UsageError


def test_arguments_come_by_position_and_options_by_name() -> None:
    command = CheckCommand.of(
        "a", Path("b"), select=["tags"], severity={"style": "off"}, fix=True, repository=Path("c")
    )
    assert command == CheckCommand(
        sets=("a", "b"), choosing=Choosing(("tags",), (), ("style=off",)), fix=True, repository="c"
    )
    assert CheckCommand.of(config={"ignore": ["rpc"]}, baseline=None) == CheckCommand(
        configuring=Configuring({"ignore": ["rpc"]})
    )


@pytest.mark.parametrize(
    ("command", "arguments", "options", "problem"),
    [
        (CheckCommand, [], {"selct": []}, "unexpected keyword argument 'selct'; did you mean select?"),
        (CheckCommand, [], {"quiet": True}, "unexpected keyword argument 'quiet'"),
        (CheckCommand, [], {"select": "tags"}, "select: expected a list, got str"),
        (CheckCommand, [], {"fix": 1}, "fix: expected bool, got int"),
        (CheckCommand, [3], {}, "sets: expected str, got int"),
    ],
)
def test_what_does_not_fit_is_refused(
    command: Any, arguments: list[Any], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(problem)}$"):
        command.of(*arguments, **options)


def test_values_that_could_not_mean_anything_are_refused() -> None:
    with pytest.raises(UsageError, match="^fail_on: eror is not one of error, warning, info, never$"):
        CheckCommand.of(fail_on="eror")


def test_rules_and_configuration_are_read_from_the_options() -> None:
    choosing = Choosing(("tags, rpc",), ("style",), ("kip-35=off",))
    configuration = Configuring(isolated=True).configuration(".", choosing)
    assert configuration.file is None
    assert (configuration.config.select, configuration.config.ignore) == (["tags", "rpc"], ["style"])
    assert configuration.config.severity == {"kip-35": "off"}
    with pytest.raises(UsageError, match="--severity takes RULE=LEVEL"):
        Configuring().configuration(".", Choosing(severity=("style",)))
