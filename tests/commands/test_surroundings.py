"""`kiplint check` and what lies around a set in its repository: other sets with headers, and the branch's errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from kiplint import check
from kiplint.model.error_codes import ERRORS_JAVA
from sources.support import git
from tools import definition, field, kiplint

HEADERS = {"request": {"0+": "2"}, "response": {"0+": "1"}}
ERRORS = 'NONE(-1, "none", None::new), UNKNOWN_TOPIC(3, "no such topic", None::new),'
FIRST = {"kip-1313/header-missing"}


def write(folder: Path, name: str, key: int, *, headers: bool = False, note: str = "", valid: str = "0") -> None:
    """The request and response of an RPC."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("request", "response"):
        document = {
            "apiKey": key,
            "type": kind,
            **({"listeners": ["broker"]} if kind == "request" else {}),
            "name": name + kind.capitalize(),
            "validVersions": valid,
            "flexibleVersions": "0+",
            **({"headerVersions": HEADERS[kind]} if headers else {}),
            "fields": [field("ErrorCode", "int16", about="The error.")],
        }
        (folder / f"{name}{kind.capitalize()}.json").write_text(note + json.dumps(document, indent=2) + "\n", "utf-8")


def findings_of(*names: str, **options: object) -> list[tuple[str, str]]:
    findings = check(*names, **options).findings  # type: ignore[arg-type]
    return [(finding.path, finding.message) for finding in findings if finding.rule in FIRST]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which the set `clients` has headers, and the set `server` has none."""
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q")
    write(tmp_path / "clients", "Fetch", 1, headers=True)
    write(tmp_path / "server", "Share", 2)
    return tmp_path


MISSING = [
    (
        "server/ShareRequest.json",
        "ShareRequest does not declare headerVersions, nor do 1 more of this set, but other sets of the repository do",
    )
]


@pytest.mark.parametrize("names", [["server/ShareRequest.json"], ["server"], ["."], ["server", "clients"]])
def test_a_set_without_headers_in_a_repository_with_headers(home: Path, names: list[str]) -> None:
    assert findings_of(*names) == MISSING
    assert findings_of(*names, generator="4.3") == []


@pytest.mark.parametrize(("generator", "rules"), [("4.3", ["rpc/listeners-unknown"]), ("3.9", [])])
def test_an_edition_that_knows_the_brokers_of_zookeeper(
    tmp_path: Path, generator: Literal["3.9", "4.3"], rules: list[str]
) -> None:
    (tmp_path / "XRequest.json").write_bytes(definition(name="XRequest", listeners=["zkBroker", "broker"]))
    result = check(tmp_path / "XRequest.json", select=["rpc"], ignore=["rpc/response-missing"], generator=generator)
    assert [finding.rule for finding in result.findings] == rules


def test_a_new_file_alone(home: Path) -> None:
    (home / "server/ShareResponse.json").unlink()
    name = "server/ShareRequest.json"
    assert findings_of(name) == [
        (name, "ShareRequest does not declare headerVersions, but other sets of the repository do")
    ]


def test_a_revision(home: Path) -> None:
    git(home, "add", ".")
    git(home, "commit", "-qm", "x")
    assert findings_of("HEAD:server") == [(f"HEAD:{path}", message) for path, message in MISSING]
    write(home / "clients", "Fetch", 1)
    assert findings_of("server") == []


def test_a_change(home: Path) -> None:
    git(home, "add", "clients")
    git(home, "commit", "-qm", "x")
    git(home, "add", "server")
    assert findings_of("server", changed_since="HEAD") == MISSING
    git(home, "commit", "-qm", "x")
    assert findings_of("server", changed_since="HEAD") == []


def test_the_first_headers_of_a_repository_concern_all_its_sets(home: Path) -> None:
    write(home / "clients", "Fetch", 1)
    git(home, "add", ".")
    git(home, "commit", "-qm", "x")
    write(home / "clients", "Fetch", 1, headers=True)
    assert findings_of("server", changed_since="HEAD") == MISSING


def test_a_repository_of_several_protocols(home: Path) -> None:
    """Such as releases side by side, or examples."""
    write(home / "later", "Share", 2, headers=True)
    assert findings_of("server") == []


def test_a_copy_that_a_build_makes_is_not_another_protocol(home: Path) -> None:
    write(home / "build", "Share", 2)
    assert findings_of("server") == MISSING


def test_a_new_set_that_git_does_not_have_yet(home: Path) -> None:
    git(home, "add", "server")
    git(home, "commit", "-qm", "x")
    assert findings_of("server") == []
    assert findings_of(".") == findings_of("server", "clients") == MISSING


def test_sets_of_a_run_outside_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "clients", "Fetch", 1, headers=True)
    write(tmp_path / "server", "Share", 2)
    assert findings_of(".") == findings_of("server", "clients") == MISSING
    assert findings_of("server") == []


def test_fixes_declare_the_headers_that_the_repository_requires(home: Path) -> None:
    assert kiplint("check", "server", "--fix", "--unsafe-fixes", cwd=home).code == 0
    assert findings_of("server") == []
    assert json.loads((home / "server/ShareRequest.json").read_text("utf-8"))["headerVersions"] == HEADERS["request"]


# Errors


def unknown(*names: str, **options: object) -> list[str]:
    findings = check(*names, **options).findings  # type: ignore[arg-type]
    return sorted({finding.message for finding in findings if finding.rule == "notes/note-error-unknown"})


NOTE = "// Possible errors:\n// - UNKNOWN_TOPIC\n// - INVALID_REQUEST\n"


def test_the_errors_of_the_branch(home: Path) -> None:
    write(home / "clients", "Share", 2, note=NOTE)
    assert unknown("clients") == ["Kafka has no error UNKNOWN_TOPIC"]
    java = home / ERRORS_JAVA
    java.parent.mkdir(parents=True)
    java.write_text(ERRORS, "utf-8")
    assert unknown("clients") == unknown("clients/ShareRequest.json") == ["Kafka has no error INVALID_REQUEST"]


def test_the_errors_of_a_revision(home: Path) -> None:
    write(home / "clients", "Share", 2, note=NOTE)
    java = home / ERRORS_JAVA
    java.parent.mkdir(parents=True)
    java.write_text(ERRORS, "utf-8")
    git(home, "add", ".")
    git(home, "commit", "-qm", "x")
    java.unlink()
    assert unknown("HEAD:clients") == ["Kafka has no error INVALID_REQUEST"]
    assert unknown("clients") == ["Kafka has no error UNKNOWN_TOPIC"]


def test_a_set_that_is_newer_than_the_list(home: Path) -> None:
    write(home / "clients", "Share", 2, note=NOTE, valid="0-341")
    assert unknown("clients") == []
    write(home / "clients", "Share", 2, note=NOTE, valid="0-340")
    assert unknown("clients") == ["Kafka has no error UNKNOWN_TOPIC"]
