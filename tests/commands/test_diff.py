"""`kiplint diff`: what is compared, how it is written, and the exit code."""

from __future__ import annotations

import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint import diff as diff_of
from kiplint.compat.change import Both
from kiplint.model.message import Message
from kiplint.model.types import WIDTHS
from sources.support import commit, make_repository, write
from tools import Ran, definition, expanding, field, kiplint

FIXTURES = ROOT / "fixtures"
LAYOUT = FIXTURES / "compat/layout-changed"

A, B, C = field("A"), field("B"), field("C", "string")
ONE = {"message/XRequest.json": definition(A), "message/YRequest.json": definition(A, name="YRequest", apiKey=2)}
TWO = {**ONE, "message/XRequest.json": definition(A, B)}


def diff(*words: str | Path, cwd: Path, **others: Any) -> Ran:
    return kiplint("diff", *words, cwd=cwd, **others)


def concise(*words: str | Path, cwd: Path, **others: Any) -> list[str]:
    """The changes as `path rule`."""
    result = diff(*words, "--output-format", "concise", cwd=cwd, **others)
    rows = [line.split(" ", 3) for line in result.out.splitlines()]
    return [f"{row[0].rsplit(':', 3)[0]} {row[2].partition('/')[2]}" for row in rows]


def sides(where: Path, old: dict[str, bytes], new: dict[str, bytes]) -> Path:
    write(where / "old", old)
    write(where / "new", new)
    return where


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A directory with `old` and `new`, between which a field came into a released version."""
    return sides(tmp_path, ONE, TWO)


@pytest.fixture
def kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two tags, between which a field came into a released version."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    where = make_repository(tmp_path / "kafka", ONE)
    return commit(where, TWO, "2.0.0")


# Outputs


def test_text() -> None:
    result = diff("old", "new", "--isolated", cwd=LAYOUT)
    changes, _, verdict = result.out.removesuffix("\n").rpartition("\n")
    assert f"{changes}\n" == (ROOT / "tests/snapshots/compat/layout-changed.txt").read_text("utf-8")
    assert verdict.startswith("new compared with old: ")
    assert (result.code, result.err) == (1, "")


CHANGE = {
    "rule": "compat/layout-changed",
    "severity": "error",
    "breaks": "wire",
    "kind": "field-added",
    "message_name": "ListMovesResponse",
    "message_type": "response",
    "versions": "0",
    "field": "Moves.BytesLeft",
    "path": "new/ListMovesResponse.json",
    "line": 18,
    "column": 47,
    "end_line": 18,
    "end_column": 63,
    "old": {"layout": "TopicName compact string, PartitionIndex int32"},
    "new": {"layout": "TopicName compact string, PartitionIndex int32, BytesLeft int64"},
    "message": "ListMovesResponse 0, Moves.BytesLeft: BytesLeft was added to a released version",
    "pointer": "/fields/2/fields/2/versions",
    "source": "KIP-482, KIP-896 and the compatibility rules of Kafka's protocol guide",
    "fingerprint": "003e80ae4193815c429ae74bd4116944",
    "help": 'give BytesLeft "versions": "1+", then run `kiplint migrate bump ListMoves`',
    "fixable": False,
    "url": "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules/compat.md#compatlayout-changed",
}
COUNTS = {"wire": 1, "storage": 0, "support": 0, "semantics": 0, "source": 0, "none": 0, "accepted": 0}


def test_json() -> None:
    result = diff("old", "new", "--output-format", "json", cwd=LAYOUT)
    document = json.loads(result.out)
    first, second = document["changes"][0].pop("proof")
    assert (first["writer"], first["reader"], first["outcome"]) == ("new", "old", "misread")
    assert (second["writer"], second["reader"], second["outcome"]) == ("old", "new", "refused")
    assert (result.code, result.err) == (1, "")
    summary = {"messages": 2, "changes": 1, **COUNTS}
    assert document == {"version": 1, "changes": [CHANGE], "accepted": [], "findings": [], "summary": summary}


def test_markdown() -> None:
    result = diff("old", "new", "--output-format", "markdown", cwd=LAYOUT)
    table, proof = result.out.split("\nProof, by example messages:\n\n")
    assert (result.code, result.err) == (1, "")
    assert table == (
        "### new compared with old: 1 change breaks wire.\n"
        "\n"
        f"- {CHANGE['message']} (wire)\n"
        "\n"
        'To fix the first: give BytesLeft "versions": "1+", then run `kiplint migrate bump ListMoves`.\n'
        "\n"
        "| severity | breaks | rule | place | what |\n"
        "| --- | --- | --- | --- | --- |\n"
        f"| error | wire | compat/layout-changed | new/ListMovesResponse.json:18 | {CHANGE['message']}; give "
        'BytesLeft "versions": "1+", then run \\`kiplint migrate bump ListMoves\\` |\n'
    )
    assert [line[:50] for line in proof.splitlines()] == [
        "- ListMovesResponse, compat/layout-changed: new wr",
        "- ListMovesResponse, compat/layout-changed: old wr",
    ]


@pytest.mark.parametrize("form", ["text", "jsonl", "concise", "markdown"])
def test_nothing_changed(form: str) -> None:
    assert diff("old", "old", "--output-format", form, cwd=LAYOUT) == (0, "", "")


# Exit codes


@pytest.mark.parametrize(
    ("rule", "options", "code"),
    [
        ("version-dropped", (), 0),
        ("version-dropped", ("--fail-on-breaks", "support"), 1),
        ("default-changed", ("--severity", "compat/default-changed=error"), 1),
        ("new-version", ("--fail-on-breaks", "none"), 1),
        ("layout-changed", (), 1),
        ("layout-changed", ("--severity", "compat/layout-changed=warning", "--fail-on-breaks", "storage"), 0),
        ("layout-changed", ("--ignore", "compat/layout-changed"), 0),
        ("layout-changed", ("--select", "compat/new-*"), 0),
    ],
)
def test_exit_codes(rule: str, options: tuple[str, ...], code: int) -> None:
    assert diff("old", "new", *options, cwd=FIXTURES / "compat" / rule).code == code


def test_the_configuration_counts(pair: Path) -> None:
    (pair / "new/kiplint.toml").write_text('ignore = ["compat/layout-changed"]\n')
    assert diff("old", "new", cwd=pair) == (0, "", "")
    assert diff("old", "new", "--isolated", cwd=pair).code == 1


# Revisions


def test_two_revisions(kafka: Path) -> None:
    result = ["2.0.0:message/XRequest.json layout-changed"]
    assert concise("1.0.0:", "2.0.0:", cwd=kafka) == result
    assert concise("1.0.0:message", "2.0.0:message", cwd=kafka) == result
    assert concise("1.0.0:./", "2.0.0:./", cwd=kafka / "message") == result
    alone = concise("HEAD~1:message/XRequest.json", "HEAD:message/XRequest.json", cwd=kafka)
    assert alone == ["HEAD:message/XRequest.json layout-changed"]
    assert concise("2.0.0:", "HEAD:", cwd=kafka) == []


def test_a_revision_and_the_working_tree(kafka: Path) -> None:
    write(kafka, {"message/YRequest.json": definition(A, C, name="YRequest", apiKey=2)})
    assert concise("HEAD:", ".", cwd=kafka) == ["message/YRequest.json layout-changed"]
    assert concise("HEAD:", "message", cwd=kafka) == ["message/YRequest.json layout-changed"]


# Definitions that cannot be read


@pytest.mark.parametrize("text", [b'{"validVersions": ', b"", b'{"validVersions": "0"}', b'"\xff" validVersions'])
def test_an_unreadable_definition_is_named_and_the_rest_compared(pair: Path, text: bytes) -> None:
    (pair / "new/message/YRequest.json").write_bytes(text)
    result = diff("old", "new", "--output-format", "concise", cwd=pair)
    warning = "new/message/YRequest.json cannot be read, so it is not compared; see `kiplint check`"
    assert (result.code, result.err) == (2, f"warning: {warning}\n")
    assert [line.split()[2] for line in result.out.splitlines()] == ["compat/layout-changed"]


def test_a_message_that_is_too_large_does_not_hide_the_changes_of_others(tmp_path: Path) -> None:
    def files(kind: str) -> dict[str, bytes]:
        return {
            "XRequest.json": definition(field("A", kind)),
            "YRequest.json": expanding(kind, name="YRequest", apiKey=8),
        }

    sides(tmp_path, files("int32"), files("int64"))
    result = diff("old", "new", "--output-format", "concise", cwd=tmp_path)
    assert (result.code, result.err) == (2, "")
    assert [line.split(":")[0] for line in result.out.splitlines()] == ["new/XRequest.json", "new/YRequest.json"]
    failure = "YRequest cannot be compared: old/YRequest.json has more than 100,000 fields, with structs expanded"
    assert result.out.splitlines()[1].endswith(f"error compat/not-compared {failure}")
    result = diff("old", "new", "--output-format", "concise", "--ignore", "compat/not-compared", cwd=tmp_path)
    assert (result.code, result.err) == (2, f"warning: {failure}\n")


@pytest.mark.parametrize("part", ["compat.compare.version_changes", "compat.classify.proofs_of"])
def test_an_error_in_one_message_takes_no_report_of_the_others(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in the comparison or in a proof: it is raised with KIPLINT_DEBUG, and a finding of its message without."""

    def files(kind: str) -> dict[str, bytes]:
        return {
            f"{name}Request.json": definition(field("A", kind), name=f"{name}Request", apiKey=key)
            for key, name in enumerate("XY")
        }

    module_name, _, name = part.rpartition(".")
    module = import_module(f"kiplint.{module_name}")
    function = getattr(module, name)

    def fail_for_x(first: Both | Message, *others: object, **options: object) -> object:
        message = first if isinstance(first, Message) else first.head
        if message.name == "XRequest":
            raise KeyError("a bug")
        return function(first, *others, **options)

    monkeypatch.setattr(module, name, fail_for_x)
    sides(tmp_path, files("int32"), files("int64"))
    result = diff("old", "new", "--output-format", "concise", cwd=tmp_path, env={"KIPLINT_DEBUG": ""})
    assert (result.code, result.err) == (2, "")
    rows = [line.split(" ", 3) for line in result.out.splitlines()]
    of_x = ["compat/layout-changed"] if "classify" in part else []
    assert sorted(row[2] for row in rows if "XRequest" in row[0]) == [*of_x, "compat/not-compared"]
    assert [row[2] for row in rows if "YRequest" in row[0]] == ["compat/layout-changed"]
    (failure,) = (row[3] for row in rows if row[2] == "compat/not-compared")
    reason = "internal error, please report it: KeyError: 'a bug' (KIPLINT_DEBUG=1 shows where)"
    assert failure == f"XRequest cannot be compared: {reason}"
    monkeypatch.setenv("KIPLINT_DEBUG", "1")
    with pytest.raises(KeyError):
        diff_of(tmp_path / "old", tmp_path / "new")


