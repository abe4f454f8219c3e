"""Every string that a stranger can choose, in every page: none becomes a tag, an attribute, an address or a sign that acts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kiplint
from kiplint.commands.negotiate.matrix.run import negotiate_all
from kiplint.commands.pipeline.result import LakeReport
from kiplint.commands.show.run import show_all
from kiplint.engine.rule import RULES_PAGES
from kiplint.pipeline.answers.documents import ReportDocument
from kiplint.render.formats import write
from kiplint.render.report import RunResult

from .lake import lake_document

EVIL = (
    '"><img src=x onerror=evil()>',
    "'><svg/onload=evil()>",
    "</script><script>evil()</script>",
    "</title></style><!--<script>",
    "--><b onclick=evil()>",
    "\u2028\u2029\u202e\u2066\x00\ufeff\U000e0041\x1b[31m\r\n",
    "{{7*7}}{% raw %}${evil()}`",
    "javascript:evil()",
    "&lt;img&gt;&#60;b&#62;",
)
OUTSIDE = tuple(
    f"https://{place}"
    for place in ("cwiki.apache.org/confluence/", "issues.apache.org/jira/", "github.com/apache/kafka/")
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
            leads = name in LOADING and not (value or "").startswith(("#", RULES_PAGES, *OUTSIDE)) and value != "data:,"
            if leads or name.startswith("on") or not (value or "").isprintable():
                self.wrong.append((tag, name, value))

    def handle_data(self, data: str) -> None:
        self.wrong += [line for line in data.split("\n") if not line.isprintable()]

    def handle_comment(self, data: str) -> None:
        self.wrong.append(data)


def strings() -> Callable[[], str]:
    """One string after the other, no two the same."""
    numbers = count()
    return lambda: f"E{(number := next(numbers))}{EVIL[number % len(EVIL)]}{EVIL[number * 5 % len(EVIL)]}"


def folder(top: Path, valid: str, *, more: bool) -> Path:
    """RPCs in which all that may be a string is one of those, files with such names, in a folder with such a name."""
    next_string, result = strings(), top / f'{more}"><img src=x onerror=evil()><!-- \u202e'
    result.mkdir()
    kinds = (
        ("string", f"a{next_string()}"),
        ("int32", next_string()),
        ("int64", ""),
        ("[]int8", ""),
        ("string", "null"),
    )
    for key in range(2 * len(EVIL)):
        fields = [
            {
                "name": next_string(),
                "type": kind,
                "versions": "0+",
                "about": next_string(),
                "default": default,
                "entityType": next_string(),
            }
            for kind, default in kinds
        ]
        extra = (
            [{"name": next_string(), "type": next_string(), "versions": next_string(), next_string(): next_string()}]
            if more and key % 4 == 0
            else []
        )
        structs = [
            {
                "name": next_string(),
                "versions": "0+",
                "fields": [{"name": next_string(), "type": "int8", "versions": "0+"}],
            }
        ]
        odd: dict[str, Any] = (
            {"headerVersions": {next_string(): next_string()}, next_string(): next_string()} if key % 5 == 4 else {}
        )
        document = {
            "apiKey": key // 2, "type": ("request", "response")[key % 2], "listeners": [next_string(), "broker"], "name": next_string(),
            "validVersions": valid, "flexibleVersions": "0+", "fields": fields + extra, "commonStructs": structs, **odd,
        }  # fmt: skip
        name = f"{next_string()[:60].replace('/', '').replace(chr(0), '')}{key}.json"
        text = f"// {next_string()!a} \u202e\u2028 {EVIL[key % 5]}\n{json.dumps(document, indent=1)}"
        (result / name).write_text(text, encoding="utf-8")
    return result


def pack(top: Path) -> dict[str, Any]:
    """A configuration with a pack whose texts are such strings."""
    next_string = strings()
    rows = {name: next_string() for name in ("title", "why", "source")}
    sentences = {name: next_string().replace("{", "{{").replace("}", "}}") for name in ("message", "instead")}
    rule = {"id": "rule", "each": "field", "when": "name != ''", "severity": "error", **rows, **sentences}
    (top / "mine.json5").write_text(
        json.dumps({"pack": "mine", "title": next_string(), "source": next_string(), "rules": [rule]})
    )
    return {"rule-packs": [str(top / "mine.json5")], "select": ["all"]}


def make_lake_report() -> RunResult:
    """A lake all of whose strings are such, but for the days and what counts."""
    next_string = strings()
    plain_keys = ("introduced_time", "fixed_time", "time", "severity", "what", "breaks")

    def whole(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {
                (next_string() if key in ("counts", "matrix") else name): whole(some, name)
                for name, some in value.items()
            }
        if isinstance(value, list):
            return [whole(some) for some in value]
        return next_string() if isinstance(value, str) and key not in plain_keys else value

    result = whole(lake_document("X"))
    result["history"] = lake_document("X")["history"]
    line = {"source": next_string(), "lineage": next_string()}
    for rows in ("findings", "breaks", "history"):
        result[rows] = [{**row, **line} for row in result[rows]]
    return LakeReport(findings=(), document=msgspec.convert(result, ReportDocument), severity="info")


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    top = tmp_path_factory.mktemp("strings")
    return folder(top, "0-1", more=False), folder(top, "0-2", more=True), pack(top)


@pytest.mark.parametrize("command", ["check", "diff", "rollout", "negotiate", "matrix", "show", "pipeline report"])
def test_no_string_is_more_than_text(sets: tuple[Path, Path, dict[str, Any]], command: str) -> None:
    old, new, config = sets
    results: dict[str, Callable[[], RunResult]] = {
        "check": lambda: kiplint.check(new, config=config),
        "diff": lambda: kiplint.diff(old, new),
        "rollout": lambda: kiplint.rollout(old, new),
        "negotiate": lambda: kiplint.negotiate(old, new),
        "matrix": lambda: negotiate_all(old, new),
        "show": lambda: show_all(new),
        "pipeline report": make_lake_report,
    }
    out = io.StringIO()
    write("html", results[command](), out)
    parser = PageParser()
    parser.feed(out.getvalue())
    assert "evil()" in out.getvalue()
    assert parser.wrong == []
    assert not {"img", "iframe", "object", "embed", "base"} & {*parser.tags}
    assert parser.tags.count("script") == (2 if command == "matrix" else 1)
    assert (parser.tags.count("style"), parser.tags.count("meta")) == (
        1,
        6 if command in ("matrix", "pipeline report") else 7,
    )


def test_the_parser_sees_what_would_be_wrong() -> None:
    parser = PageParser()
    parser.feed("<a href='javascript:evil()'>a\u202e</a><img src=x onerror=evil()><!-- c --><b title='\u2028'>")
    assert len(parser.wrong) == 6
