"""What each kind of change means for a version that is released, only on the base branch, unstable, or new."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kiplint.compat.change import KINDS, STATUSES, Status
from kiplint.compat.classify import ChangeFinding, classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from kiplint.engine.rule import Rule
from tools import document, field, rules_of

Side = dict[str, Any]
RULES = rules_of(Config(ignore=["kip-1313"]))
BY_NAME: Mapping[str, Rule] = {rule.spec.id: rule for rule in RULES.rules if rule.pack == "compat"}
UNSTABLE = {"latestVersionUnstable": True}
A, B = field("A"), field("B", "int64")
TEXT = field("T", "string")


def tagged(name: str, kind: str = "int64", tag: int = 0, **others: Any) -> Side:
    return field(name, kind, tag=tag, taggedVersions="0+", **others)


def side(*fields: Side, **others: Any) -> Side:
    """A message with version 0 alone, which is flexible."""
    return document(*(fields or (A,)), **{"validVersions": "0", "flexibleVersions": "0+", **others})


NOTHING: Side = {}
CASES: dict[str, tuple[Side, Side]] = {
    "message-removed": (side(), NOTHING),
    "message-renamed": (side(), side(name="YRequest")),
    "type-changed": (side(), side(type="header", apiKey=None)),
    "api-key-changed": (side(), side(apiKey=2)),
    "api-key-reused": (side(name="MendLogRequest"), side(field("Group"), name="AlterGroupsRequest")),
    "record-type-moved": (
        side(type="data", apiKey=None, flexibleVersions="none"),
        side(type="coordinator-key", apiKey=0, flexibleVersions="none"),
    ),
    "version-dropped": (side(), side(validVersions="none", flexibleVersions="none")),
    "gap-in-versions": (side(), side(validVersions="2")),
    "released-unstable": (side(), side(**UNSTABLE)),
    "listener-removed": (side(listeners=["broker", "controller"]), side(listeners=["broker"])),
    "listener-added": (side(listeners=["broker"]), side(listeners=["broker", "controller"])),
    "deprecated": (side(), side(deprecatedVersions="0")),
    "undeprecated": (side(deprecatedVersions="0"), side()),
    "layout-changed": (side(A), side(field("A", "int64"))),
    "fields-reordered": (side(A, B), side(B, A)),
    "nullability-narrowed": (side(field("T", "string", nullableVersions="0+")), side(TEXT)),
    "nullability-widened": (side(TEXT), side(field("T", "string", nullableVersions="0+"))),
    "flexible-changed": (side(TEXT), side(TEXT, flexibleVersions="none")),
    "header-changed": (side(), side(headerVersions={"0+": "1"})),
    "tag-changed": (side(A, tagged("T")), side(A, tagged("T", tag=1))),
    "tagged-moved": (side(A, tagged("T")), side(A, field("T", "int64"))),
    "tag-removed": (side(A, tagged("T")), side(A)),
    "new-tag": (side(A), side(A, tagged("T"))),
    "tag-reused": (side(A, tagged("T")), side(A, tagged("U", "string"))),
    "unstable-changed": (side(A), side(B)),
    "type-retyped": (side(field("D", "bytes")), side(field("D", "records"))),
    "default-changed": (side(A), side(field("A", default="1"))),
    "ignorable-changed": (side(A), side(field("A", ignorable=True))),
    "field-renamed": (side(A), side(field("Other"))),
    "struct-renamed": (side(field("P", "One", fields=[A])), side(field("P", "Two", fields=[A]))),
    "entity-type-changed": (side(A), side(field("A", entityType="brokerId"))),
    "map-key-changed": (
        side(field("P", "[]P", fields=[A])),
        side(field("P", "[]P", fields=[field("A", mapKey=True)])),
    ),
    "new-field": (side(A), side(A, field("N", "string"))),
    "new-field-not-ignorable": (side(A, validVersions="0-1"), side(A, field("N", "string", "1+"), validVersions="0-1")),
}
"""By kind: a message before and after, which has that change in a version that it had."""

NEW: dict[str, tuple[Mapping[str, Side], Mapping[str, Side]]] = {
    "new-version": ({"X": side()}, {"X": side(validVersions="0-1")}),
    "new-message": ({}, {"X": side()}),
    "new-field": ({"X": side()}, {"X": side(A, field("N", "string", "1+"), validVersions="0-1")}),
    "new-field-not-ignorable": ({"X": side()}, {"X": side(A, field("N", "string", "1+"), validVersions="0-1")}),
    "frozen-bumped": (
        {"X": side(name="SaslHandshakeRequest", validVersions="0-1")},
        {"X": side(name="SaslHandshakeRequest", validVersions="0-2")},
    ),
    "response-not-bumped": (
        {"X": side(), "Y": side(name="XResponse", type="response")},
        {"X": side(validVersions="0-1"), "Y": side(name="XResponse", type="response")},
    ),
}
"""By kind: the messages before and after, which have that change in a version that is new."""


def tree(messages: Mapping[str, Side]) -> Tree:
    return make_tree(
        "", [("", [(f"{name}.json", json.dumps(text).encode()) for name, text in messages.items() if text])]
    )


def changes(old: Mapping[str, Side], new: Mapping[str, Side], releases: Releases | None = None) -> list[ChangeFinding]:
    before, after = tree(old), tree(new)
    classified_changes = classify(compare_trees(before, after, (), releases), RULES, before.sources, after.sources)
    return [finding for _, finding in classified_changes]


def in_status(kind: str, status: Status) -> list[ChangeFinding]:
    """What is reported of the kind's case where the version that it changes has that status."""
    if status == "new":
        return changes(*(NEW.get(kind) or ({}, {"X": CASES[kind][1] or side()})))
    old, new = CASES.get(kind) or ((side(), side(B)))
    if status == "unstable":
        unstable_old = {**old, **UNSTABLE}
        return changes({"X": unstable_old}, {"X": new and {**new, **({} if kind == "version-dropped" else UNSTABLE)}})
    nothing = Releases(("1.0",), [tree({})])
    return changes({"X": old}, {"X": new}, nothing if status == "base" else None)


