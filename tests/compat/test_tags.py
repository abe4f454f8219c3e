"""Tag numbers: once used, never free again, in this release or in any older one that is known."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.compat.classify import ChangeFinding
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from tools import changes_between, definition, field, rules_of

A = field("A")


def tagged(name: str, tag: int = 0, kind: str = "int64", versions: str = "3+", **others: Any) -> dict[str, Any]:
    return field(name, kind, versions, tag=tag, taggedVersions=versions, **others)


def tree(name: str, data: bytes) -> Tree:
    return make_tree(name, [("", [(f"{name}/X.json", data)])])


def find_reuse(old: bytes, new: bytes, *older: bytes) -> list[ChangeFinding]:
    rules = rules_of(Config())
    before, after = tree("old", old), tree("new", new)
    older_trees = [tree(f"older{number}", data) for number, data in enumerate(older)]
    findings = changes_between(rules, before, after, older_trees)
    return [change for change in findings if change.rule == "compat/tag-reused"]


def reused_tags(old: bytes, new: bytes, *older: bytes) -> list[str]:
    return [change.message.partition(": ")[2] for change in find_reuse(old, new, *older)]


# Between two releases


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([tagged("T")], [tagged("T")]),
        ([tagged("T")], []),
        ([], [tagged("T")]),
        ([tagged("T")], [tagged("U")]),
        ([tagged("T")], [tagged("U", 1)]),
        ([tagged("T"), tagged("U", 1)], [tagged("U", 1), tagged("T")]),
        ([field("T", "int64", "3+")], [tagged("T")]),
    ],
)
def test_numbers_that_still_mean_the_same(old: list[Any], new: list[Any]) -> None:
    assert reused_tags(definition(A, *old), definition(A, *new)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([tagged("T")], [tagged("U", kind="string")], ["tag 0 belonged to T (int64); U needs a number of its own"]),
        ([tagged("T")], [tagged("U", versions="4+")], ["tag 0 belonged to T (int64); U needs a number of its own"]),
        ([tagged("T")], [tagged("T", 1), tagged("U")], ["tag 0 belonged to T (int64); U needs a number of its own"]),
        (
            [tagged("T"), tagged("U", 1)],
            [tagged("T", 1), tagged("U")],
            [
                "tag 1 belonged to U (int64); T needs a number of its own",
                "tag 0 belonged to T (int64); U needs a number of its own",
            ],
        ),
    ],
)
def test_numbers_with_another_meaning(old: list[Any], new: list[Any], expected: list[str]) -> None:
    assert reused_tags(definition(A, *old), definition(A, *new)) == expected


def test_the_change_in_full() -> None:
    (change,) = find_reuse(definition(A, tagged("T")), definition(A, tagged("U", kind="string")))
    assert (change.breaks, change.severity, change.versions, change.field) == ("wire", "error", "3-5", "U")
    assert change.old == {"layout": "A int32, tags {0: T int64}"}
    assert change.new == {"layout": "A int32, tags {0: U compact string}"}
    assert change.path == "new/X.json"


def test_numbers_of_structs_are_their_own() -> None:
    def part(*fields: dict[str, Any]) -> bytes:
        return definition(tagged("T"), field("Parts", "[]Part", fields=[A, *fields]))

    assert reused_tags(part(), part(tagged("U", kind="string"))) == []
    assert reused_tags(part(tagged("T")), part(tagged("U", kind="string"))) == [
        "tag 0 belonged to T (int64); U needs a number of its own"
    ]


# Of older releases


T, U = definition(A, tagged("T")), definition(A, tagged("U"))
NONE, TEXT = definition(A), definition(A, tagged("U", kind="string"))
BELONGED = ["tag 0 belonged to T (int64); U needs a number of its own"]


@pytest.mark.parametrize(
    ("old", "new", "older", "expected"),
    [
        pytest.param(NONE, TEXT, [], [], id="nothing older"),
        pytest.param(NONE, TEXT, [NONE], [], id="never used"),
        pytest.param(NONE, TEXT, [NONE, T], BELONGED, id="given up in between"),
        pytest.param(TEXT, TEXT, [T], BELONGED, id="no change since"),
        pytest.param(T, U, [], [], id="a rename"),
        pytest.param(NONE, U, [T], BELONGED, id="no rename after it was given up"),
        pytest.param(U, definition(A, tagged("V")), [T], [], id="renamed twice"),
        pytest.param(NONE, T, [T], [], id="back as it was"),
        pytest.param(NONE, definition(A, tagged("T", kind="string")), [T],
                     ["tag 0 belonged to T (int64); T needs a number of its own"], id="back as another type"),
        pytest.param(NONE, TEXT, [T, definition(A, tagged("S"))], BELONGED, id="once for all releases"),
        pytest.param(definition(A, name="YRequest", apiKey=9), TEXT, [T], BELONGED, id="a new message"),
        pytest.param(NONE, definition(A, tagged("U", kind="string"), name="YRequest"), [T], BELONGED,
                     id="a renamed message"),
    ],
)  # fmt: skip
def test_a_number_of_an_older_release(old: bytes, new: bytes, older: list[bytes], expected: list[str]) -> None:
    assert reused_tags(old, new, *older) == expected
