"""Where baselines are read from and written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kiplint.engine.baseline import Baseline, read_baseline, render, write_baseline
from tools import complaint

SOME = Baseline(checked=("set",))


def test_there_and_back(tmp_path: Path) -> None:
    file = str(tmp_path / "baseline.json")
    assert read_baseline(file) is None
    write_baseline(SOME, file, str(tmp_path))
    assert read_baseline(file) == SOME
    assert os.listdir(tmp_path) == ["baseline.json"]


def test_paths_that_are_not_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, output in {
        str(tmp_path / "pipe"): "it is not a file",
        str(tmp_path): "Is a directory",
        "/dev/zero": "it is not a file",
        "nul\0": "there can be no file of that name",
    }.items():
        assert complaint(lambda name=name: read_baseline(name)) == f"cannot read the baseline {name}: {output}"  # type: ignore[misc]
        assert complaint(lambda name=name: write_baseline(SOME, name, None)) == (  # type: ignore[misc]
            f"cannot write the baseline {name}: {output}"
        )


def test_a_link_beside_it_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"untouched")
    (tmp_path / "baseline.json.new").symlink_to("victim")
    write_baseline(SOME, str(tmp_path / "baseline.json"), str(tmp_path))
    assert (tmp_path / "victim").read_bytes() == b"untouched"
    assert (tmp_path / "baseline.json.new").is_symlink()


@pytest.mark.parametrize("name", ["../victim.json", "link.json", "folder/victim.json"])
def test_a_configuration_names_no_file_outside_its_tree(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim.json").write_bytes(b"untouched")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link.json").symlink_to("../victim.json")
    (tree / "folder").symlink_to("..")
    file = str(tree / name)
    error = complaint(lambda: write_baseline(SOME, file, str(tree)))
    assert error == f"cannot write the baseline {file}: it is outside {tree}"
    assert (tmp_path / "victim.json").read_bytes() == b"untouched"
    write_baseline(SOME, file, None)
    assert (tmp_path / "victim.json").read_bytes() == render(SOME)


def test_a_link_inside_the_tree_stays(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    write_baseline(SOME, str(tmp_path / "link.json"), str(tmp_path))
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == render(SOME)


LICENCE = b"/* Licensed to nobody. */\n// Do as you like.\n\n"


def test_a_licence_comment_is_read_and_stays(tmp_path: Path) -> None:
    file = str(tmp_path / "known.json")
    write_baseline(SOME, file, None)
    (tmp_path / "known.json").write_bytes(LICENCE + (tmp_path / "known.json").read_bytes())
    assert read_baseline(file) == SOME
    write_baseline(Baseline(checked=("another",)), file, None)
    assert (tmp_path / "known.json").read_bytes().startswith(LICENCE + b"{")
    assert read_baseline(file) == Baseline(checked=("another",))


@pytest.mark.parametrize("text", [b"hello {", b"", b"// nothing else\n"])
def test_text_that_is_not_a_comment_does_not_stay(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "known.json").write_bytes(text)
    write_baseline(SOME, str(tmp_path / "known.json"), None)
    assert (tmp_path / "known.json").read_bytes().startswith(b"{")
