"""Every string that a stranger can choose, in both pages: none becomes a tag, an attribute, an address or a sign that acts."""

from __future__ import annotations

import io
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kiplint
from hostile import hostile_sets
from kiplint.commands.pipeline.result import LakeReport
from kiplint.engine.rule import RULES_PAGES
from kiplint.pipeline.answers.documents import ReleasePair, ReportDocument
from kiplint.render.formats import write
from kiplint.render.report import RunResult

from .lake import lake_document

EVIL = (
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "</title></style><!--<script>alert(1)",
    "\u2028\u2029\u202e\u2066\x00\ufeff\U000e0041\x1b[31m\r\n",
    "{{7*7}}{% raw %}${alert(1)}`",
    "javascript:alert(1)",
    "&lt;img&gt;&#60;b&#62;",
)
LOADING = ("href", "src", "action", "xlink:href", "srcdoc", "formaction", "background", "ping", "style")


class PageParser(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.wrong: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            leads = name in LOADING and not (value or "").startswith(("#", RULES_PAGES)) and value != "data:,"
            if leads or name.startswith("on") or not (value or "").isprintable():
                self.wrong.append((tag, name, value))

    def handle_data(self, data: str) -> None:
        self.wrong += [line for line in data.split("\n") if not line.isprintable()]

    def handle_comment(self, data: str) -> None:
        self.wrong.append(data)


def lake_report() -> RunResult:
    """A report all of whose strings are such, but for the days and what counts."""
    numbers = count()

    def evil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: evil(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [evil(inner, key) for inner in value]
        is_plain = not isinstance(value, str) or key.endswith("time") or key in ("severity", "what")
        return value if is_plain else f"E{next(numbers)}{EVIL[next(numbers) // 2 % len(EVIL)]}"

    document = evil(lake_document("X"))
    line = {"source": EVIL[0], "lineage": EVIL[1]}
    document |= {rows: [{**row, **line} for row in document[rows]] for rows in ("findings", "breaks", "history")}
    pair = ReleasePair(EVIL[0], EVIL[4], EVIL[2], EVIL[3], {}, EVIL)
    report = msgspec.convert(document, ReportDocument)
    return LakeReport(findings=(), document=report, severity="info", pairs=(pair,))


@pytest.mark.parametrize("make", [lambda folder: kiplint.diff(*hostile_sets(folder)), lambda _: lake_report()])
def test_no_string_is_more_than_text(make: Callable[[Path], RunResult], tmp_path: Path) -> None:
    out = io.StringIO()
    write("html", make(tmp_path), out)
    parser = PageParser()
    parser.feed(out.getvalue())
    assert "alert(1)" in out.getvalue()
    assert parser.wrong == []
    assert not {"img", "iframe", "object", "embed", "base"} & {*parser.tags}
    assert [parser.tags.count(tag) for tag in ("script", "style", "meta")] == [1, 1, 4]


def test_the_parser_sees_what_would_be_wrong() -> None:
    parser = PageParser()
    parser.feed("<a href='javascript:alert(1)'>a\u202e</a><img src=x onerror=alert(1)><!-- c --><b title='\u2028'>")
    assert len(parser.wrong) == 6
