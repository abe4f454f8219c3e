"""`kiplint check`: what is read, what is reported, and the exit code."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import Ran, definition, field, kiplint

QUIET = "style,rpc/listeners-missing"
PACKAGE = b'{ "name": "package", "version": "1.0" }\n'


def request(name: str = "X", key: int = 1, valid: str = "0", *fields: dict[str, Any], **others: Any) -> bytes:
    return definition(*fields, name=f"{name}Request", apiKey=key, validVersions=valid, **others)


def response(name: str = "X", key: int = 1, valid: str = "0", *fields: dict[str, Any], **others: Any) -> bytes:
    return definition(*fields, name=f"{name}Response", type="response", apiKey=key, validVersions=valid, **others)


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def check(*words: str | bytes | Path, cwd: Path, **others: Any) -> Ran:
    """A check whose output is one line for each finding, without the rules that small definitions break."""
    return kiplint("check", *words, "--ignore", QUIET, "--output-format", "concise", cwd=cwd, **others)


def rules(result: Ran) -> list[tuple[str, str]]:
    """The file and the rule of each finding."""
    rows = [line.split() for line in result.out.splitlines()]
    return [(row[0].split(":")[0], row[2]) for row in rows]


DIFFER = "rpc/versions-differ"
PAIR = {"XRequest.json": request(valid="0-1"), "XResponse.json": response()}
CLEAN = {"XRequest.json": request(), "XResponse.json": response()}


# Sets


def test_a_directory(tmp_path: Path) -> None:
    write(tmp_path / "set", PAIR)
    assert rules(check("set", cwd=tmp_path)) == [("set/XResponse.json", DIFFER)]


def test_the_working_directory_when_nothing_is_named(tmp_path: Path) -> None:
    write(tmp_path, PAIR)
    assert rules(check(cwd=tmp_path)) == rules(check(".", cwd=tmp_path)) == [("XResponse.json", DIFFER)]
    assert kiplint("check", cwd=tmp_path).code == 1


def test_directories_are_sets_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, {"a/XRequest.json": request(), "b/XResponse.json": response()})
    assert rules(check(".", cwd=tmp_path)) == [
        ("a/XRequest.json", "rpc/response-missing"),
        ("b/XResponse.json", "rpc/request-missing"),
    ]


def test_a_tree_of_sets(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/deep/{name}": data for folder in ("a", "b") for name, data in PAIR.items()})
    write(tmp_path, {f"c/{name}": data for name, data in CLEAN.items()})
    expected = [("a/deep/XResponse.json", DIFFER), ("b/deep/XResponse.json", DIFFER)]
    assert rules(check(".", cwd=tmp_path)) == rules(check("b", "c", "a", cwd=tmp_path)) == expected


def test_the_same_names_and_keys_in_two_sets_are_fine(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/{name}": data for folder in ("a", "b") for name, data in CLEAN.items()})
    assert check(".", cwd=tmp_path) == (0, "", "")


@pytest.mark.parametrize("name", [".git", ".hidden", "node_modules"])
def test_directories_that_are_not_walked(tmp_path: Path, name: str) -> None:
    write(tmp_path, {f"a/{path}": data for path, data in CLEAN.items()})
    write(tmp_path, {f"{name}/{path}": data for path, data in PAIR.items()})
    assert check(".", cwd=tmp_path) == (0, "", "")
    assert rules(check(name, cwd=tmp_path)) == [(f"{name}/XResponse.json", DIFFER)]


def test_other_files_of_a_directory_are_not_definitions(tmp_path: Path) -> None:
    others = {"README.md": b"x", "X.json.orig": b"{", "package.json": PACKAGE, "data.json": b'{"a": 1}'}
    write(tmp_path, {**CLEAN, **others, "lib/package.json": PACKAGE})
    assert check(".", cwd=tmp_path) == (0, "", "")
    assert json.loads(kiplint("check", ".", "--output-format", "json", cwd=tmp_path).out)["summary"]["files"] == 2


def test_what_is_too_broken_to_tell_counts_beside_definitions(tmp_path: Path) -> None:
    write(tmp_path, {**CLEAN, "empty.json": b"", "bytes.json": b"\xff\xff"})
    assert rules(check(".", cwd=tmp_path)) == [("bytes.json", "syntax/not-utf8"), ("empty.json", "syntax/empty-file")]
    write(tmp_path / "other", {"package.json": PACKAGE, "empty.json": b""})
    assert rules(check(".", cwd=tmp_path)) == [("bytes.json", "syntax/not-utf8"), ("empty.json", "syntax/empty-file")]


# Files


def test_a_file_is_read_with_its_siblings_and_reported_alone(tmp_path: Path) -> None:
    write(tmp_path, {**PAIR, "Broken.json": b'{ "validVersions": ', "package.json": PACKAGE})
    assert rules(check("XRequest.json", cwd=tmp_path)) == [("XRequest.json", DIFFER)]
    assert rules(check("XResponse.json", cwd=tmp_path)) == [("XResponse.json", DIFFER)]
    assert rules(check("XResponse.json", "Broken.json", cwd=tmp_path)) == [
        ("Broken.json", "syntax/invalid-json"),
        ("XResponse.json", DIFFER),
    ]


def test_a_lone_file_misses_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": request()})
    assert check("XRequest.json", cwd=tmp_path) == (0, "", "")
    assert rules(check(".", cwd=tmp_path)) == [("XRequest.json", "rpc/response-missing")]


def test_a_file_beside_others_misses_its_other_half(tmp_path: Path) -> None:
    write(tmp_path, {"XRequest.json": request(), "YRequest.json": request("Y", 2), "YResponse.json": response("Y", 2)})
    assert rules(check("XRequest.json", cwd=tmp_path)) == [("XRequest.json", "rpc/response-missing")]


def test_files_of_several_directories(tmp_path: Path) -> None:
    write(tmp_path, {f"{folder}/{name}": data for folder in ("a", "b") for name, data in PAIR.items()})
    result = check("b/XResponse.json", "a/XResponse.json", "a/XRequest.json", cwd=tmp_path)
    assert rules(result) == [("a/XResponse.json", DIFFER), ("b/XResponse.json", DIFFER)]


def test_the_summary_counts_requested_files(tmp_path: Path) -> None:
    write(tmp_path, {**CLEAN, "Broken.json": b'{ "validVersions"'})
    words = ["check", "XRequest.json", "Broken.json", "--output-format", "json"]
    summary = json.loads(kiplint(*words, cwd=tmp_path).out)["summary"]
    assert (summary["files"], summary["messages"], summary["errors"]) == (2, 1, 1)


# Standard input


def test_standard_input(tmp_path: Path) -> None:
    result = check("-", cwd=tmp_path, stdin=definition(field("A", "int3")))
    assert rules(result) == [("<stdin>", "fields/unknown-type")]
    assert check("-", cwd=tmp_path, stdin=request()) == (0, "", "")


def test_standard_input_that_is_something_else(tmp_path: Path) -> None:
    result = kiplint("check", "-", cwd=tmp_path, stdin=PACKAGE)
    assert result == (2, "", "error: <stdin> is JSON, but not a message definition (it has no validVersions)\n")
    assert rules(check("-", cwd=tmp_path)) == [("<stdin>", "syntax/empty-file")]


# What cannot be checked


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing", "no such file or directory: missing"),
        ("missing/X.json", "no such file or directory: missing/X.json"),
        ("a\nb", "no such file or directory: a\\u000ab"),
        ("empty", "nothing to check: no message definition in empty"),
        ("others", "nothing to check: no message definition in others"),
        ("package.json", "package.json is JSON, but not a message definition (it has no validVersions)"),
        ("others/package.json", "others/package.json is JSON, but not a message definition (it has no validVersions)"),
        ("loop.json", "cannot read loop.json: it is not a file"),
        ("dangling.json", "cannot read dangling.json: it is not a file"),
        ("pipe.json", "cannot read pipe.json: it is not a file"),
        ("/dev/null", "cannot read /dev/null: it is not a file"),
    ],
)
def test_what_cannot_be_checked(tmp_path: Path, name: str, problem: str) -> None:
    write(tmp_path, {"package.json": PACKAGE, "others/package.json": PACKAGE})
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "dangling.json").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    assert kiplint("check", name, cwd=tmp_path) == (2, "", f"error: {problem}\n")


def test_nothing_is_reported_when_something_cannot_be_checked(tmp_path: Path) -> None:
    write(tmp_path, PAIR)
    assert kiplint("check", ".", "missing", cwd=tmp_path) == (2, "", "error: no such file or directory: missing\n")


UNREADABLE = Path("/proc/self/mem")


@pytest.mark.skipif(not UNREADABLE.exists(), reason="needs Linux's /proc")
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    problem = f"error: cannot read {UNREADABLE}: Input/output error\n"
    assert kiplint("check", str(UNREADABLE), cwd=tmp_path) == (2, "", problem)


def test_links_that_go_round(tmp_path: Path) -> None:
    write(tmp_path / "set", CLEAN)
    (tmp_path / "set/again").symlink_to("..")
    (tmp_path / "set/loop.json").symlink_to("loop.json")
    (tmp_path / "set/gone.json").symlink_to("nowhere.json")
    note = "3 links not followed: set/again, set/gone.json, set/loop.json\n"
    assert check(".", cwd=tmp_path) == check("set", cwd=tmp_path) == (0, "", note)


def test_a_link_to_a_directory_can_be_named(tmp_path: Path) -> None:
    write(tmp_path / "set", PAIR)
    (tmp_path / "link").symlink_to("set")
    assert rules(check("link", cwd=tmp_path)) == [("link/XResponse.json", DIFFER)]


# Paths


@pytest.mark.parametrize(
    ("cwd", "words", "path"),
    [
        (".", ["a/b"], "a/b/XResponse.json"),
        (".", ["./a/../a/b/"], "a/b/XResponse.json"),
        ("a", ["b/XResponse.json"], "b/XResponse.json"),
        ("a/b", ["."], "XResponse.json"),
        ("a/b", ["../b"], "XResponse.json"),
        ("c", ["../a/b"], "../a/b/XResponse.json"),
        ("c", ["{0}/a/b"], "{0}/a/b/XResponse.json"),
        ("a", ["{0}/a/b"], "b/XResponse.json"),
    ],
)
def test_paths_are_relative_below_the_working_directory_else_as_given(
    tmp_path: Path, cwd: str, words: list[str], path: str
) -> None:
    write(tmp_path / "a/b", PAIR)
    (tmp_path / "c").mkdir()
    result = check(*(word.format(tmp_path) for word in words), cwd=tmp_path / cwd)
    assert rules(result) == [(path.format(tmp_path), DIFFER)]


def test_blanks_in_paths(tmp_path: Path) -> None:
    write(tmp_path / "my set", {"X Y.json": definition(field("A", "int3"))})
    for name in ("my set", "my set/X Y.json"):
        result = kiplint("check", name, "--select", "fields", "--output-format", "concise", cwd=tmp_path)
        assert result.out.startswith("my set/X Y.json:10:7: error fields/unknown-type ")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes any bytes")
@pytest.mark.parametrize("name", [b"set\xff", b"set\xff/X\xfe.json"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8:strict", "ascii"])
def test_paths_that_are_not_utf8(tmp_path: Path, name: bytes, encoding: str) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/set\xff")
    with open(os.fsencode(tmp_path) + b"/set\xff/X\xfe.json", "wb") as file:
        file.write(definition(field("A", "int3")))
    env = {"PYTHONIOENCODING": encoding}
    words = ["--select", "fields", "--output-format"]
    for output in ("text", "concise"):
        result = kiplint("check", name, *words, output, cwd=tmp_path, env=env)
        assert (result.code, result.err) == (1, "")
        assert "set\\udcff/X\\udcfe.json:10:7" in result.out
    (finding,) = json.loads(kiplint("check", name, *words, "json", cwd=tmp_path, env={}).out)["findings"]
    assert finding["path"] == r"set\udcff/X\udcfe.json"


# Exit codes and rules


WARNING = {"Tags.json": definition(field("A"), name="Tags", type="data", apiKey=None)}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 0),
        (["--fail-on", "error"], 0),
        (["--fail-on", "warning"], 0),
        (["--severity", "style/about-missing=warning", "--fail-on", "warning"], 1),
        (["--fail-on", "info"], 1),
        (["--fail-on", "never"], 0),
        (["--severity", "style/about-missing=error"], 1),
        (["--severity", "style/about-missing=error", "--fail-on", "never"], 0),
        (["--severity", "style/about-missing=info", "--fail-on", "warning"], 0),
        (["--severity", "style/about-missing=info", "--fail-on", "info"], 1),
        (["--severity", "style=off", "--fail-on", "info"], 0),
        (["--severity", "style=error,style/about-missing=off"], 0),
        (["--select", "tags", "--fail-on", "info"], 0),
        (["--select", "style/about-missing", "--fail-on", "info"], 1),
        (["--ignore", "style/*", "--fail-on", "info"], 0),
        (["--ignore", "tags", "--ignore", "style", "--fail-on", "info"], 0),
    ],
)
def test_exit_codes(tmp_path: Path, words: list[str], code: int) -> None:
    write(tmp_path, WARNING)
    result = kiplint("check", ".", *words, cwd=tmp_path)
    assert (result.code, result.err) == (code, "")


def test_infos_are_listed_when_asked(tmp_path: Path) -> None:
    write(tmp_path, WARNING)
    assert kiplint("check", cwd=tmp_path) == (0, "Found 1 info in 1 file; --all lists the infos.\n", "")
    result = kiplint("check", "--all", cwd=tmp_path)
    assert result.out.startswith("info[style/about-missing]: A has no about text")
    assert "--all" not in result.out
    (row,) = json.loads(kiplint("check", "--output-format", "json", cwd=tmp_path).out)["findings"]
    assert row["severity"] == "info"


def test_messages_of_tests_have_no_style(tmp_path: Path) -> None:
    tests = {f"clients/src/test/resources/common/message/{name}": data for name, data in WARNING.items()}
    write(
        tmp_path, tests | {"clients/src/main/resources/common/message/Other.json": definition(field("A"), name="Other")}
    )
    result = kiplint("check", ".", "--select", "style/about-missing", "--output-format", "concise", cwd=tmp_path)
    assert [line.partition(":")[0] for line in result.out.splitlines()] == [
        "clients/src/main/resources/common/message/Other.json"
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--select", "tags/gpa"], "no rule matches tags/gpa; did you mean tags/gap?"),
        (["--severity", "tags"], "--severity takes RULE=LEVEL, such as style/about-missing=error, not tags"),
        (["--config", "missing.toml"], "cannot read the configuration missing.toml: No such file or directory"),
    ],
)
def test_mistakes_in_options(tmp_path: Path, words: list[str], problem: str) -> None:
    write(tmp_path, WARNING)
    assert kiplint("check", ".", *words, cwd=tmp_path) == (2, "", f"error: {problem}\n")


@pytest.mark.parametrize("words", [["--sellect", "tags"], ["--select"], ["--all=1"]])
def test_options_that_do_not_exist(tmp_path: Path, words: list[str]) -> None:
    write(tmp_path, WARNING)
    result = kiplint("check", ".", *words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "Error: " in result.err or "Invalid value" in result.err