@pytest.mark.parametrize("default", [None, "null"])
@pytest.mark.parametrize("kind", WIDTHS)
def test_what_cannot_be_null_is_never_written_as_null(kind: str, default: str | None, tmp_path: Path) -> None:
    """Kafka's generator refuses `nullableVersions` there; a diff still compares the bytes, and proves what breaks."""
    nullable = field("A", kind, nullableVersions="0+", **({"default": default} if default else {}))
    other = "int8" if kind != "int8" else "int16"
    sides(
        tmp_path,
        {"XRequest.json": definition(nullable, field("B", "int16"))},
        {"XRequest.json": definition({**nullable, "type": other}, field("B", "int16"))},
    )
    result = diff("old", "new", "--output-format", "json", cwd=tmp_path)
    change = next(change for change in json.loads(result.out)["changes"] if change["kind"] != "default-changed")
    assert (result.code, change["rule"], bool(change["proof"])) == (1, "compat/layout-changed", True)


# What cannot be opened


def test_a_file_and_a_directory_are_compared_in_what_the_file_has(tmp_path: Path) -> None:
    for side, versions in (("old", "0"), ("new", "0-1")):
        data = {name: definition(A, name=f"{name}Request", validVersions=versions) for name in "XYZ"}
        write(
            tmp_path / side, {f"{'raft' if name == 'Z' else 'clients'}/{name}Request.json": data[name] for name in data}
        )
    for names in (("old", "new/clients/XRequest.json"), ("old/clients/XRequest.json", "new")):
        result = kiplint("diff", *names, "--output-format", "json", cwd=tmp_path)
        document = json.loads(result.out)
        changes = [(change["message_name"], change["rule"]) for change in document["changes"]]
        assert changes == [("XRequest", "compat/new-version")]
        assert (result.code, document["summary"]["messages"]) == (0, 1)


