"""Markdown: tables that no name can leave."""

from __future__ import annotations

import io

import pytest

from kiplint.commands.rollout import RolloutResult, write_markdown
from kiplint.compat.rollout import RolloutRow
from kiplint.compat.rollout_report import rollout_document
from kiplint.render.markdown import inline

from .findings import HOSTILE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", "a \\| b"),
        ("<script>&lt;", "&lt;script>&amp;lt;"),
        ("`*_~[]$\\", "\\`\\*\\_\\~\\[\\]\\$\\\\"),
        ("a\nb\r", "a\\\\u000ab\\\\u000d"),
        ("@all", "@<!-- -->all"),
        ("https://e.example, www.e.example", "https:<!-- -->//e.example, www<!-- -->.e.example"),
        ("\x1b[31m\u202e\ud800", "\\\\u001b\\[31m\\\\u202e\\\\ud800"),
        ("héllo 世界", "héllo 世界"),
    ],
)
def test_what_is_escaped(text: str, expected: str) -> None:
    assert inline(text) == expected


def test_a_hostile_name_stays_in_the_table_of_a_rollout() -> None:
    row = RolloutRow(
        name=HOSTILE,
        api_key=1,
        status="wrong",
        base_versions="0-1",
        versions="0-2",
        header_versions={"0": 1, "1+": 2},
        message=HOSTILE,
    )
    out = io.StringIO()
    write_markdown(RolloutResult(findings=(), document=rollout_document([row], 3)), out)
    head, empty, reason, _, _, _, line = out.getvalue().splitlines()
    assert (head, empty, "<script" in reason) == ("### Request header 3: 1 wrong.", "", False)
    assert line.replace("\\|", "").count("|") == 8
    assert "| 1 | wrong | 0-1 | 0-2 | 0: 1, 1+: 2 |" in line
    assert "<script" not in line
