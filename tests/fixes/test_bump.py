from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fixes.support import Files, after, comments_of, folder, is_within, parse, schemas, wire
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.new_version import bump
from kiplint.model.schemas import Rpc
from tools import changes_between, check, definition, field

RULES = make_ruleset(Config(), load_rules(Config(), ""))


@pytest.fixture(scope="module", params=["trunk", "fixtures"])
def files(request: pytest.FixtureRequest, repo: Path) -> Files:
    if request.param == "fixtures":
        return folder(repo / "fixtures" / "sets" / "broker" / "clients")
    corpus: Path = request.getfixturevalue("corpus")
    return folder(corpus / "kafka-trunk-2026-08" / "clients")


def rpc(files: Files, name: str) -> Rpc:
    return next(pair for pair in schemas(files).rpcs if pair.name == name)


def bump_in(files: Files, name: str, **options: Any) -> Files:
    return after(files, bump(rpc(files, name), **options))


def breaks(old: Files, new: Files) -> set[tuple[str, str]]:
    trees = [Tree("", {"": schemas(files)}, files) for files in (old, new)]
    findings = changes_between(RULES, trees[0], trees[1])
    return {(change.rule, change.severity) for change in findings}


@pytest.mark.parametrize("is_migrated", [False, True])
def test_every_rpc_can_be_bumped(files: Files, *, is_migrated: bool) -> None:
    before = after(files, migrate(schemas(files))) if is_migrated else files
    old = schemas(before)
    now = before
    unstable = {pair.name for pair in old.rpcs if pair.request and pair.request.unstable}
    for pair in old.rpcs:
        if pair.is_dead or pair.is_coordinator:
            continue
        migration = bump(pair)
        assert bool(migration.files) is (pair.name != "SaslHandshake" and pair.name not in unstable)
        now = after(now, migration)
    for name, data in before.items():
        assert is_within(comments_of(data), comments_of(now[name]))
    findings = [
        {
            (finding.rule, finding.path, finding.pointer)
            for finding in check(tree, single_file=False)
            if finding.severity != "info"
        }
        for tree in (before, now)
    ]
    assert findings[1] <= findings[0]
    assert breaks(before, now) == {("compat/new-version", "info")}
    new = schemas(now).by_name
    for message in old.messages:
        if message.is_rpc and message.valid:
            released = list(wire(message))
            assert list(wire(new[message.name]))[: len(released)] == released


def x(**others: Any) -> Files:
    inner = {**field("Inner", "[]Part"), "fields": [field("Name", "string")]}
    former = {**field("Ended", "[]Old", "0-3"), "fields": [field("Name", "string", "0-3")]}
    return {
        "XRequest.json": definition(inner, former, **others),
        "XResponse.json": definition(field(), name="XResponse", type="response"),
    }


def test_after_an_unstable_version_there_is_a_new_one_only_if_it_is_asked_for() -> None:
    files = {**x(latestVersionUnstable=True), "XResponse.json": x()["XResponse.json"]}
    assert bump(rpc(files, "X")).rows[0].state == "left"
    later = parse(bump_in(files, "X", new_version=True)["XRequest.json"])
    assert (later["validVersions"], later["latestVersionUnstable"]) == ("0-6", False)


def test_the_new_version_can_be_unstable_and_have_a_note() -> None:
    now = bump_in(x(), "X", unstable=True, note="is for KIP-1.")
    assert parse(now["XRequest.json"])["latestVersionUnstable"] is True
    assert "latestVersionUnstable" not in parse(now["XResponse.json"])
    assert comments_of(now["XResponse.json"]) == ["Version 6 is for KIP-1."]


def test_the_last_range_of_a_map_is_opened() -> None:
    now = bump_in(x(headerVersions={"0-2": "1", "3-5": "2"}), "X")
    assert parse(now["XRequest.json"])["headerVersions"] == {"0-2": "1", "3+": "2"}


def test_what_cannot_be_bumped_is_left_with_a_reason() -> None:
    files = x(validVersions="0+")
    migration = bump(rpc(files, "X"))
    assert migration.files == ()
    assert migration.rows[0].look == ("the valid versions of XRequest are 0+",)


def test_a_response_that_ends_earlier_gets_the_version_of_its_request() -> None:
    files = {
        f"X{kind}.json": definition(field(), name=f"X{kind}", type=kind.lower(), validVersions=valid)
        for kind, valid in (("Request", "0-5"), ("Response", "0-4"))
    }
    now = bump_in(files, "X")
    assert {name: parse(data)["validVersions"] for name, data in now.items()} == dict.fromkeys(files, "0-5")
