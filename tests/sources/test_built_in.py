"""The built-in releases say what the definitions of Kafka's releases say, and nothing in Kafka's words."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from conftest import ROOT
from kiplint.codec.codec import Codec
from kiplint.compat.tree import Tree, load, make_tree
from kiplint.model.layout import layout_intervals, lines
from kiplint.sources.built_in import built_in, find_release, release_tree
from kiplint.sources.repository import open_repository

sys.path.insert(0, str(ROOT / "scripts"))

import make_releases
from make_corpus import PLACES

RELEASES = [*built_in().origins]


def built_in_release(release: str) -> Tree:
    files = release_tree(release)
    sets = files.sets(lambda path: True).sets
    return make_tree(release, [(item.relative, [(file.path, file.data) for file in item.files]) for item in sets])


@pytest.mark.parametrize(
    ("name", "release"),
    [("4.1", "4.1.2"), ("4.1.0", "4.1.0"), ("3.9", "3.9.2"), ("4", ""), ("4.1.9", ""), ("4.1.", ""), ("trunk", "")],
)
def test_names_of_releases(name: str, release: str) -> None:
    assert find_release(name) == release


def test_a_name_is_no_beginning_of_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    later = msgspec.structs.replace(built_in(), origins=dict.fromkeys(("4.1.0", "4.9.0", "4.10.0"), ""))
    monkeypatch.setattr("kiplint.sources.built_in.built_in", lambda: later)
    assert [find_release(name) for name in ("4.1", "4.9", "4.10")] == ["4.1.0", "4.9.0", "4.10.0"]


def test_every_release_is_there() -> None:
    assert (len(RELEASES), RELEASES[0], RELEASES[-1]) == (60, "2.2.0", "4.4.0")


def test_the_facts_are_those_of_the_release(corpus: Path) -> None:
    """Equal definitions but for texts, so equal models; a definition that several releases have is compared once."""
    checked_texts: set[tuple[bytes, bytes]] = set()
    repository = open_repository(corpus / "kafka-releases.bundle")
    for release in RELEASES:
        source = load(f"{release}:", repository)
        expected = {
            message.file: message
            for message in source.messages
            if message.file.removeprefix(f"{release}:").startswith(PLACES)
        }
        actual = {message.file: message for message in built_in_release(release).messages}
        assert actual.keys() == expected.keys()
        for path, message in actual.items():
            original = expected[path]
            if (message.data, original.data) in checked_texts:
                continue
            checked_texts.add((message.data, original.data))
            assert b'"about"' not in message.data
            assert message.spec == make_releases.without_texts(original.spec)
            assert message.is_in_flux is original.is_in_flux
            assert layout_intervals(message) == layout_intervals(original)
            for versions in layout_intervals(message):
                bodies = [Codec(item, versions.lowest).body for item in (message, original)]
                assert [*lines(bodies[0])] == [*lines(bodies[1])]
    assert len(checked_texts) > 1_000


def test_the_file_is_made_again_with_the_same_bytes(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "releases.json.xz"
    monkeypatch.setattr(sys, "argv", ["make_releases.py", str(corpus / "kafka-releases.bundle"), "--out", str(file)])
    make_releases.main()
    assert capsys.readouterr().out.startswith("60 releases: ")
    assert file.read_bytes() == make_releases.OUT.read_bytes()


def test_since_when_versions_are_there() -> None:
    rows = {
        key: [(row.versions, row.since, row.stable_since) for row in rows] for key, rows in built_in().since.items()
    }
    assert rows["ApiVersionsRequest"] == [
        ("0-2", "2.2.0", "2.2.0"),
        ("3", "2.4.0", "2.4.0"),
        ("4", "3.9.0", "3.9.0"),
        ("5", "4.4.0", "4.4.0"),
    ]
    assert rows["ShareGroupHeartbeatRequest"] == [
        ("0", "3.9.0", ""),
        ("1", "4.1.0", "4.1.0"),
    ]
    assert rows["RegisterBrokerRecord"][0][:2] == ("0", "2.8.0")
    assert rows["AlterIsrRequest"] == rows["AlterPartitionRequest"]
