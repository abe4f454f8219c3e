"""Ten thousand findings: every format says all of them, or how many it leaves out."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
from collections.abc import Callable
from xml.etree import ElementTree

import msgspec
import pytest

from kiplint.commands.check.run import CheckResult
from kiplint.render.formats import format_names, write

from .findings import finding, format_report, many, report

NUMBER = 10_000
COUNTERS: dict[str, Callable[[str], int]] = {
    "text": lambda text: text.count("error[tags/gap]: "),
    "concise": lambda text: text.count("\n"),
    "json": lambda text: len(json.loads(text)["findings"]),
    "jsonl": lambda text: len([json.loads(line) for line in text.splitlines()]),
    "github": lambda text: text.count("::error ") + int(text.rpartition("title=kiplint::")[2].split()[0].replace(",", "")),
    "sarif": lambda text: len(json.loads(text)["runs"][0]["results"]),
    "rdjson": lambda text: len(json.loads(text)["diagnostics"]),
    "junit": lambda text: len(ElementTree.fromstring(text).findall("testsuite/testcase/failure")),
    "gitlab": lambda text: len(json.loads(text)),
    "markdown": lambda text: text.count("\n| error |"),
    "html": lambda text: sum(map(int, re.findall(r'<details class="item [^>]* data-number="(\d+)"', text))),
}  # fmt: skip


@pytest.fixture(scope="module")
def large() -> CheckResult:
    sources = {f"set/File{at}.json": b"{}\n" * 101 for at in range(NUMBER // 100)}
    return report(*many(NUMBER), sources=sources, files=len(sources))


def test_every_format_is_tried() -> None:
    assert sorted(COUNTERS) == sorted(format_names())


@pytest.mark.parametrize("name", format_names())
def test_nothing_is_lost(name: str, large: CheckResult) -> None:
    out = _Pieces()
    write(name, large, out)
    text = "".join(out.pieces)
    assert COUNTERS[name](text) == NUMBER
    assert name != "html" or len(text) < 5_000_000
    assert name not in ONE_BY_ONE or max(map(len, out.pieces)) < 4096


class _Pieces(io.StringIO):
    """What is written, as it is written."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def write(self, text: str) -> int:
        self.pieces.append(text)
        return len(text)


class _Nowhere(io.StringIO):
    """Keeps nothing of what is written."""

    def write(self, text: str) -> int:
        return len(text)


ONE_BY_ONE = ("text", "concise", "jsonl", "github", "sarif", "rdjson", "junit", "gitlab", "markdown")
"""The formats that are written finding by finding; `json` and `html` are whole documents."""


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_memory_grows_no_faster_than_findings(name: str, large: CheckResult) -> None:
    few = msgspec.structs.replace(large, findings=large.findings[: NUMBER // 10])
    write(name, few, _Nowhere())  # imports and caches
    tracemalloc.start()
    write(name, few, _Nowhere())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(few.findings) * 500


def test_many_findings_in_one_file_are_one_suite() -> None:
    text = format_report("junit", report(*(finding(message=str(at)) for at in range(NUMBER))))
    assert text.count("<testsuite ") == 1
    assert text.count("<failure ") == NUMBER
