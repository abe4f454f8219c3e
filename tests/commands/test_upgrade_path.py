"""`kiplint upgrade-path`, and real releases."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from kiplint.commands.upgrade_path.run import upgrade_path as plan
from kiplint.compat.tree import load
from kiplint.compat.upgrade import UpgradePath, UpgradeRelease, interoperate, make_release, upgrade_path
from kiplint.sources.history import version_key, version_tags
from tools import Ran, definition, kiplint

FIRST, LAST, BRIDGE = "2.4.0", "confluent-8.3.0", "3.9.0-rc3"
ZOOKEEPER_RPCS = {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}


@pytest.fixture(scope="module")
def releases(history: Path) -> dict[str, UpgradeRelease]:
    return {tag: make_release(tag, load(f"{tag}:", str(history)).main) for tag in version_tags(str(history))}


# Real releases


def test_tags_come_in_the_order_of_versions(history: Path) -> None:
    tags = version_tags(str(history))
    assert len(tags) == 48
    assert (tags[:2], tags[-6:-3]) == (["2.2.0", "2.2.1"], ["3.8.0", BRIDGE, "confluent-8.0.0"])
    assert sorted(["4.0.0", "4.0.0-rc1", "v3.10.0", "4.0.0-rc0", "3.9.1"], key=version_key) == [
        "3.9.1", "v3.10.0", "4.0.0-rc0", "4.0.0-rc1", "4.0.0",
    ]  # fmt: skip


def test_the_path_to_kafka_4(releases: dict[str, UpgradeRelease]) -> None:
    tags = list(releases)
    path = upgrade_path([releases[tag] for tag in tags[tags.index(FIRST) :]])
    assert path.path == (FIRST, BRIDGE, LAST)
    assert [(step.kind, step.mode) for step in path.steps] == [
        ("upgrade", "zookeeper"),
        ("migrate", "kraft"),
        ("upgrade", "kraft"),
    ]
    for step in path.steps:
        if step.kind == "upgrade":
            assert interoperate(releases[step.source], releases[step.target], step.mode)


def test_the_jump_to_kafka_4(releases: dict[str, UpgradeRelease]) -> None:
    path = upgrade_path([releases[FIRST], releases[LAST]])
    assert (path.found, path.direct.modes, path.furthest) == (False, (), FIRST)
    gone = {blocker.name for blocker in path.direct.blockers if blocker.kind == "gone"}
    others = [(blocker.name, blocker.old, blocker.new) for blocker in path.direct.blockers if blocker.kind != "gone"]
    assert (gone, others) == (ZOOKEEPER_RPCS, [("WriteTxnMarkers", "0", "1-2")])


def test_neighbouring_releases_interoperate(releases: dict[str, UpgradeRelease]) -> None:
    apart = [
        (old.name, new.name)
        for old, new in pairwise(releases.values())
        if not any(interoperate(old, new, mode) for mode in ("zookeeper", "kraft"))
    ]
    assert apart == []


def test_kafka_4_takes_kraft_clusters_from_3_3_on(releases: dict[str, UpgradeRelease]) -> None:
    able = [tag for tag, release in releases.items() if interoperate(release, releases["confluent-8.0.0"], "kraft")]
    assert able[0] == "3.3.0"
    assert next(tag for tag, release in releases.items() if release.migrates) == "3.4.0"


def test_kafka_3_7_deprecates_versions_of_23_requests(releases: dict[str, UpgradeRelease]) -> None:
    changes = upgrade_path([releases["3.6.0"], releases["3.7.0"]], "kraft").steps[0].changes
    assert [change.name for change in changes if change.kind == "listener-added"] == [
        "DescribeConfigs",
        "DescribeCluster",
    ]
    assert sum(change.kind == "deprecated" for change in changes) == len(changes) - 2 == 23


# The command


def run(repo: Path, *words: str | Path) -> Ran:
    return kiplint("upgrade-path", *words, cwd=repo / "fixtures/upgrade")


def test_text(repo: Path) -> None:
    ran = run(repo, "ancient", "modern", "--over", "bridge")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "From ancient to modern in 3 steps",
        "  1.  upgrade  ancient to bridge  in ZooKeeper mode",
        "  2.  migrate  bridge             from ZooKeeper to KRaft",
        "  3.  upgrade  bridge to modern   in KRaft mode",
        "",
        "What the steps change for clients",
        "  1. ancient to bridge",
        "     deprecated, for clients to leave:",
        "       Fetch 0-3",
        "",
        "Not in one step from ancient to modern",
        "  no common mode: one runs with ZooKeeper only, the other without it",
        "  2 RPCs without a common version:",
        "    Fetch 0-3 / 4-6, WriteTxnMarkers 0 / 1-2",
        "  2 RPCs no longer served:",
        "    LeaderAndIsr 0-1, UpdateMetadata 0",
    ]


def test_text_of_what_a_step_changes(history: Path, tmp_path: Path) -> None:
    ran = kiplint("upgrade-path", "2.8.0:", "3.0.0:", "--mode", "kraft", "--repo", history, cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines()[2:8] == [
        "",
        "What the steps change for clients",
        "  1. 2.8.0 to 3.0.0",
        "     no longer served by controller:",
        "       Metadata",
        "     no longer served by broker:",
    ]


def test_an_obstacle_names_the_listener_that_went(tmp_path: Path) -> None:
    for release, listener in (("old", "broker"), ("new", "zkBroker")):
        (tmp_path / release).mkdir()
        for name, key, listeners in (("Fetch", 1, ["broker"]), ("Leave", 64, [listener])):
            for kind in ("request", "response"):
                text = definition(
                    name=name + kind.capitalize(),
                    type=kind,
                    apiKey=key,
                    listeners=listeners if kind == "request" else None,
                )
                (tmp_path / release / f"{name}{kind}.json").write_bytes(text)
    ran = kiplint("upgrade-path", "old", "new", cwd=tmp_path)
    assert (ran.code, ran.out.splitlines()[-2:]) == (1, ["  1 RPC no longer served:", "    Leave 0-5 (by broker)"])


def test_no_path_is_exit_1(repo: Path) -> None:
    ran = run(repo, "ancient", "modern", "--over", "ancient", "--over", "modern")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("No path from ancient to modern\n")


def test_nothing_to_do(repo: Path) -> None:
    ran = run(repo, "modern", "modern", "--over", "ancient")
    assert (ran.code, ran.out) == (0, "From modern to modern: nothing to do\n")


def test_json_is_as_documented(repo: Path) -> None:
    ran = run(repo, "ancient", "modern", "--over", "bridge", "--output-format", "json")
    document = json.loads(ran.out)
    assert [*document] == [
        "version",
        "source",
        "target",
        "found",
        "path",
        "steps",
        "direct",
        "furthest",
        "mode",
        "assumed",
        "clients",
    ]
    assert document["path"] == ["ancient", "bridge", "modern"]
    assert msgspec.convert(document, UpgradePath).found


def test_all_tags(history: Path, tmp_path: Path) -> None:
    ran = kiplint("upgrade-path", FIRST, f"{LAST}:", "--tags", "--repo", history, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1:4] == [
        f"  1.  upgrade  2.4.0 to {BRIDGE}            in ZooKeeper mode",
        f"  2.  migrate  {BRIDGE}                     from ZooKeeper to KRaft",
        f"  3.  upgrade  {BRIDGE} to confluent-8.3.0  in KRaft mode",
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["ancient", "modern", "--tags", "--over", "bridge"],
            "the path goes over all tags or over the named sets, not both",
        ),
        (["ancient", "nowhere", "--over", "bridge"], "no such file or directory: nowhere"),
        (["modern", "ancient", "--over", "ancient", "--over", "modern"], "write upgrade-path ancient modern"),
        (["ancient", "modern", "--over", "bridge", "--mode", "kraft"], "ancient cannot run in KRaft mode"),
    ],
)
def test_usage(repo: Path, words: list[str], says: str) -> None:
    ran = run(repo, *words)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        (["2.4.00", LAST], "there is no tag 2.4.00; did you mean 2.4.0?"),
        ([LAST, FIRST], f"{LAST} comes after {FIRST}: write upgrade-path {FIRST} {LAST}"),
    ],
)
def test_usage_of_tags(history: Path, tmp_path: Path, ends: list[str], says: str) -> None:
    ran = kiplint("upgrade-path", *ends, "--tags", "--repo", history, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_no_repository(tmp_path: Path) -> None:
    ran = kiplint("upgrade-path", "1.0", "2.0", "--tags", "--repo", tmp_path, cwd=tmp_path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_clients_that_are_left_behind(history: Path, tmp_path: Path) -> None:
    words = ("3.9.0-rc3:", "confluent-8.0.0:", "--mode", "kraft", "--clients", "librdkafka@1.3.0,librdkafka@1.8.2")
    ran = kiplint("upgrade-path", *words, "--repo", history, cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.endswith(
        "Clients\n"
        "  librdkafka@1.3.0  left behind by step 1, confluent-8.0.0  ListOffsets\n"
        "  librdkafka@1.8.2  not left behind\n"
    )


def test_a_client_is_not_left_behind_by_what_it_could_never_use(history: Path) -> None:
    """The only ConsumerGroupHeartbeat of librdkafka 2.15 is newer than that of 3.9, and 2.4 has none."""
    result = plan("2.4.0:", "3.9.0-rc3:", clients="librdkafka@2.15.0", repository=history)
    assert [(client.step, client.status, client.lost) for client in result.path.clients] == [(None, "limited", ())]
    assert result.status == "ok"
