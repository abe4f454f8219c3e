"""What the releases of Kafka say of their new versions: fields, nulls, flexible versions, notes, stability."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kiplint.compat.change import ChangeFinding, Kind
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Config
from tools import changes_between, document, field, kiplint, rules_of

Change = dict[str, Any]
Diff = Callable[[str, str], list[Change]]
RULES = rules_of(Config())
UNSTABLE = {"latestVersionUnstable": True}


@pytest.fixture(scope="module")
def diff(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Diff:
    """The changes between two releases, as JSON."""
    releases = tmp_path_factory.mktemp("releases") / "releases.git"
    bundle = corpus / "kafka-releases.bundle"
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, releases], check=True, capture_output=True)

    @cache
    def changes(old: str, new: str) -> list[Change]:
        result = kiplint("diff", f"{old}:", f"{new}:", "--isolated", "--output-format", "json", cwd=releases)
        return list(json.loads(result.out)["changes"])

    return changes


@pytest.mark.parametrize(
    ("old", "new", "rule", "expected"),
    [
        ("3.4.0", "3.5.0", "field-ended", {"FetchRequest 15 ReplicaId"}),
        (
            "3.7.0",
            "4.4.0",
            "field-ended",
            {
                "ProduceRequest 13 TopicData.Name",
                "ProduceResponse 13 Responses.Name",
                "OffsetCommitRequest 10 Topics.Name",
                "OffsetCommitResponse 10 Topics.Name",
                "OffsetFetchRequest 10 Groups.Topics.Name",
                "OffsetFetchResponse 10 Groups.Topics.Name",
                "TxnOffsetCommitRequest 6 Topics.Name",
                "TxnOffsetCommitResponse 6 Topics.Name",
                "UpdateFeaturesResponse 2 Results",
                "EndQuorumEpochRequest 1 Topics.Partitions.PreferredSuccessors",
            },
        ),
        ("3.7.0", "4.4.0", "flexible-later", {"BeginQuorumEpochRequest 1 ", "EndQuorumEpochResponse 1 "}),
        (
            "2.7.0",
            "3.0.0",
            "field-ended",
            {
                "MetadataResponse 11 ClusterAuthorizedOperations",
                "OffsetFetchRequest 8 GroupId",
                "OffsetFetchRequest 8 Topics",
            },
        ),
        ("2.7.0", "3.0.0", "flexible-later", {"ListOffsetsRequest 6-7 ", "ListOffsetsResponse 6-7 "}),
        ("2.7.0", "3.0.0", "nullable-later", {"MetadataRequest 10-11 Topics.Name"}),
        ("4.3.1", "4.4.0", "field-ended", {"StreamsGroupHeartbeatResponse 1 AcceptableRecoveryLagLegacy"}),
        ("4.3.1", "4.4.0", "new-field", {"StreamsGroupHeartbeatResponse 1 AcceptableRecoveryLag"}),
    ],
)
def test_what_begins_and_ends(diff: Diff, old: str, new: str, rule: str, expected: set[str]) -> None:
    changes = [change for change in diff(old, new) if change["rule"] == f"compat/{rule}"]
    found = {f"{change['message_name']} {change['versions']} {change['field']}" for change in changes}
    assert expected - found == set()
    assert {(change["severity"], change["breaks"]) for change in changes} == {("info", "none")}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("ProduceRequest", ["Version 11 ", "Version 12 ", "Version 13 "]),
        ("ListOffsetsRequest", ["Version 9 ", "Version 10 ", "Version 11 "]),
        ("FindCoordinatorRequest", ["Version 5 ", "Version 6 "]),
        ("EndTxnRequest", ["Version 4 ", "Version 5 "]),
    ],
)
def test_a_new_version_comes_with_its_comment(diff: Diff, message: str, words: list[str]) -> None:
    [change] = [
        change
        for change in diff("3.7.0", "4.4.0")
        if (change["rule"], change["message_name"]) == ("compat/new-version", message)
    ]
    lines = change["note"].splitlines()
    assert [line.startswith(text) for line, text in zip(lines, words, strict=True)] == [True] * len(words)


def test_an_error_that_a_response_may_carry_is_a_change_of_its_own(diff: Diff) -> None:
    changes = {
        change["message_name"]: change["new"]["comment"]
        for change in diff("4.3.1", "4.4.0")
        if change["kind"] == "comment-changed" and "comment" in change["new"]
    }
    assert changes["ConsumerGroupHeartbeatResponse"] == "- GROUP_ID_NOT_FOUND (version 0+)"


def test_a_version_that_becomes_stable_is_new(diff: Diff) -> None:
    """OffsetCommit 10 was unstable in 4.1, with topic ids, and is final in 4.2."""
    changes = [change for change in diff("4.1.0", "4.2.0") if change["message_name"].startswith("OffsetCommit")]
    stable = {(change["message_name"], change["versions"]) for change in changes if change["kind"] == "version-stable"}
    assert stable == {("OffsetCommitRequest", "10"), ("OffsetCommitResponse", "10")}
    fields = {(change["kind"], change["field"]) for change in changes if change["message_name"].endswith("Request")}
    assert fields >= {("field-added", "Topics.TopicId"), ("field-ended", "Topics.Name")}


def tree(*files: dict[str, Any]) -> Tree:
    return make_tree("", [("", [(f"{file['name']}.json", json.dumps(file).encode()) for file in files])])


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[ChangeFinding]:
    return changes_between(RULES, tree(old), tree(new))


def message(*fields: dict[str, Any], **others: Any) -> dict[str, Any]:
    return document(*(fields or [field("A")]), **{"validVersions": "0", "flexibleVersions": "0+", **others})


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ({"validVersions": "0-1"}, "XRequest: version 1 is new, and unstable: brokers do not offer it by default"),
        (
            {"validVersions": "0-2"},
            "XRequest: versions 1-2 are new; version 2 is unstable: brokers do not offer it by default",
        ),
    ],
)
def test_an_unstable_version_is_called_so(head: dict[str, Any], expected: str) -> None:
    [change] = changes(message(), message(**head, **UNSTABLE))
    assert (change.message, change.unstable) == (expected, True)


def test_the_response_of_an_unstable_request_is_unstable() -> None:
    requests = [message(validVersions=versions, **UNSTABLE) for versions in ("0-1", "0-2")]
    responses = [message(name="XResponse", type="response", validVersions=versions) for versions in ("0-1", "0-2")]
    base, head = (tree(*pair) for pair in zip(requests, responses, strict=True))
    found = changes_between(RULES, base, head)
    assert {(change.message_name, change.versions, change.unstable) for change in found} == {
        ("XRequest", "1", False),  # which is stable now
        ("XResponse", "1", False),
        ("XRequest", "2", True),
        ("XResponse", "2", True),
    }


def test_inside_of_a_struct_that_is_new_only_later_fields_are() -> None:
    """A struct brings its fields; one that comes in a later version of the struct is said."""
    inner = [field("B"), field("C", versions="2+"), field("D", versions="1")]
    head = message(field("A"), field("Box", "Box", "1+", fields=inner), validVersions="0-2")
    found = {(change.kind, change.field, change.versions) for change in changes(message(), head)}
    assert found == {
        ("new-version", "", "1-2"),
        ("field-added", "Box", "1-2"),
        ("field-added", "Box.C", "2"),
        ("field-ended", "Box.D", "2"),
    }


def test_a_stable_version_that_changed_is_final_now() -> None:
    old, new = (message(field("A"), field("B", kind, "1+"), validVersions="0-1") for kind in ("bool", "int8"))
    texts = {change.message for change in changes({**old, **UNSTABLE}, new)}
    assert "XRequest: version 1 changed while it was unstable, and is final now: B" in texts
    texts = {change.message for change in changes({**old, **UNSTABLE}, {**new, **UNSTABLE})}
    assert texts == {"XRequest: version 1, which is unstable, is now encoded differently: B"}


def test_a_released_version_is_compared_without_what_begins_later() -> None:
    """Nothing of a version that both sides have in the same way is new."""
    both = message(field("A"), field("B", versions="1+", nullableVersions="2+"), validVersions="0-2")
    about = {**both, "fields": [{**item, "about": "Said."} for item in both["fields"]]}
    assert compare_trees(tree(both), tree(about)) == []


def test_tag_reused_names_no_unstable_version() -> None:
    old = message(field("A"), field("T", versions="0+", tag=0, taggedVersions="0+"))
    new = message(field("A"), field("U", "string", "0+", tag=0, taggedVersions="0+"), validVersions="0-1", **UNSTABLE)
    [reused] = [change for change in compare_trees(tree(old), tree(new)) if change.row is Kind.TAG_REUSED]
    assert str(reused.versions) == "0"
    later = message(field("A"), field("U", "string", "1+", tag=0, taggedVersions="1+"), validVersions="0-1", **UNSTABLE)
    assert [change for change in compare_trees(tree(old), tree(later)) if change.row is Kind.TAG_REUSED] == []
