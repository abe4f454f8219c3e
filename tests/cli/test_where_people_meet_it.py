"""Options and defaults where people meet them (issue 11): modes, SASL, paths without a list, what is left out."""

from __future__ import annotations

import json
from pathlib import Path

from tools import definition, field, kiplint

DEFINITION = definition(field("A", "strnig"))


def test_negotiate_takes_the_mode_and_says_it(history: Path, tmp_path: Path) -> None:
    words = ("negotiate", "2.4.0:", "2.8.0:", "--repo", history)
    zookeeper = kiplint(*words, "--mode", "zookeeper", cwd=tmp_path)
    assert zookeeper.code == 0
    assert "  mode         ZooKeeper\n" in zookeeper.out
    assert "Not offered to clients" not in zookeeper.out
    kraft = kiplint(*words, "--mode", "kraft", cwd=tmp_path)
    assert "  mode         KRaft\n               only ZooKeeper mode serves InitProducerId" in kraft.out
    default = kiplint(*words, cwd=tmp_path)
    assert "  mode         ZooKeeper; for KRaft mode: --mode kraft\n" in default.out
    too_old = kiplint("negotiate", "2.4.0:", "2.7.0:", "--repo", history, "--mode", "kraft", cwd=tmp_path)
    assert (too_old.code, too_old.out) == (2, "")
    assert "2.7.0: cannot run in KRaft mode, only in ZooKeeper mode; leave --mode kraft out" in too_old.err


def test_negotiate_over_sasl(history: Path, tmp_path: Path) -> None:
    result = kiplint("negotiate", "2.4.0:", "3.5.0:", "--repo", history, "--sasl", cwd=tmp_path)
    assert "  SASL         first ApiVersions 0 (request header 1), then SaslHandshake" in result.out
    document = json.loads(
        kiplint(
            "negotiate", "2.4.0:", "3.5.0:", "--repo", history, "--sasl", "--output-format", "json", cwd=tmp_path
        ).out
    )
    assert document["exchanges"][0]["sasl"] == 0


def test_rollout_is_about_the_working_directory_by_default(repo: Path) -> None:
    folder = repo / "fixtures/kip-1313"
    assert kiplint("rollout", cwd=folder) == kiplint("rollout", ".", cwd=folder)
    assert kiplint("rollout", "a", "b", "c", cwd=folder).code == 2


def test_what_is_left_out_is_counted_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(DEFINITION)
    (tmp_path / "package.json").write_text('{"name": "x", "type": "module"}')
    result = kiplint("check", ".", cwd=tmp_path)
    assert "in 1 file; 1 file that is not a definition: package.json; " in result.out
    summary = json.loads(kiplint("check", ".", "--output-format", "json", cwd=tmp_path).out)["summary"]
    assert (summary["files"], summary["left_out"]) == (1, 1)


def test_an_empty_directory_beside_a_good_one_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "XRequest.json").write_bytes(DEFINITION)
    result = kiplint("check", "empty", "good", "--output-format", "concise", cwd=tmp_path)
    assert result.code == 1
    assert "good/XRequest.json" in result.out
    assert "nothing to check: no message definition in empty" in result.err
    alone = kiplint("check", "empty", cwd=tmp_path)
    assert (alone.code, alone.err) == (2, "error: nothing to check: no message definition in empty\n")
    both = kiplint("check", "empty", "empty/.", cwd=tmp_path)
    assert both.code == 2
