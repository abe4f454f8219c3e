"""The law of the two readers: where the small one answers, typer gives equal options.

`KIPLINT_LAW_EXAMPLES=20000 pytest -s tests/cli/test_reader.py` tries so many command lines in all, and prints how many
the small reader answered.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import typer.main
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kiplint.cli.app import make_app
from kiplint.cli.options import Argument, Parameter, parameters
from kiplint.cli.reader import read

from .declared import ALL

EXAMPLES = int(os.environ.get("KIPLINT_LAW_EXAMPLES", len(ALL) * 25))
CALLS: list[Any] = []
APP: Any = typer.main.get_command(make_app(CALLS.append))

ODD = st.sampled_from(
    [
        "-",
        "--",
        "",
        " ",
        "x",
        "a,b",
        "-x",
        "-qq",
        "--no-quiet",
        "--help",
        "--sel",
        "--quiet=1",
        "3",
        "007",
        "-3",
        "+3",
        "1_0",
        "٣",
        "99999999999",
        "tags/gap=error",
        "\udcff",
        "a\nb",
        "a=b",
        "--color=never",
        "*.json",
    ]
)


def values(parameter: Parameter) -> st.SearchStrategy[str]:
    if parameter.words:
        return st.sampled_from(parameter.words)
    return (
        st.integers(0, 40000).map(str)
        if parameter.kind is int
        else st.sampled_from(["x", "a b", "dir/", "HEAD~1:", "ü", ""])
    )


def pieces(parameter: Parameter) -> st.SearchStrategy[list[str]]:
    """The words of one parameter: mostly right, at times too few or odd."""
    value = st.one_of(values(parameter), values(parameter), values(parameter), ODD)
    if isinstance(parameter.mark, Argument):
        return value.map(lambda word: [word])
    number = int(parameter.kind is not bool)
    given_values = st.lists(value, min_size=number, max_size=number)
    return st.tuples(st.sampled_from(parameter.flags), given_values).map(lambda both: [both[0], *both[1]])


def lines(params: list[Parameter]) -> st.SearchStrategy[list[str]]:
    required_pieces = [pieces(parameter) for parameter in params if parameter.is_required]
    some = st.lists(st.one_of([ODD.map(lambda word: [word]), *map(pieces, params), *map(pieces, params)]), max_size=4)
    all_of = st.tuples(st.tuples(*required_pieces).map(list), some).map(lambda both: both[0] + both[1])
    in_order = st.one_of(some, all_of, all_of)
    return st.one_of(in_order, in_order.flatmap(st.permutations)).map(
        lambda parts: [word for part in parts for word in part]
    )


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_where_the_small_reader_answers_typer_gives_the_same(words: tuple[str, ...]) -> None:
    params = parameters(ALL[words])
    count = 0

    @seed(7)
    @settings(
        max_examples=max(1, EXAMPLES // len(ALL)), deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(lines(params))
    def law(rest: list[str]) -> None:
        nonlocal count
        command = read([*words, *rest])
        if command is not None:
            count += 1
            CALLS.clear()
            APP.main(args=[*words, *rest], prog_name="kiplint", standalone_mode=False)
            assert [command] == CALLS

    law()
    assert count
    print(f"{' '.join(words)}: {count:,} of {max(1, EXAMPLES // len(ALL)):,} command lines answered without typer")


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_parameter_is_read(words: tuple[str, ...]) -> None:
    """Each option alone, with the required arguments, needs no typer."""
    params = parameters(ALL[words])
    arguments = ["x" if not parameter.words else parameter.words[0] for parameter in params if parameter.is_required]
    for parameter in params:
        if isinstance(parameter.mark, Argument):
            continue
        value = parameter.words[0] if parameter.words else "3" if parameter.kind is int else "x"
        for flag in parameter.flags:
            call = read([*words, *arguments, flag, *([] if parameter.kind is bool else [value])])
            assert call is not None, (words, flag)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_names_stand_for_one_parameter_each(words: tuple[str, ...]) -> None:
    params = parameters(ALL[words])
    flags = [flag for parameter in params for flag in parameter.flags]
    assert len({parameter.name for parameter in params}) == len(params)
    assert len(set(flags)) == len(flags)
    assert all(parameter.mark.help.endswith((".", "...")) for parameter in params)


@pytest.mark.parametrize(
    "words",
    [[], ["--help"], ["nothing"], ["pipeline"], ["pipeline", "nothing"], ["check", "--help"], ["check", "--select"],
     ["check", "-qq"], ["check", "--quiet=1"], ["check", "--fail-on", "fatal"], ["check", "--"], ["diff", "a"],
     ["diff", "a", "b", "c"], ["explain"], ["rollout", "a", "--header", "0"]],
)  # fmt: skip
def test_what_is_left_to_typer(words: list[str]) -> None:
    assert read(words) is None
