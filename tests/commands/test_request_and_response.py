"""A request in one directory and its response in the next: the finding says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplint import check
from sources.support import make_repository, write
from tools import definition, field

A = field("A", about="One.")


def message(kind: str, name: str = "X") -> bytes:
    key = "XY".index(name)
    return definition(
        A, name=f"{name}{kind}", apiKey=key, type=kind.lower(), listeners=["broker"] if kind == "Request" else None
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    files = {
        f"{kind.lower()}s/{name}{kind}.json": message(kind, name) for kind in ("Request", "Response") for name in "XY"
    }
    return make_repository(tmp_path / "tree", files)


def missing(*sets: Path | str, repository: Path | None = None) -> list[str]:
    findings = check(*sets, select=["rpc/request-missing", "rpc/response-missing"], repository=repository).findings
    return sorted(finding.message.partition("; ")[2].replace("\\", "/") for finding in findings)


def test_within_one_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    places = [
        f"{name}{kind} is in {kind.lower()}s/{name}{kind}.json" for kind in ("Request", "Response") for name in "XY"
    ]
    assert missing(".") == sorted(f"{place}, which is another set" for place in places)
    assert missing("requests") == [
        f"{name}Response is in responses/{name}Response.json, which is another set" for name in "XY"
    ]
    assert missing("requests/XRequest.json") == ["XResponse is in responses/XResponse.json, which is another set"]


def test_in_a_revision_and_nowhere(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.parent)
    result = missing("HEAD:", repository=tree)
    assert result[0] == "XRequest is in HEAD:requests/XRequest.json, which is another set"
    (tree / "responses" / "XResponse.json").unlink()
    assert missing(tree / "requests" / "XRequest.json") == [""]


def test_a_finding_about_a_pair_belongs_to_both_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that was bumped alone is reported for either file, and once for both."""
    request = definition(A, name="XRequest", apiKey=0, listeners=["broker"], validVersions="0-6")
    write(
        tmp_path,
        {"XRequest.json": request, "XResponse.json": message("Response"), "YRequest.json": message("Request", "Y")},
    )
    monkeypatch.chdir(tmp_path)

    def check_files(*files: str) -> list[str]:
        return [finding.path for finding in check(*files, select=["rpc/versions-differ"]).findings]

    assert check_files("XRequest.json") == ["XRequest.json"]
    assert check_files("XResponse.json") == ["XResponse.json"]
    assert check_files("XRequest.json", "XResponse.json") == ["XResponse.json"]
    assert check_files("YRequest.json") == []
