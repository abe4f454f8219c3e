"""Input that is made to be slow: twice as much of it takes about twice the steps.

Steps are lines that run and calls of functions, those of C as well, so a test does not depend on how fast the machine is.
"""

from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kiplint
from kiplint.versions import VersionRange
from sources.support import make_repository
from tools import definition, document, field
from tools import kiplint as kiplint_command

CachedFunction = type(VersionRange.of)

MOST_GROWTH = 2.5
"""The most that steps may grow by when the input doubles; they would grow by 4 if each part met each other one."""

Files = Mapping[str, bytes]


def request(*fields: dict[str, Any], **others: Any) -> Files:
    """A set of one request."""
    return {"XRequest.json": definition(*fields, **others)}


def with_text(begin: str, n: int) -> Files:
    """A definition behind n times a text."""
    return {"XRequest.json": begin.encode() * n + definition(field())}


def common_struct(name: str, *kinds: str) -> dict[str, Any]:
    """A common struct whose fields have these types."""
    fields = [field(f"F{number}", kind) for number, kind in enumerate(kinds)]
    return {"name": name, "versions": "0+", "fields": fields}


def structs(types: list[list[str]]) -> Files:
    """A definition whose common structs have fields of these types."""
    commons = [common_struct(f"S{at}", *kinds) for at, kinds in enumerate(types)]
    return request(field("A", "S0"), commonStructs=commons)


def rpcs(n: int, start: int = 0) -> Files:
    """n RPCs with names of their own."""
    kinds = ("Request", "Response")
    return {
        f"X{start + key}{kind}.json": definition(
            field(), name=f"X{start + key}{kind}", type=kind.lower(), apiKey=key, listeners=None
        )
        for key in range(n)
        for kind in kinds
    }


def staggered(n: int, kind: str = "int32") -> Files:
    """A request with n fields, each of which begins in a version of its own."""
    return request(*(field(f"F{at}", kind, f"{at}+") for at in range(n)), validVersions=f"0-{n}")


def headers_in_turn(n: int, first: int = 0) -> Files:
    """A request whose n versions have the headers 2 and 3 in turn, or 3 and 2."""
    headers = {str(at): str(2 + (at + first) % 2) for at in range(n)}
    return request(field(), validVersions=f"0-{n}", flexibleVersions="0+", headerVersions=headers)


def changed(make: Callable[[int], Files]) -> Callable[[int], tuple[Files, Files]]:
    """A set of one plain request, and what a function makes in its place."""
    return lambda n: (request(field("Plain")), make(n))


