"""What people read has none of the constructions that editors had to correct: in rules, documentation, help and errors."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.text.decode import blank_comments

PATTERNS = {
    r"\btravel(?:s|led)?\b": "is encoded, is sent",
    r"\b(?:differs?|encoded|ha(?:d|s|ve)|read|written) otherwise\b": "differently",
    r"\btaken\b": "used, read, accepted",
    r"\btold\b": "say who says what",
    r"\bled\b": "leads to, is in",
    r"(?<![Tt]here )\b(?:are|is|was) no (?!longer\b)": "is not a",
    r"\bhas it\b": "contains it",
    r"\b(?:to|by|for) who\b|\bwho keeps?\b": "operators, authors",
    r"\banew\b": "again",
    r"\b(?:amiss|of late|for ever|rightly|misspelt|nowise)\b": "standard words",
    r"\bmostly meant\b": "usually intended",
    r"\b(?:is|are) called [^.;]+ now\b": "was renamed to",
    r"\bhas no longer\b": "the ... no longer exists",
    r"\bmeans something else\b": "is reserved, has another meaning",
    r"\b(?:stand|stands|stood) (?:alone|here|in|there|twice|under)\b": "is, occurs",
    r"\b(?:other|same) bytes (?:for|in)\b|\bin (?:other|the same) bytes\b": "is encoded differently, identically",
    r"\brefus(?:ed?|es|ing)\b": "rejects",
    r"\b(?:[Ll]eaves? out|left out)\b": "omits, hides",
    r"\b(?:came|come|comes) in(?:to)? (?:a|the|with)\b|\bcame in\b": "was introduced",
    r"(?<!-)\bbeside\b": "next to, besides, together with",
    r"\bgoes? by\b": "uses",
    r"\bby itself alone\b|\balone of\b": "only",
    r", else (?!if\b)": "otherwise",
    r"\b([A-Za-z]{2,}) \1\b": "the word once",
}
"""Constructions that were found in the texts, and what to write instead."""

EXCEPTIONS = {"time travel": "the term of Delta"}
"""Parts of sentences in which a construction is right, and why."""

SENTENCE = re.compile(r"[A-Za-z]{2}.* ")
CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
TEXT_KEYS = {"title", "message", "help", "why", "instead", "changes", "source"}
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "editors").glob("*/README.md"),
    ROOT / "action.yml",
]


def texts_of_rules(value: Any) -> Iterator[str]:
    """The texts of a pack."""
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key in TEXT_KEYS and isinstance(text, str))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of_rules(item)


def texts_of_code(path: Path) -> Iterator[str]:
    """The string literals of a module that are sentences, with its docstrings; holes of f-strings are `{}`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "rules").glob("*.json")):
        yield from ((path.name, text) for text in texts_of_rules(json.loads(blank_comments(path.read_bytes()))))
    for path in sorted(PAGES):
        yield path.relative_to(ROOT).as_posix(), CODE.sub("`", path.read_text("utf-8"))
    for path in sorted((ROOT / "src").rglob("*.py")):
        name = path.relative_to(ROOT / "src").as_posix()
        yield from ((name, text) for text in texts_of_code(path) if SENTENCE.search(text))


TEXTS = list(_texts())


@pytest.mark.parametrize(
    "text",
    [
        "it has no longer this object",
        "x means something else here",
        "the first field that travels otherwise",
        "BurstBytes is called BurstSize now",
        "records matter to who keeps data",
        "For a flag that is mostly meant",
        "how likely an element has its key rightly",
        "the tables are made anew",
        "the broker is told by the reader",
        "what is no message is taken for one",
        "whether whether it can be sent",
    ],
)
def test_the_patterns_find_what_editors_corrected(text: str) -> None:
    assert any(re.search(pattern, text) for pattern in PATTERNS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_text_has_a_construction_that_an_editor_would_correct(pattern: str) -> None:
    found = [
        f"{name}: {' '.join(text[max(0, match.start() - 50) : match.end() + 30].split())}"
        for name, text in TEXTS
        for match in re.finditer(pattern, text)
        if not any(part in text[max(0, match.start() - 60) : match.end() + 60] for part in EXCEPTIONS)
    ]
    assert found == [], f"write instead: {PATTERNS[pattern]}"