CELLS = [(kind, status) for kind in KINDS for status in STATUSES]
IMPOSSIBLE = {("record-type-moved", "unstable")}
"""Only requests and responses have unstable versions."""


def test_every_kind_has_a_row_and_a_rule() -> None:
    assert set(KINDS) == set(BY_NAME) == {*CASES, *NEW}


@pytest.mark.parametrize(("kind", "status"), [cell for cell in CELLS if cell not in IMPOSSIBLE])
def test_each_cell(kind: str, status: Status) -> None:
    findings = in_status(kind, status)
    own = [(finding.severity, finding.breaks) for finding in findings if finding.rule == f"compat/{kind}"]
    others = {finding.rule for finding in findings}
    spec, what = BY_NAME[kind].spec, KINDS[kind].policies[STATUSES.index(status)]
    if what == "rule":
        severities = {spec.severity if spec.severity != "off" else spec.on, *(case.severity for case in spec.levels)}
        assert [(severity in severities, breaks) for severity, breaks in own] == [(True, spec.breaks)]
    elif what == "info":
        assert own == [("info", "none")]
    else:
        assert own == []
    if what == "collect":
        assert "compat/unstable-changed" in others
        assert others <= {"compat/unstable-changed", "compat/new-field", "compat/new-field-not-ignorable"}


def test_a_tagged_default_is_as_good_as_a_byte() -> None:
    """A record on disk without the tag means another value now: an error where the version is released."""
    old, new = ({"X": side(A, tagged("T", default=value))} for value in ("0", "-1"))
    (change,) = changes(old, new)
    assert (change.rule, change.severity, change.breaks) == ("compat/default-changed", "error", "semantics")
    assert change.message == (
        'XRequest 0, T: the default of T was "0" and is now "-1"; readers use it when the tag is absent'
    )
    (early,) = changes(old, new, Releases(("1.0",), [tree({})]))
    assert (early.severity, early.breaks) == ("info", "none")


def test_a_change_has_the_most_binding_status_of_its_versions() -> None:
    """And names only the versions that have it: a field's are those that it has through its parents."""
    box = field("Box", "Box", "1+", fields=[field("A")])
    later = field("Box", "Box", "1+", fields=[field("A", default="1")])
    old, new = ({"X": side(item, validVersions="0-2")} for item in (box, later))
    for released, expected in (("0", ("info", "1-2")), ("0-1", ("warning", "1"))):
        release = Releases(("1.0",), [tree({"X": side(box, validVersions=released)})])
        (change,) = changes(old, new, release)
        assert (change.severity, change.versions) == expected