def test_two_files_are_compared_in_all_that_both_have(tmp_path: Path) -> None:
    write(
        tmp_path,
        {f"{name}.json": definition(A, name=name, apiKey=key) for key, name in enumerate(("XRequest", "YRequest"))},
    )
    result = kiplint("diff", "XRequest.json", "YRequest.json", "--output-format", "json", cwd=tmp_path)
    changes = [(change["message_name"], change["kind"]) for change in json.loads(result.out)["changes"]]
    assert sorted(changes) == [("XRequest", "message-removed"), ("YRequest", "new-message")]


def rpc(name: str, key: int, *fields: dict[str, Any], **others: Any) -> dict[str, bytes]:
    """A request that a broker serves and its response, which has some fields."""
    request = {"type": "request", "listeners": ["zkBroker", "broker"], **others}
    halves = {"Request": ((), request), "Response": (fields, {"type": "response", "validVersions": "0-5", **others})}
    halves["Response"][1].pop("listeners", None)
    return {
        f"clients/{name}{half}.json": definition(*some, name=f"{name}{half}", apiKey=key, **properties)
        for half, (some, properties) in halves.items()
    }


def test_for_a_role(tmp_path: Path) -> None:
    """A client has no use for records and for RPCs among brokers, and who keeps data has none for RPCs."""
    old = rpc("Alpha", 1) | rpc("Inner", 9, listeners=["controller"])
    new = rpc("Alpha", 1, validVersions="2-5") | rpc("Inner", 9, listeners=["controller"], validVersions="1-5")
    for folder, files, kind in (("old", old, "int32"), ("new", new, "int64")):
        record = definition(field("A", kind), name="XRecord", type="metadata", apiKey=1)
        write(tmp_path / folder, {**files, "metadata/XRecord.json": record})

    def names(role: str) -> set[str]:
        return {line.split("/")[2].split(".json")[0] for line in concise("old", "new", "--for", role, cwd=tmp_path)}

    assert names("client") == {"AlphaRequest", "AlphaResponse"}
    assert names("broker") == {"AlphaRequest", "AlphaResponse", "InnerRequest", "InnerResponse"}
    assert names("storage") == {"XRecord"}


