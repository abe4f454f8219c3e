"""Unified diffs: those of difflib where texts differ in a few lines, and right whatever the texts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.fixes.patch import unified_diff

OLD = [line for name in "ABCDE" for line in ("  {\n", f'    "name": "{name}",\n', '    "type": "int32"\n', "  },\n")]
CHANGED = '    "type": "int64"\n'


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        [*OLD[:2], CHANGED, *OLD[3:]],
        [*OLD[:2], CHANGED, *OLD[3:6], CHANGED, *OLD[7:]],
        [*OLD[:4], '  "headerVersions": {\n', '    "0-2": "1"\n', "  },\n", *OLD[4:]],
        [*OLD[:4], *OLD[8:]],
        [*OLD, "more\n"],
        ["// first\n", *OLD],
        [*OLD[:-1], "]"],
        [],
    ],
    ids=["equal", "a line", "two lines", "a map", "a field less", "an end", "a start", "no line end", "nothing"],
)
def test_a_few_lines_are_found_as_difflib_finds_them(new: list[str]) -> None:
    for before, after in ((OLD, new), (new, OLD)):
        expected = difflib.unified_diff(before, after, "a/X.json", "b/X.json")
        ends = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in expected]
        assert list(unified_diff(before, after, "X.json")) == ends


def patched(old: Sequence[str], patch: Sequence[str]) -> list[str]:
    """The lines after a patch is applied; what it says of the old lines is what they are."""
    result: list[str] = []
    at = 0
    for line in patch[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result += old[at:start]
            at = start
            continue
        if line[0] != "+":
            assert old[at] == line[1:]
            at += 1
        if line[0] != "-":
            result.append(line[1:])
    return [*result, *old[at:]]


LINES = st.lists(st.sampled_from([f"{letter}\n" for letter in "{}abcdefgh"]), max_size=30)


@given(LINES, LINES)
def test_every_patch_leads_to_the_new_text(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kiplint.fixes.patch._MOST_LINES", 4)
        assert patched(old, list(unified_diff(old, new, "X"))) == new


def test_a_long_text_with_unique_lines_is_compared_between_them() -> None:
    old = [line for number in range(1000) for line in (f'  {{ "name": "F{number}",\n', '    "versions": "0+" },\n')]
    new = [*old[:300], "  // a comment\n", *old[300:1200], *old[1202:]]
    patch = list(unified_diff(old, new, "X"))
    assert [line for line in patch[2:] if line[0] in "+-"] == [
        "+  // a comment\n",
        *(f"-{line}" for line in old[1200:1202]),
    ]
    assert patched(old, patch) == new


def test_a_change_of_many_lines_is_one_change() -> None:
    old, new = ([f"{word} {number}\n" for number in range(500)] for word in ("old", "new"))
    patch = list(unified_diff(["same\n", *old, "end\n"], ["same\n", *new, "end\n"], "X"))
    assert patch[2:] == [
        "@@ -1,502 +1,502 @@\n",
        " same\n",
        *(f"-{line}" for line in old),
        *(f"+{line}" for line in new),
        " end\n",
    ]
