"""What has more than a limit is refused with a line that has the figure, and what has as much as the limit is read.

Each limit is lowered for its test. The limits on definitions, archives, packs, records and brokers have tests beside
those of their readers.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint import kip
from kiplint.commands import decode, negotiate
from kiplint.commands import kip as kip_run
from kiplint.commands.decode import read_body
from kiplint.engine import baseline
from kiplint.engine.errors import UsageError
from kiplint.limits import LIMITS, Limit
from kiplint.sources import repository
from kiplint.sources.open import open_sets
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import SourceError
from sources.support import git as run_git
from tools import definition

KIP = f"```json\n{definition(name='XData', type='data', apiKey=None).decode()}\n```\n"
OFFERS = "a:1 (id: 1 rack: null) -> (\n\tFetch(1): 0 to 11 [usable: 11]\n)\n"
SET = ROOT / "fixtures" / "sets" / "broker"
BASELINE = '{"version": 1, "findings": []}'


@pytest.fixture
def lower(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, int], None]:
    """A function that lowers a limit: it takes the module that imports the limit, its name, and the new number."""

    def put(module: Any, name: str, most: int) -> None:
        limit: Limit = getattr(module, name)
        monkeypatch.setattr(module, name, Limit(most, limit.unit, limit.input, limit.remedy))

    return put


def test_every_limit_has_its_line() -> None:
    assert [limit.input for limit in LIMITS if "more than" not in limit.exceeded("it")] == []
    assert Limit(3, "apples", "a basket", "eat one").exceeded("it") == "it has more than 3 apples; eat one"


@pytest.mark.parametrize(
    ("module", "name", "text", "read"),
    [
        (kip_run, "KIP_BYTES", KIP, lambda file: kip(file, config={})),
        (baseline, "BASELINE_BYTES", BASELINE, lambda file: baseline.read_baseline(baseline.BaselineFile(file))),
        (decode, "INPUT_BYTES", "00" * 40, read_body),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith("_BYTES") else "",
)
def test_a_file(
    module: Any, name: str, text: str, read: Callable[[str], object], tmp_path: Path, lower: Callable[..., None]
) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    lower(module, name, len(text))
    try:
        read(str(file))
    except (UsageError, SourceError) as error:
        assert "more than" not in str(error)
    lower(module, name, len(text) - 1)
    with pytest.raises((UsageError, SourceError), match=f"has more than {len(text) - 1} bytes"):
        read(str(file))


@pytest.mark.parametrize(
    ("module", "name", "text", "read"),
    [
        (kip_run, "KIP_BYTES", KIP, lambda: kip("-", config={})),
        (negotiate, "TEXT_BYTES", OFFERS, lambda: negotiate.negotiate(SET, "-")),
        (decode, "INPUT_BYTES", "00" * 40, lambda: read_body("-")),
    ],
    ids=("kip", "negotiate", "decode"),
)
def test_standard_input(
    module: Any,
    name: str,
    text: str,
    read: Callable[[], object],
    lower: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower(module, name, len(text) - 1)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises((UsageError, SourceError), match=f"^standard input has more than {len(text) - 1} bytes"):
        read()


def test_a_tree_of_git(tmp_path: Path, lower: Callable[..., None]) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / "XData.json").write_bytes(definition(name="XData", type="data", apiKey=None))
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "x")
    size = len(b"100644 blob \tXData.json\0") + 40
    lower(repository, "GIT_LISTING", size)
    assert [
        len(source.files) for source in open_sets(["HEAD:"], lambda path: True, open_repository(str(tmp_path))).sets
    ] == [1]
    lower(repository, "GIT_LISTING", size - 1)
    with pytest.raises(SourceError, match=f"has more than {size - 1} bytes in its list of files"):
        open_sets(["HEAD:"], lambda path: True, open_repository(str(tmp_path)))