CHECKED: Mapping[str, Callable[[int], Files]] = {
    "fields-of-one-name": lambda n: request(*[field("F")] * n),
    # A file with a hundred problems has no message, whose rules would count for the smallest input only.
    "unknown-properties": lambda n: request(field(**{f"versionz{at}": "0+" for at in range(100 + n)})),
    "comments": lambda n: with_text("// Version 1 adds Plain.\n", n),
    "suppressions": lambda n: with_text("// kiplint: ignore[tags] no reason\n", n),
    "single-quotes": lambda n: {
        "XRequest.json": json.dumps(document(*[field()] * (n // 5))).replace('"', "'").encode()
    },
    "chain-of-structs": lambda n: structs([*([f"S{at}"] for at in range(1, n)), ["int32"]]),
    "cycle-of-structs": lambda n: structs([[f"S{(at + 1) % n}"] for at in range(n)]),
    "unused-structs": lambda n: request(field(), commonStructs=[common_struct(f"S{at}", "int32") for at in range(n)]),
    "folders": lambda n: {f"{at}/XRequest.json": definition(field()) for at in range(n)},
}
COMPARED: Mapping[str, Callable[[int], tuple[Files, Files]]] = {
    "tags": changed(
        lambda n: request(*(field(f"T{at}", "string", "3+", taggedVersions="3+", tag=at) for at in range(n)))
    ),
    "header-versions": changed(
        lambda n: request(field(), validVersions=f"0-{n}", headerVersions={str(at): "2" for at in range(n)})
    ),
    "headers-in-turn": lambda n: (headers_in_turn(n), headers_in_turn(n, 1)),
    "a-version-for-each-retyped-field": lambda n: (staggered(n, "int32"), staggered(n, "int64")),
    "fields-retyped": lambda n: (
        request(*(field(f"F{at}") for at in range(n))),
        request(*(field(f"F{at}", "int64") for at in range(n))),
    ),
    "copies": lambda n: (
        request(field()),
        {**request(field()), **{f"{at}.json": definition(field("F", "int64")) for at in range(n)}},
    ),
    "rpcs-replaced": lambda n: (rpcs(n // 3 + 1), rpcs(n // 3 + 1, 100_000)),
}


def tagged(name: str, n: int, kind: str = "string", tags: Callable[[int], int | None] = int) -> Files:
    """A request of n tagged fields; a tag of None is left out."""
    fields = [field(f"{name}{at}", kind, "3+", taggedVersions="3+", tag=tags(at)) for at in range(n)]
    return request(*({key: value for key, value in item.items() if value is not None} for item in fields))


def in_cases(n: int, kind: str) -> Files:
    """A request of n fields whose names differ in the case of letters alone."""
    letters = [
        "".join(letter.upper() if at >> bit & 1 else letter for bit, letter in enumerate("abcdefghijkl"))
        for at in range(n)
    ]
    return request(*(field(f"F{text}", kind) for text in letters))


CHANGED: Mapping[str, Callable[[int], tuple[Files, Files]]] = {
    "fields-of-one-name": lambda n: (request(*[field("F")] * n), request(*[field("F", "int64")] * n)),
    "fields-removed": lambda n: (request(*[field("F")] * n), request(field("Plain"))),
    "names-in-other-case": lambda n: (in_cases(n, "int32"), in_cases(n, "int64")),
    "tags-retyped": lambda n: (tagged("T", n), tagged("T", n, "int32")),
    "fields-with-one-tag": lambda n: (tagged("T", n, tags=lambda _: 0), tagged("U", n, tags=lambda _: 0)),
    "fields-without-a-tag": changed(lambda n: tagged("T", n, tags=lambda _: None)),
    "fields-of-later-versions": lambda n: (
        request(*(field(f"F{at}", versions=f"{9 + at}+") for at in range(n))),
        request(*(field(f"G{at}", versions=f"{9 + at}+") for at in range(n))),
    ),
    # More than the hundred problems of a file that are reported; comments take few steps, so there are three for each.
    "comments-on-versions": changed(
        lambda n: {
            "XRequest.json": b"".join(b"// Version %d adds Thing%d.\n" % (at, at) for at in range(1, 100 + 3 * n))
            + definition(field("Plain"), validVersions=f"0-{100 + 3 * n}")
        }
    ),
    "comments-for-the-file": lambda n: (
        request(*(field(f"F{at}") for at in range(n))),
        {
            "XRequest.json": b"// kiplint: ignore-file[compat/layout-changed] It is new.\n" * n
            + definition(*(field(f"F{at}", "int64") for at in range(n)))
        },
    ),
}
COMMANDS = (
    "check set --select all",
    "diff base set",
    "diff base set --output-format json",
    "review set --base HEAD --output-format markdown",
    "negotiate base set",
    "rollout base set",
    "migrate kip-1313 set --dry-run",
    "migrate bump X --set set --dry-run",
    "kip page.md --base base",
    "check set --fix --unsafe-fixes",
)
"""The command lines over a set that is changed, in a repository; the one that writes comes last."""


def write(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def forget_input() -> None:
    """Clear the caches of what a command reads, so that steps do not depend on what ran before; rules stay loaded."""
    re.purge()
    modules = [module for name, module in sys.modules.items() if name.startswith("kiplint.")]
    for item in (*VersionRange.__dict__.values(), *(item for module in modules for item in vars(module).values())):
        function = getattr(item, "__func__", item)  # of a static method
        if isinstance(function, CachedFunction) and function.cache_parameters()["maxsize"] is not None:
            function.cache_clear()


def steps_of(action: Callable[[], object]) -> int:
    """How many lines an action runs, each turn of a loop as one, and how many functions it calls, those of C as well."""
    count = 0

    def note_line(_frame: object, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return note_line

    def note_call(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "c_call"

    forget_input()
    gc.disable()  # hypothesis has callbacks for collections, which would count
    sys.settrace(note_line)
    sys.setprofile(note_call)
    try:
        action()
    finally:
        sys.settrace(None)
        sys.setprofile(None)
        gc.enable()
    return count


def assert_linear(steps: Callable[[int], int], size: int = 150) -> None:
    """Twice the size takes about twice the steps, above those that the smallest input takes."""
    steps(1)  # the first run also loads rules and modules
    start, once, twice = steps(1), steps(size), steps(2 * size)
    assert twice - start < MOST_GROWTH * (once - start), (start, once, twice)


@pytest.mark.parametrize("name", CHECKED)
def test_check_grows_with_its_input(name: str, tmp_path: Path) -> None:
    def steps(n: int) -> int:
        folder = write(tmp_path / str(n), CHECKED[name](n))
        return steps_of(lambda: kiplint.check(folder, select=["all"], isolated=True))

    assert_linear(steps)


@pytest.mark.parametrize("name", COMPARED)
def test_diff_and_rollout_grow_with_their_input(name: str, tmp_path: Path) -> None:
    def steps(n: int) -> int:
        old, new = (
            write(tmp_path / str(n) / side, files)
            for side, files in zip(("old", "new"), COMPARED[name](n), strict=True)
        )
        return steps_of(lambda: (kiplint.diff(old, new, isolated=True), kiplint.rollout(old, new)))

    assert_linear(steps, 75)  # twice as many are still shown as a whole layout


@pytest.mark.parametrize("name", CHANGED)
def test_commands_grow_with_the_change(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without proofs, and above the limit of lines of a layout that is shown: the steps of either would hide the rest."""
    monkeypatch.setattr("kiplint.compat.classify.MOST_PROVEN", 0)
    monkeypatch.setattr("kiplint.compat.change.MOST_SHOWN", 50)

    def actions(n: int) -> list[Callable[[], object]]:
        base, head = CHANGED[name](n)
        response = {"XResponse.json": definition(field(), name="XResponse", type="response")}
        folder = tmp_path / str(n)
        if not folder.exists():
            make_repository(folder, {f"set/{file}": data for file, data in {**base, **response}.items()})
        write(folder / "base", {**base, **response})
        write(folder / "set", {**head, **response})
        write(folder, {"page.md": b"```json\n" + head["XRequest.json"] + b"\n```\n"})
        return [partial(kiplint_command, *line.split(), cwd=folder) for line in COMMANDS]

    for action in actions(1):
        action()  # the first run also loads rules and modules
    counts = [[steps_of(action) for action in actions(n)] for n in (1, 101, 201)]
    growth = {
        line: round((twice - start) / max(once - start, 500), 3)
        for line, start, once, twice in zip(COMMANDS, *counts, strict=True)
    }
    # A small part that is not linear shows only in thousands of fields: at 100 more it is at most 0.75 % of the rest.
    assert max(growth.values()) < 2.015, growth


@pytest.mark.parametrize("is_released", [True, False])
def test_fixes_grow_with_their_number(is_released: bool, tmp_path: Path) -> None:
    """Fields that have taggedVersions and no tag: the fixes would change released bytes, and are refused, or are made.

    Outside git, all versions may be released; in a repository, those that HEAD has.
    """

    def steps(n: int) -> int:
        folder = tmp_path / str(n)
        if not folder.exists() and not is_released:
            make_repository(folder, {"YRequest.json": b"{}"})
        fields = (field(f"T{at}", versions="3+", taggedVersions="3+", ignorable=True) for at in range(n))
        write(folder, request(*fields))
        count = steps_of(lambda: kiplint.check(folder, fix=True, unsafe_fixes=True, isolated=True))
        assert (b'"tag": 0' in (folder / "XRequest.json").read_bytes()) is not is_released
        return count

    assert_linear(steps, 300)


MISTAKES: Mapping[str, tuple[int, Callable[[int], bytes]]] = {
    "single-quotes": (25, lambda n: json.dumps(document(*[field()] * n)).replace('"', "'").encode()),
    "values-of-another-type": (120, lambda n: definition(*(field(f"F{at}", ignorable="true") for at in range(n)))),
    "misspelt-properties": (40, lambda n: definition(*(field(f"F{at}", **{f"abou{at}": ""}) for at in range(n)))),
}
"""A number of fields, and a definition with that many mistakes. Twice the number has more than a check reports."""


@pytest.mark.parametrize("name", MISTAKES)
def test_fixes_of_more_problems_than_a_check_reports(name: str, tmp_path: Path) -> None:
    """They are made at once: a pass for each hundred would take the square of their number."""
    size, make = MISTAKES[name]

    def steps(n: int) -> int:
        folder = write(tmp_path / str(n), {"XRequest.json": make(n)})
        count = steps_of(lambda: kiplint.check(folder, fix=True, unsafe_fixes=True, isolated=True))
        rules = {finding.rule for finding in kiplint.check(folder, isolated=True).findings}
        assert rules.isdisjoint({"syntax/json5-only", "shape/coerced-value", "shape/unknown-property"})
        return count

    assert_linear(steps, size)


def test_a_finding_with_a_fix_costs_little(tmp_path: Path) -> None:
    """A check tries no fix: one trailing comma costs at most 1.3 of the check of a set without it."""
    files = rpcs(50)
    clean, other = write(tmp_path / "clean", files), write(tmp_path / "other", files)
    file = other / "X7Request.json"
    file.write_bytes(file.read_bytes().rstrip()[:-1] + b",}")
    check_clean, check_other = (partial(kiplint.check, folder, isolated=True) for folder in (clean, other))
    check_clean(), check_other()  # the first run also loads rules and modules
    without, with_comma = steps_of(check_clean), steps_of(check_other)
    assert without < with_comma <= 1.3 * without
