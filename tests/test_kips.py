"""The KIPs beside the corpus: the guide says what is found in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint import kip
from kiplint.commands.kip import KipResult
from kiplint.sources.schema_files import NothingThereError

ROW = re.compile(r"^\| KIP-(?P<kip>\d+) \| `(?P<base>\S+)` \| (?P<finds>.+) \|$", re.MULTILINE)
ROWS = {match["kip"]: match for match in ROW.finditer((ROOT / "docs/guide/kips.md").read_text("utf-8"))}


@pytest.fixture(scope="module")
def kips(corpus: Path) -> Path:
    result = corpus.parent / "kips"
    if not result.is_dir():
        pytest.skip(f"the KIPs are not at {result}")
    return result


def read(number: str, kips: Path) -> KipResult:
    return kip(
        kips / f"kip-{number}.txt",
        base=ROWS[number]["base"],
        repository=kips.parent / "corpus" / "kafka-schema-history.bundle",
        config={},
    )


def test_the_guide_has_all_with_definitions() -> None:
    assert list(ROWS) == ["511", "1242", "1313"]


@pytest.mark.parametrize("number", ["511", "1242", "1313"])
def test_the_findings_are_in_the_guide(number: str, kips: Path) -> None:
    result = read(number, kips)
    findings = [f"{finding.span.line} `{finding.rule}`" for finding in result.findings if finding.severity != "info"]
    assert sorted(ROWS[number]["finds"].split(", ")) == sorted(findings)
    assert result.status == "findings"


@pytest.mark.parametrize("number", ["35", "78"])
def test_a_kip_from_before_the_definitions_has_nothing_to_check(number: str, kips: Path) -> None:
    with pytest.raises(NothingThereError, match="no message definition in"):
        kip(kips / f"kip-{number}.txt", config={})


def test_the_slip_of_kip_1313_needs_no_set(kips: Path) -> None:
    (slip,) = [finding for finding in kip(kips / "kip-1313.txt", config={}).findings if finding.severity == "error"]
    assert (slip.rule, slip.message_name, slip.span.line) == ("rpc/versions-differ", "DeleteGroupsResponse", 168)
