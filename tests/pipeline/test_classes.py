"""An archive of classes for the JVM's start: when it is made, when it is used, and that it does no harm."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kiplint.pipeline.classes import FIRST, LEFT, forget_unused, is_listing, key_of, make_archive, options_of
from kiplint.pipeline.java import java_home

KEY = "0123456789ab"


def _key(tmp_path: Path, home: str = "java-1", version: str = "4.3.0", options: str = "-X", **asked: str) -> str | None:
    (tmp_path / "jars").mkdir(exist_ok=True)
    named = {name.replace("_", "."): value for name, value in asked.items()}
    return key_of(tmp_path / home, tmp_path, version, options, named, {"CLASSPATH": "", "HOME": "/"})


def test_what_an_archive_is_of(tmp_path: Path) -> None:
    other = {"home": "java-2"}, {"version": "4.3.1"}, {"options": "-Y"}, {"spark_driver_memory": "4g"}
    keys = [_key(tmp_path), *(_key(tmp_path, **one) for one in other)]
    os.utime(tmp_path / "jars", (1, 1))
    assert len({*keys, _key(tmp_path)} - {None}) == 6
    assert _key(tmp_path, spark_sql_shuffle="1") == _key(tmp_path)


@pytest.mark.parametrize("name", ["spark_driver_extraClassPath", "spark_driver_extraJavaOptions", "spark_jars"])
def test_none_where_the_user_says_what_the_jvm_gets(tmp_path: Path, name: str) -> None:
    assert _key(tmp_path, **{name: "x"}) is None


def test_none_where_the_environment_says_so(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    assert key_of(tmp_path, tmp_path, "1", "", {}, {"JAVA_TOOL_OPTIONS": "-Xint"}) is None
    assert key_of(tmp_path, tmp_path / "jars", "1", "", {}, {}) is None


def test_the_fourth_start_and_later_ones_write_a_list(tmp_path: Path) -> None:
    found = [start for start in range(1, 18) if is_listing(options_of(tmp_path, KEY))]
    assert found == [FIRST, 2 * FIRST, 4 * FIRST]


def test_none_where_java_would_take_the_name_for_two_or_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "a:b").mkdir()
    assert {options_of(place, KEY) for place in (tmp_path / "a:b", tmp_path / "nowhere") for _ in range(FIRST)} == {()}


def test_files_that_others_name_are_not_touched(tmp_path: Path) -> None:
    for name in ("mine.classes", "mine.jsa", f"spark-{KEY}.classes"):
        (tmp_path / name).write_text("")
        words = [f"-XX:DumpLoadedClassList={tmp_path / name}", f"-XX:SharedArchiveFile={tmp_path / name}"]
        assert not is_listing(words)
        forget_unused(words[: 1 + (name == "mine.jsa")], lambda: "mixed mode")
        make_archive(Path("false"), words, "")
    assert len(list(tmp_path.iterdir())) == 3


def test_what_is_left_behind_is_removed_and_two_archives_stay(tmp_path: Path) -> None:
    token = "0" * 16
    ages = {
        "spark-aaaaaaaaaaaa.jsa": 3.0,
        "spark-bbbbbbbbbbbb.jsa": 2.0,
        "spark-cccccccccccc.jsa": 1.0,
        f"spark-aaaaaaaaaaaa.{token}.jsa": LEFT + 60,
        f"spark-bbbbbbbbbbbb.{token}.classes": LEFT + 60,
        f"spark-cccccccccccc.{token}.classes": 60,
        "spark-aaaaaaaaaaaa.starts": LEFT + 60,
        "spark-bbbbbbbbbbbb.starts": 100 * 86400,
        "spark-theirs.jsa": 100 * 86400,
    }
    for name, age in ages.items():
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (os.stat(tmp_path / name).st_mtime - age,) * 2)
    make_archive(Path("false"), [f"-XX:DumpLoadedClassList={tmp_path}/spark-{KEY}.{token}.classes"], "")
    gone = {*list(ages)[0:1], *list(ages)[3:5], "spark-bbbbbbbbbbbb.starts"}
    assert {file.name for file in tmp_path.iterdir()} == ages.keys() - gone


def _says(java: Path, options: Sequence[str]) -> tuple[str, str]:
    done = subprocess.run([java, *options, "-version"], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def test_java_takes_what_it_has_made_and_nothing_else(tmp_path: Path) -> None:
    java = java_home(tmp_path / "own cache") / "bin" / "java"
    plain = _says(java, ["-Xshare:off"])
    for _ in range(FIRST):
        options = options_of(tmp_path, KEY)
    assert _says(java, options)[0] == ""
    make_archive(java, options, str(tmp_path / "nothing.jar"))
    archive = tmp_path / f"spark-{KEY}.jsa"
    assert [file.name for file in tmp_path.glob("spark-*")] == [archive.name]
    options = options_of(tmp_path, KEY)
    said = _says(java, options)
    assert "sharing" in said[1]
    assert (said[0], said[1].replace(", sharing", "")) == plain
    whole = archive.read_bytes()
    for spoilt in (whole[: len(whole) // 2], b"garbage" * 1000, b"", whole[:8] + bytes(8) + whole[16:]):
        archive.unlink(missing_ok=True)
        archive.write_bytes(spoilt)
        assert _says(java, options) == plain
    forget_unused(options, lambda: plain[1])
    assert not is_listing(options_of(tmp_path, KEY))
    assert not archive.exists()
