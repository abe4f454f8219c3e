"""Which releases can run in one cluster, and the shortest way between two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import astuple

from kiplint.compat.roles import Mode
from kiplint.compat.tree import make_tree
from kiplint.compat.upgrade import (
    Step,
    StepChange,
    UpgradeRelease,
    direct,
    in_mode,
    interoperate,
    make_graph,
    make_release,
    step_changes,
    upgrade_path,
)
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from tools import field, message, rpc


def served(name: str, key: int, valid: str, *listeners: str, **others: object) -> tuple[Message, Message]:
    request = message(
        name=f"{name}Request", type="request", apiKey=key, validVersions=valid, listeners=[*listeners], **others
    )
    return request, rpc(name, key, valid)[1]


def release(name: str, *pairs: Sequence[Message]) -> UpgradeRelease:
    return make_release(name, SchemaSet(tuple(message for pair in pairs for message in pair)))


def stored(folder: Path) -> UpgradeRelease:
    files = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    assert files
    return make_release(folder.name, make_tree(folder.name, [("", files)]).main)


@pytest.fixture(scope="module")
def three(repo: Path) -> list[UpgradeRelease]:
    return [stored(repo / "fixtures/upgrade" / name) for name in ("ancient", "bridge", "modern")]


# Modes


def test_modes_of_the_fixtures(three: list[UpgradeRelease]) -> None:
    assert [([*release.served], release.migrates) for release in three] == [
        (["zookeeper"], False),
        (["zookeeper", "kraft"], True),
        (["kraft"], False),
    ]


def test_what_each_mode_serves(three: list[UpgradeRelease]) -> None:
    names = {mode: {name for name, _ in rpcs.values()} for mode, rpcs in three[1].served.items()}
    common = {"ApiVersions", "Fetch", "WriteTxnMarkers", "AlterPartition"}
    assert names == {
        "zookeeper": {*common, "LeaderAndIsr", "UpdateMetadata"},
        "kraft": {*common, "BrokerRegistration"},
    }


def test_a_set_without_listeners_has_one_mode() -> None:
    assert [*release("old", rpc("UpdateMetadata", 6, "0"), rpc("Fetch", 1, "0")).served] == ["zookeeper"]
    assert [*release("fork", rpc("Fetch", 1, "0")).served] == ["kraft"]


def test_controlled_shutdown_is_not_of_kraft_whatever_its_listeners() -> None:
    single = release(
        "x", served("ControlledShutdown", 7, "0-3", "zkBroker", "controller"), served("Fetch", 1, "0", "broker")
    )
    assert [*single.served["kraft"]] == [1]


def test_migration_needs_both_modes_and_the_field() -> None:
    fetch = served("Fetch", 1, "0", "zkBroker", "broker"), served("Other", 900, "0", "zkBroker")
    plain = served("BrokerRegistration", 62, "0-1", "controller")
    request = message(
        field("IsMigratingZkBroker", "bool", "1+"),
        name="BrokerRegistrationRequest", type="request", apiKey=62, validVersions="0-1", listeners=["controller"],
    )  # fmt: skip
    assert not release("x", *fetch, plain).migrates
    assert release("x", *fetch, (request, plain[1])).migrates
    assert not release("x", (request, plain[1])).migrates


# Interoperation


def test_a_common_version_of_everything_served() -> None:
    old, new = (release(valid, served("Fetch", 1, valid, "broker")) for valid in ("0-3", "3-5"))
    assert interoperate(old, new, "kraft")
    assert not interoperate(old, new, "zookeeper")


def test_no_common_version() -> None:
    old, new = (release(valid, served("Fetch", 1, valid, "broker")) for valid in ("0-3", "4-5"))
    assert not interoperate(old, new, "kraft")
    (blocker,) = direct(old, new).blockers
    assert (blocker.name, blocker.api_key, blocker.kind, blocker.old, blocker.new) == (
        "Fetch",
        1,
        "no-common-version",
        "0-3",
        "4-5",
    )


def test_an_rpc_that_is_gone() -> None:
    fetch = served("Fetch", 1, "0", "broker")
    old, new = release("old", fetch, served("Other", 900, "0-1", "controller")), release("new", fetch)
    (blocker,) = direct(old, new).blockers
    assert (blocker.name, blocker.kind, blocker.old, blocker.new) == ("Other", "gone", "0-1", None)
    assert interoperate(new, old, "kraft")


def test_unstable_versions_do_not_count() -> None:
    stable = served("Share", 900, "0-1", "broker")
    draft = served("Share", 900, "0", "broker", latestVersionUnstable=True)
    fetch = served("Fetch", 1, "0", "broker")
    assert interoperate(release("draft", fetch, draft), release("without", fetch), "kraft")
    new = served("Share", 900, "1-2", "broker", latestVersionUnstable=True)
    assert interoperate(release("a", fetch, stable), release("b", fetch, new), "kraft")
    last = served("Share", 900, "2", "broker", latestVersionUnstable=True)
    assert not interoperate(release("a", fetch, stable), release("b", fetch, last), "kraft")


def test_what_a_set_without_listeners_may_not_serve_is_not_missed() -> None:
    old = release("old", rpc("UpdateMetadata", 6, "0"), rpc("Vote", 52, "0"))
    zk = served("UpdateMetadata", 6, "0-1", "zkBroker"), served("Other", 900, "0", "zkBroker")
    assert interoperate(old, release("new", *zk, served("Vote", 52, "0-1", "controller")), "zookeeper")
    assert not interoperate(old, release("new", *zk, served("Vote", 52, "1", "controller")), "zookeeper")
    assert not interoperate(old, release("new", *zk), "zookeeper")


# What a step changes for clients


def changes(old: UpgradeRelease, new: UpgradeRelease, mode: Mode = "kraft") -> list[tuple[object, ...]]:
    return [astuple(change) for change in step_changes(old, new, mode)]


def test_a_listener_that_went_is_a_warning_while_another_serves() -> None:
    old, new = (
        release("x", served("Leave", 64, "0-1", *names)) for names in (("broker", "controller"), ("controller",))
    )
    assert changes(old, new) == [("Leave", 64, "listener-removed", "support", "0-1", ("broker",))]
    assert changes(new, old) == [("Leave", 64, "listener-added", "none", "0-1", ("broker",))]
    assert upgrade_path([old, new]).steps[0].changes == tuple(step_changes(old, new, "kraft"))


def test_the_last_listener_that_went_is_an_obstacle() -> None:
    fetch = served("Fetch", 1, "0", "zkBroker", "broker")
    old, new = (release(name, fetch, served("Leave", 64, "0-1", name)) for name in ("broker", "zkBroker"))
    assert not interoperate(old, new, "kraft")
    (gone,) = direct(in_mode(old, "kraft"), new).blockers
    assert (gone.name, gone.kind, gone.listeners) == ("Leave", "gone", ("broker",))


def test_a_listener_counts_in_its_own_mode() -> None:
    fetch = served("Fetch", 1, "0", "zkBroker", "broker"), served("Other", 900, "0", "zkBroker")
    old, new = (
        release("x", *fetch, served("Leave", 64, "0", *names)) for names in (("zkBroker",), ("zkBroker", "broker"))
    )
    assert changes(old, new, "zookeeper") == []
    assert changes(old, new) == [("Leave", 64, "listener-added", "none", "0", ("broker",))]


def test_a_set_without_listeners_lost_and_gained_none() -> None:
    assert changes(release("old", rpc("Fetch", 1, "0")), release("new", served("Fetch", 1, "0", "broker"))) == []


def test_deprecated_versions_concern_clients() -> None:
    old, new = (
        release(
            "x",
            served("Fetch", 1, "0-9", "broker", deprecatedVersions=deprecated),
            served("WriteTxnMarkers", 27, "0-9", "broker", deprecatedVersions=deprecated),
        )
        for deprecated in ("0-1", "0-3")
    )
    assert changes(old, new) == [("Fetch", 1, "deprecated", "none", "2-3", ())]
    assert changes(new, old) == [("Fetch", 1, "undeprecated", "none", "2-3", ())]


# Paths


def test_the_way_from_zookeeper_to_kraft(three: list[UpgradeRelease]) -> None:
    path = upgrade_path(three)
    assert path.found
    assert path.path == ("ancient", "bridge", "modern")
    assert path.steps == (
        Step("upgrade", "ancient", "bridge", "zookeeper", (StepChange("Fetch", 1, "deprecated", "none", "0-3"),)),
        Step("migrate", "bridge", "bridge", "kraft"),
        Step("upgrade", "bridge", "modern", "kraft"),
    )


def test_what_stands_in_the_way_of_the_jump(three: list[UpgradeRelease]) -> None:
    result = upgrade_path(three).direct
    assert (result.possible, result.modes) == (False, ())
    assert [(blocker.name, blocker.kind, blocker.old, blocker.new) for blocker in result.blockers] == [
        ("Fetch", "no-common-version", "0-3", "4-6"),
        ("LeaderAndIsr", "gone", "0-1", None),
        ("UpdateMetadata", "gone", "0", None),
        ("WriteTxnMarkers", "no-common-version", "0", "1-2"),
    ]


def test_no_path(three: list[UpgradeRelease]) -> None:
    path = upgrade_path([three[0], three[2]])
    assert (path.found, path.path, path.steps, path.furthest) == (False, (), (), "ancient")


def test_no_path_says_how_far_one_gets(three: list[UpgradeRelease]) -> None:
    last = release("last", served("Fetch", 1, "9", "broker"))
    assert upgrade_path([*three, last]).furthest == "modern"


def test_the_first_mode_can_be_chosen(three: list[UpgradeRelease]) -> None:
    assert len(upgrade_path(three[1:]).steps) == 1
    assert [step.kind for step in upgrade_path(three[1:], "zookeeper").steps] == ["migrate", "upgrade"]
    assert not upgrade_path(three[1:], "zookeeper").direct.possible


@pytest.mark.parametrize("ranges", [("0-1", "1-3", "1-4", "3-5"), ("0-1", "1-5", "1-4", "4-5")])
def test_of_several_short_paths_the_one_furthest_ahead(ranges: tuple[str, ...]) -> None:
    sets = [release(f"r{number}", served("Fetch", 1, valid, "broker")) for number, valid in enumerate(ranges)]
    assert upgrade_path(sets).path == ("r0", "r2", "r3")


def test_one_release_alone(three: list[UpgradeRelease]) -> None:
    path = upgrade_path(three[:1])
    assert (path.found, path.path, path.steps) == (True, ("ancient",), ())


def test_every_edge_is_a_pair_that_interoperates(three: list[UpgradeRelease]) -> None:
    edges = {
        (three[a].name, three[b].name, mode)
        for (a, mode), stops in make_graph(three).items()
        for b, _ in stops
        if a != b
    }
    assert edges == {("ancient", "bridge", "zookeeper"), ("bridge", "modern", "kraft")}
    assert all(interoperate(old, new, mode) == ((old.name, new.name, mode) in edges)
               for old, new in pairwise(three) for mode in ("zookeeper", "kraft"))  # fmt: skip
