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


def below(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": data for name, data in files.items()}


OTHERS = {"README.md": b"x", "X.json.orig": b"{", "package.json": PACKAGE, "data.json": b'{"a": 1}'}
BROKEN = {"Broken.json": b'{ "validVersions": '}
Y = {"YRequest.json": request("Y", 2), "YResponse.json": response("Y", 2)}
UNCLEAR = [("bytes.json", "syntax/not-utf8"), ("empty.json", "syntax/empty-file")]


def differ(*folders: str) -> list[tuple[str, str]]:
    return [(f"{folder}/XResponse.json", DIFFER) for folder in folders]


@pytest.mark.parametrize(
    ("files", "words", "expected"),
    [
        (below("set", PAIR), ["set"], differ("set")),
        (PAIR, [], [("XResponse.json", DIFFER)]),
        (PAIR, ["."], [("XResponse.json", DIFFER)]),
        # Each directory is a set of its own.
        (
            {"a/XRequest.json": request(), "b/XResponse.json": response()},
            ["."],
            [("a/XRequest.json", "rpc/response-missing"), ("b/XResponse.json", "rpc/request-missing")],
        ),
        (below("a/d", PAIR) | below("b/d", PAIR) | below("c", CLEAN), ["."], differ("a/d", "b/d")),
        (below("a/d", PAIR) | below("b/d", PAIR) | below("c", CLEAN), ["b", "c", "a"], differ("a/d", "b/d")),
        (below("a", CLEAN) | below("b", CLEAN), ["."], []),
        # What is hidden, or not kiplint's, is not walked, but can be named.
        *((below("a", CLEAN) | below(name, PAIR), ["."], []) for name in (".git", ".hidden", "node_modules")),
        *((below("a", CLEAN) | below(name, PAIR), [name], differ(name)) for name in (".hidden", "node_modules")),
        (CLEAN | OTHERS | {"lib/package.json": PACKAGE}, ["."], []),
        # What is too broken to tell counts beside definitions.
        (CLEAN | {"empty.json": b"", "bytes.json": b"\xff\xff"}, ["."], UNCLEAR),
        (CLEAN | {"other/package.json": PACKAGE, "other/empty.json": b""}, ["."], []),
        # A file is read with its siblings, and reported alone.
        (PAIR | BROKEN | OTHERS, ["XRequest.json"], [("XRequest.json", DIFFER)]),
        (PAIR | BROKEN | OTHERS, ["XResponse.json"], [("XResponse.json", DIFFER)]),
        (
            PAIR | BROKEN | OTHERS,
            ["XResponse.json", "Broken.json"],
            [("Broken.json", "syntax/invalid-json"), ("XResponse.json", DIFFER)],
        ),
        (
            below("a", PAIR) | below("b", PAIR),
            ["b/XResponse.json", "a/XResponse.json", "a/XRequest.json"],
            differ("a", "b"),
        ),
        # A single file misses nothing; one beside others misses its response.
        ({"XRequest.json": request()}, ["XRequest.json"], []),
        ({"XRequest.json": request()}, ["."], [("XRequest.json", "rpc/response-missing")]),
        ({"XRequest.json": request(), **Y}, ["XRequest.json"], [("XRequest.json", "rpc/response-missing")]),
    ],
)
def test_what_is_read(
    tmp_path: Path, files: dict[str, bytes], words: list[str], expected: list[tuple[str, str]]
) -> None:
    write(tmp_path, files)
    result = check(*words, cwd=tmp_path)
    assert (rules(result), result.code, result.err) == (expected, bool(expected), "")


def test_the_summary_counts_definitions_that_were_requested(tmp_path: Path) -> None:
    write(tmp_path, CLEAN | OTHERS | BROKEN)
    for words, counts in ((["."], (3, 2, 1)), (["XRequest.json", "Broken.json"], (2, 1, 1))):
        summary = json.loads(kiplint("check", *words, "--output-format", "json", cwd=tmp_path).out)["summary"]
        assert (summary["files"], summary["messages"], summary["errors"]) == counts


def test_standard_input(tmp_path: Path) -> None:
    result = check("-", cwd=tmp_path, stdin=definition(field("A", "int3")))
    assert rules(result) == [("<stdin>", "fields/unknown-type")]
    assert check("-", cwd=tmp_path, stdin=request()) == (0, "", "")
    assert rules(check("-", cwd=tmp_path)) == [("<stdin>", "syntax/empty-file")]
    result = kiplint("check", "-", cwd=tmp_path, stdin=PACKAGE)
    assert result == (2, "", "error: <stdin> is JSON, but not a message definition (it has no validVersions)\n")


def test_named_files_that_are_no_definitions_are_skipped_with_a_note(tmp_path: Path) -> None:
    """Hooks name each JSON file that a commit changes."""
    config = b'{"compilerOptions": {"strict": true,},}'  # as a compiler takes it
    others = {"package.json": PACKAGE, "others/tsconfig.json": config, "list.json": b"[1, 2"}
    write(tmp_path, others | below("schemas", PAIR))
    result = check("package.json", cwd=tmp_path)
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "nothing was checked: there is no definition, or the configuration excludes all\n"
        "package.json is JSON, but not a message definition (it has no validVersions)\n"
    )
    result = check(*others, "schemas/XResponse.json", cwd=tmp_path)
    assert rules(result) == [("schemas/XResponse.json", DIFFER)]
    names = "list.json, package.json, others/tsconfig.json"
    assert result.err == f"{names} are JSON, but not message definitions (they have no validVersions)\n"
    for command in ("show", "diff"):  # of which each needs a set
        result = kiplint(command, "package.json", "package.json", cwd=tmp_path)
        assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize(
    "data",
    [
        b'{"name": "XRequest", "type": "request", "fields": []}',
        b'{"name": "XRequest", "fields": [],}',
        b'{"apiKey": 1, "fields": []}',
    ],
)
def test_a_named_file_with_some_keys_of_a_definition_is_one(tmp_path: Path, data: bytes) -> None:
    write(tmp_path, {"schemas/XRequest.json": data})
    result = check("schemas/XRequest.json", cwd=tmp_path)
    assert (result.code, {path for path, _ in rules(result)}) == (1, {"schemas/XRequest.json"})


