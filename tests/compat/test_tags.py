"""Tag numbers: once used, never free again, in this release or in any older one that is known."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from tools import changes_between, definition, field, rules_of

RULES = rules_of(Config())
A = field("A")


def tagged(name: str, tag: int = 0, kind: str = "int64", versions: str = "3+", **others: Any) -> dict[str, Any]:
    return field(name, kind, versions, tag=tag, taggedVersions=versions, **others)


def tree(name: str, data: bytes) -> Tree:
    return make_tree(name, [("", [(f"{name}/X.json", data)])])


def with_tags(*fields: dict[str, Any]) -> bytes:
    return definition(A, *fields)


def part(*fields: dict[str, Any]) -> bytes:
    """A message with a tag, and a struct with these fields."""
    return definition(tagged("T"), field("Parts", "[]Part", fields=[A, *fields]))


T, U, V = (with_tags(tagged(name)) for name in "TUV")
NONE, TEXT = with_tags(), with_tags(tagged("U", kind="string"))
BOTH, SWAPPED = with_tags(tagged("T"), tagged("U", 1)), with_tags(tagged("T", 1), tagged("U"))
BELONGED = ["tag 0 belonged to T (int64); give U another tag"]
ALSO = "tag 1 belonged to U (int64); give T another tag"


@pytest.mark.parametrize(
    ("old", "new", "older", "expected"),
    [
        pytest.param(T, T, [], [], id="no change"),
        pytest.param(T, NONE, [], [], id="gone"),
        pytest.param(NONE, T, [], [], id="new"),
        pytest.param(T, U, [], [], id="a rename"),
        pytest.param(T, with_tags(tagged("U", 1)), [], [], id="a number of its own"),
        pytest.param(BOTH, with_tags(tagged("U", 1), tagged("T")), [], [], id="another order"),
        pytest.param(with_tags(field("T", "int64", "3+")), T, [], [], id="a field that had no tag"),
        pytest.param(T, TEXT, [], BELONGED, id="another type"),
        pytest.param(T, with_tags(tagged("U", versions="4+")), [], BELONGED, id="other versions"),
        pytest.param(T, SWAPPED, [], BELONGED, id="a number that its field left"),
        pytest.param(BOTH, SWAPPED, [], [ALSO, *BELONGED], id="numbers that changed places"),
        pytest.param(part(), part(tagged("U", kind="string")), [], [], id="a number of another struct"),
        pytest.param(part(tagged("T")), part(tagged("U", kind="string")), [], BELONGED, id="of the same struct"),
        pytest.param(NONE, TEXT, [NONE], [], id="never used"),
        pytest.param(NONE, TEXT, [NONE, T], BELONGED, id="given up in between"),
        pytest.param(TEXT, TEXT, [T], BELONGED, id="no change since"),
        pytest.param(NONE, U, [T], BELONGED, id="no rename after it was given up"),
        pytest.param(U, V, [T], [], id="renamed twice"),
        pytest.param(NONE, T, [T], [], id="back as it was"),
        pytest.param(NONE, with_tags(tagged("T", kind="string")), [T],
                     ["tag 0 belonged to T (int64); give T another tag"], id="back as another type"),
        pytest.param(NONE, with_tags(tagged("T", kind="[]int64")), [T],
                     ["tag 0 belonged to T (int64); give T another tag"], id="back as an array"),
        pytest.param(NONE, TEXT, [T, with_tags(tagged("S"))], BELONGED, id="once for all releases"),
        pytest.param(definition(A, name="YRequest", apiKey=9), TEXT, [T], BELONGED, id="a new message"),
        pytest.param(NONE, definition(A, tagged("U", kind="string"), name="YRequest"), [T], BELONGED,
                     id="a renamed message"),
    ],
)  # fmt: skip
def test_a_number_that_was_used(old: bytes, new: bytes, older: list[bytes], expected: list[str]) -> None:
    older_trees = [tree(f"older{number}", data) for number, data in enumerate(older)]
    changes = changes_between(RULES, tree("old", old), tree("new", new), older_trees)
    reused = [change for change in changes if change.rule == "compat/tag-reused"]
    assert [change.message.partition(": ")[2] for change in reused] == expected


@pytest.mark.parametrize(
    ("old_flexible", "new_flexible", "versions"),
    [("none", "none", []), ("4+", "4+", ["4-5"]), ("none", "4+", []), ("4+", "none", [])],
)
def test_only_flexible_versions_have_tags(old_flexible: str, new_flexible: str, versions: list[str]) -> None:
    old, new = (
        definition(A, tagged(name, kind=kind), validVersions="0-5", flexibleVersions=flexible)
        for name, kind, flexible in (("T", "int64", old_flexible), ("U", "string", new_flexible))
    )
    changes = changes_between(RULES, tree("old", old), tree("new", new))
    assert [change.versions for change in changes if change.rule == "compat/tag-reused"] == versions