def test_older_sets_and_archives(kafka: Path, tmp_path: Path) -> None:
    tag = {"tag": 0, "taggedVersions": "3+"}
    with zipfile.ZipFile(tmp_path / "older.jar", "w") as jar:
        jar.writestr("message/XRequest.json", definition(A, field("Old", "string", "3+", **tag)))
    write(tmp_path, {"new/XRequest.json": definition(A, field("New", "int64", "3+", **tag))})
    words = ("1.0.0:message", tmp_path / "new")
    assert not any(line.endswith(" tag-reused") for line in concise(*words, cwd=kafka))
    assert any(line.endswith(" tag-reused") for line in concise(*words, "--also", tmp_path / "older.jar", cwd=kafka))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("missing", "message"), "no such file or directory: missing\n"),
        (("message", "1.0.1:"), "no such revision: 1.0.1; did you mean 1.0.0?\n"),
        (
            ("message", "message", "--also", "bad.jar"),
            "cannot read bad.jar: the archive is damaged (File is not a zip ",
        ),
        (("message", "message", "--fail-on-breaks", "wires"), "--fail-on-breaks: nothing breaks wires; did you mean "),
        (("message", "message", "--select", "compat/layout-chnged"), "no rule matches compat/layout-chnged; did you "),
        ((".", "message"), ". has 2 sets, message has one: name one of message, raft below ."),
    ],
)
def test_one_clear_line(kafka: Path, words: tuple[str, ...], problem: str) -> None:
    write(kafka, {"bad.jar": b"PK\x03\x04 and no more", "raft/ZRequest.json": definition(A, name="ZRequest", apiKey=3)})
    result = diff(*words, cwd=kafka)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(f"error: {problem}")


def test_changes_of_some_messages(tmp_path: Path) -> None:
    for side, versions in (("old", "0-5"), ("new", "0-6")):
        same = {"validVersions": versions}
        write(
            tmp_path / side,
            {
                "XRequest.json": definition(A, **same),
                "XResponse.json": definition(A, name="XResponse", type="response", **same),
                "YRecord.json": definition(A, name="YRecord", type="metadata", apiKey=7, **same),
            },
        )

    def names(*words: str) -> set[str]:
        return {line.split("/")[1].split(".json")[0] for line in concise("old", "new", *words, cwd=tmp_path)}

    assert names("--message", "X") == {"XRequest", "XResponse"}
    assert names("--message", "*Response", "--message", "Y*") == {"XResponse", "YRecord"}
    document = json.loads(diff("old", "new", "--message", "Y*", "--output-format", "json", cwd=tmp_path).out)
    assert document["summary"]["messages"] == 1
    entry = 'accept = [{ rule = "compat/layout-changed", message = "XRequest", reason = "r" }]'
    (tmp_path / "kiplint.toml").write_text(entry)
    assert [
        diff("old", "new", *words, cwd=tmp_path).err.count("remove the entry") for words in ((), ("--message", "Y*"))
    ] == [1, 0]
    error = diff("old", "new", "--message", "YRecrd", cwd=tmp_path).err
    assert error == "error: --message YRecrd: neither set has such a message; did you mean YRecord?\n"