LARGE = b'{"name": "Large%d", "versions": "0+", "type": "int8", "about": "' + b"x" * 500 + b'"}'


def test_a_large_definition_does_not_vanish(tmp_path: Path) -> None:
    """The properties that tell it come after its fields, beyond what is read of it."""
    fields = b", ".join(LARGE % number for number in range(2_500))
    large = b'{"fields": [' + fields + b'], "name": "LargeData", "type": "data", "validVersions": "0"}'
    unclear = b'{"rows": [' + fields + b'], "name": "UnclearData", "type": "data", "validVersions": "0"}'
    assert len(large) > 1 << 20
    write(tmp_path, CLEAN | {"LargeData.json": large, "UnclearData.json": unclear, "list.json": b"[1]," * 300_000})
    result = check(".", cwd=tmp_path)
    assert rules(result) == [("LargeData.json", "syntax/too-large")]
    assert (
        result.err
        == "not checked, as only the first 1 MiB are read and have no definition: UnclearData.json, list.json\n"
    )


MEMORY = "/proc/self/mem"
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and names of any bytes")


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ("missing", "no such file or directory: missing"),
        ("set missing", "no such file or directory: missing"),
        ("missing/X.json", "no such file or directory: missing/X.json"),
        ("a\nb", "no such file or directory: a\\u000ab"),
        ("empty", "nothing to check: no message definition in empty"),
        ("others", "nothing to check: no message definition in others"),
        ("loop.json", "cannot read loop.json: it is a symbolic link"),
        ("dangling.json", "cannot read dangling.json: it is a symbolic link"),
        ("pipe.json", "cannot read pipe.json: it is not a file"),
        ("/dev/null", "cannot read /dev/null: it is not a file"),
        pytest.param(MEMORY, f"cannot read {MEMORY}: Input/output error", marks=needs_linux),
    ],
)
def test_what_cannot_be_checked(tmp_path: Path, names: str, problem: str) -> None:
    """Nothing else is reported either."""
    write(tmp_path, {"package.json": PACKAGE, "others/package.json": PACKAGE} | below("set", PAIR))
    (tmp_path / "empty").mkdir()
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "dangling.json").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.json")
    assert kiplint("check", *names.split(" "), cwd=tmp_path) == (2, "", f"error: {problem}\n")


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


@needs_linux
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


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--select", "tags/gpa"], "no rule matches tags/gpa; did you mean tags/gap?"),
        (["--severity", "tags"], "--severity tags: expected RULE=LEVEL, such as style/about-missing=error"),
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
