"""Input that was made to be slow: some of it comes to an end in bounded memory, where growing squares would not.

`make bench-hostile` measures all of it: how long it takes, and how it grows.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.hostile.__main__ import NOT_RUN, Case, cases, place
from benchmarks.hostile.grammar import LINKS, growths
from msgspec.structs import replace

from kiplint import commands
from kiplint.cli.app import names
from kiplint.codec.catalog import Definitions
from kiplint.compat.change import shown_layout
from kiplint.compat.compare import compare_messages
from kiplint.engine.config import Config
from kiplint.engine.run import Input, check_set
from kiplint.fixes.fixers import make_fixes
from kiplint.model.layout import layout
from kiplint.model.message import Message
from tools import definition, environment, field, message, rules_of

MOST_SECONDS = 120
"""Of the processor: no measure of speed, only the end of what would not end by itself."""

MOST_BYTES = 1 << 30

SIZES = {
    "numbered MessageSpec/fields[Rows], changed: check new --select all (folders)": 1_000,
    "numbered MessageSpec/fields[Tagged], replaced: diff old new --select all (folders)": 1_000,
    "cased MessageSpec/fields[Plain], changed: check new --select all (folders)": 1_000,
    "entries MessageSpec/headerVersions[0], changed: rollout old new (folders)": 8_000,
    "FieldSpec/default of '1', changed: check new --select all (folders)": 50_000,
    "ignored rules: check new --select all (folders)": 10_000,
    "comments: check new --select all (folders)": 10_000,
    "single quotes: check new --select all (folders)": 150,
    "a cycle of structs: check new --select all (folders)": 1_500,
    "a chain with two branches: diff old new --select all (folders)": 4_000,
    "a version for each field: show XRequest new (folders)": 300,
    "sums (p.json5): check new --select all --config kiplint.toml (folders)": 10_000,
}
"""Sizes that a mechanism whose work grows with the square would not end at, by the title of the case."""


@pytest.fixture(scope="module")
def cases_by_title() -> dict[str, Case]:
    return {case.title: case for case in cases()}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


@pytest.mark.parametrize("title", SIZES, ids=lambda title: title.partition(" (")[0].replace(" ", "-"))
def test_terminates(title: str, cases_by_title: dict[str, Case], tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-P", "-m", "kiplint", *place(cases_by_title[title], SIZES[title], tmp_path)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        preexec_fn=_limit,
        check=False,
    )
    assert process.returncode in (0, 1, 2), process.stderr or f"ended by signal {-process.returncode}"
    assert (process.returncode == 2) == process.stderr.startswith(b"error: ")
    assert process.stderr.count(b"\n") <= 1


def calls(action: Callable[[], object]) -> int:
    """How many functions an action calls, those of C as well."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", ["types like structs", "structs that do not exist", "a chain of structs"])
def test_twice_the_names_take_twice_the_steps(name: str) -> None:
    rules = rules_of(Config(select=["all"]))

    def steps(n: int) -> int:
        def run() -> None:
            check_set([Input("XRequest.json", LINKS[name](n))], rules, partial=True, fixer=make_fixes)

        run()  # the first run also makes what is kept
        return calls(run)

    assert steps(800) < 2.3 * steps(400)


def test_a_field_of_a_long_layout_is_found_without_a_search() -> None:
    def steps(n: int) -> int:
        fields = [field(f"F{at}", "int32") for at in range(n)]
        fields += [field(f"T{at}", "int32", taggedVersions="0+", tag=at) for at in range(n)]
        long_message = message(*fields, flexibleVersions="0+")
        body, last = layout(long_message, 0), [long_message.fields[n - 1], long_message.fields[-1]]
        return calls(lambda: [shown_layout(body, near) for near in last])

    assert steps(4_000) < 1.5 * steps(500)


class CountedText(str):
    """A text that counts how often texts of its class are compared."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        type(self).comparisons += 1
        return str.__eq__(self, other)


@pytest.fixture
def counted_text() -> type[CountedText]:
    """A new subclass of CountedText, so that each test counts from zero."""
    return type("CountedText", (CountedText,), {"comparisons": 0})


def test_each_listener_is_looked_up(counted_text: type[CountedText]) -> None:
    old, new = (
        Message(replace(message().spec, listeners=[counted_text(f"{side}{at}") for at in range(1_000)]), "")
        for side in ("a", "b")
    )
    assert [change.name for change in compare_messages(old, new)] == ["listener-removed", "listener-added"]
    assert counted_text.comparisons < 100


def test_a_definition_of_a_set_that_is_loaded_is_looked_up(counted_text: type[CountedText]) -> None:
    files = [(f"X{at}Request.json", definition(name=f"X{at}Request", apiKey=at)) for at in range(1_000)]
    definitions = Definitions(files)
    definitions.all()
    assert [message.api_key for message in definitions.with_name(counted_text("X7Request"))] == [7]
    assert counted_text.comparisons < 100


class CountedBytes(bytes):
    """Bytes in which each search for other bytes is a call."""

    def __contains__(self, item: Any) -> bool:
        return bytes.__contains__(self, item)


@pytest.mark.parametrize("search", ["name", "key"])
def test_twice_the_definitions_that_are_searched_for_take_twice_the_steps(search: str) -> None:
    def steps(n: int) -> int:
        files = [(f"X{at}.json", CountedBytes(definition(name=f"X{at}Request", apiKey=at))) for at in range(n)]
        definitions = Definitions(files)

        def find() -> None:
            for at in range(n):
                [match] = definitions.with_key(at) if search == "key" else definitions.with_name(f"X{at}Request")
                assert match.api_key == at

        return calls(find)

    assert steps(400) < 2.3 * steps(200)


def test_every_command_is_run_or_reads_nothing(cases_by_title: dict[str, Case]) -> None:
    run = {case.words[0] for case in cases_by_title.values()}
    assert sorted(run | {*NOT_RUN}) == sorted(names(commands))


def test_a_new_property_joins() -> None:
    shape = {"title": "Message", "properties": {"name": {"type": "string"}, "tags": {"$ref": "#/$defs/tags"}}}
    schema = {**shape, "$defs": {"tags": {"type": "array", "items": {"type": "string"}}}}
    names = {growth.name: growth.grow(2, 0) for growth in growths({"name": "A"}, schema)}
    assert names["Message/name of 'a'"] == {"name": "Aaa"}
    assert names["numbered Message/tags[0]"] == {"name": "A", "tags": ["a0", "a1"]}
