"""Bundles: unpacked once, and removed afterwards."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kiplint.sources import cleanup
from sources.support import GOOD, commit, error, git, paths, sets, write


@pytest.fixture
def bundle(kafka: Path, elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of two releases in a directory apart; unpacked bundles go to `temporary`."""
    commit(kafka, {"metadata/B.json": GOOD}, "2.0.0")
    git(kafka, "bundle", "create", "-q", str(elsewhere / "a bundle.bundle"), "HEAD", "--branches", "--tags")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return elsewhere / "a bundle.bundle"


def test_shared_by_all_and_removed(bundle: Path, tmp_path: Path) -> None:
    name = bundle.name
    assert paths("1.0.0:metadata", repository=name) == ["1.0.0:metadata/TopicRecord.json"]
    assert len(paths("trunk:metadata", "HEAD:metadata", repository=str(bundle))) == 4
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    cleanup.close()
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(paths("2.0.0:", repository=name)) == 4


def test_removed_at_a_regular_exit(bundle: Path, tmp_path: Path) -> None:
    program = (
        "from kiplint.sources.open import open_sets\n"
        f"print(len(list(open_sets(['1.0.0:'], bool, repository={str(bundle)!r}))))"
    )
    env = {"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(tmp_path / "temporary"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_errors(bundle: Path) -> None:
    assert error("1.0.1:", repository=bundle.name) == "no such revision: 1.0.1; did you mean 1.0.0?"
    assert error(bundle.name) == (
        "a bundle.bundle is a git bundle: name a revision (REV:path), and the bundle as its repository"
    )
    write(bundle.parent, {"cut.bundle": bundle.read_bytes()[:-30], "no.bundle": b"# v2 git bundle\nrubbish\n"})
    for name in ("cut.bundle", "no.bundle"):
        assert error("1.0.0:", repository=name).startswith(f"cannot read the bundle {name}: ")


def test_bundle_that_builds_on_other_commits(kafka: Path, tmp_path: Path) -> None:
    commit(kafka, {"metadata/B.json": GOOD}, "2.0.0")
    git(kafka, "bundle", "create", "-q", "part.bundle", "1.0.0..trunk")
    line = error("trunk:", repository="part.bundle")
    assert line == "cannot read the bundle part.bundle: Repository lacks these prerequisite commits:"


def test_the_real_history(corpus: Path) -> None:
    bundle = str(corpus / "kafka-schema-history.bundle")
    result = sets("2.8.0:", "3.0.0:", repository=bundle)
    assert [
        (open_set.directory, len(open_set.files)) for open_set in result if open_set.relative.startswith("clients")
    ] == [
        ("2.8.0:clients/src/main/resources/common/message", 136),
        ("3.0.0:clients/src/main/resources/common/message", 144),
    ]
