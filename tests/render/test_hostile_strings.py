"""Every string that a stranger can choose, in both pages: none becomes a tag, an attribute, an address or a sign that acts."""

from __future__ import annotations

import io
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any, TextIO

import pytest

import kiplint
from hostile import hostile_sets
from kiplint.commands.pipeline.report import write_report
from kiplint.engine.rule import RULES_PAGES
from kiplint.pipeline.answers import Rows
from kiplint.render.formats import write

from .lake import as_rows, report_answers

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


def write_lake(out: TextIO) -> None:
    """Write a report all of whose strings are such, but for what counts."""
    numbers = count()

    def evil(value: Any) -> Any:
        return f"E{next(numbers)}{EVIL[next(numbers) // 2 % len(EVIL)]}" if isinstance(value, str) else value

    answers = {
        name: Rows(rows.columns, [tuple(map(evil, row)) for row in rows.values])
        for name, rows in report_answers("X").items()
    }
    line = {"source": EVIL[0], "lineage": EVIL[1]}
    answers["history"] = as_rows([{**row, **line} for row in answers["history"].records])
    pairs = [{"client": client, "broker": broker, "troubles": 1} for client in EVIL for broker in EVIL]
    answers["matrix"] = as_rows([{"source": EVIL[0], **pair} for pair in pairs])
    write_report(out, answers)


def write_diff(out: TextIO, folder: Path) -> None:
    write("html", kiplint.diff(*hostile_sets(folder)), out)


@pytest.mark.parametrize("make", [write_diff, lambda out, _: write_lake(out)])
def test_no_string_is_more_than_text(make: Callable[[TextIO, Path], None], tmp_path: Path) -> None:
    out = io.StringIO()
    make(out, tmp_path)
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
