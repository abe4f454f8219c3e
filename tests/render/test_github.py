"""Annotations of GitHub Actions, to the letter."""

from __future__ import annotations

import io

import pytest

from kiplint.commands.diff import DiffResult
from kiplint.render.github import (
    SUMMARY_LIMIT,
    escape,
    escape_property,
    step_outputs,
    write_summary,
)
from kiplint.render.report import Report

from .findings import finding, format_report, many, report

REST = "GitHub shows 10 annotations of a level; the job summary and the other formats list all"


def lines(result: Report) -> list[str]:
    return format_report("github", result).splitlines()


@pytest.mark.parametrize(
    ("text", "data", "value"),
    [
        ("plain", "plain", "plain"),
        ("100%", "100%25", "100%25"),
        ("%0A", "%250A", "%250A"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("a: b, c", "a: b, c", "a%3A b%2C c"),
        ("::error::", "::error::", "%3A%3Aerror%3A%3A"),
        ("\x1b[31m\x00", "\\u001b[31m\\u0000", "\\u001b[31m\\u0000"),
        ("héllo 世界 🎉", "héllo 世界 🎉", "héllo 世界 🎉"),
        ("C:\\set\\X.json", "C:\\set\\X.json", "C%3A\\set\\X.json"),
        ("\ud800", "\\ud800", "\\ud800"),
    ],
)
def test_what_is_escaped(text: str, data: str, value: str) -> None:
    assert (escape(text), escape_property(text)) == (data, value)


def test_ten_of_a_level_and_then_how_many_more() -> None:
    result = [*many(12, "info"), *many(11, "warning"), *many(25, "error")]
    output = lines(report(*result))
    assert [line.split(" ", 1)[0] for line in output] == [
        *["::error"] * 10, *["::warning"] * 10, *["::notice"] * 10,
    ]  # fmt: skip
    assert [line.rpartition("::")[2] for line in output[:10]] == [f"finding {at}" for at in range(10)]
    assert output[-1] == f"::notice title=kiplint::15 more errors, 1 more warning and 3 more infos not shown: {REST}"


def summary(result: Report, room: int = SUMMARY_LIMIT) -> str:
    out = io.StringIO()
    write_summary(result, out, room)
    return out.getvalue()


def test_summary() -> None:
    result = report(finding(severity="info"), finding(message="a | <b>"), files=3, status="findings")
    assert summary(result) == (
        "## kiplint check\n"
        "\n"
        "### 1 error and 1 info in 3 files.\n"
        "\n"
        "| severity | rule | place | what |\n"
        "| --- | --- | --- | --- |\n"
        "| error | tags/gap | set/Tags.json:9 | a \\| &lt;b> |\n"
        "| info | tags/gap | set/Tags.json:9 | tag 1 of B comes after a gap |\n"
        "\n"
    )


def test_summary_of_nothing() -> None:
    assert summary(DiffResult((), files=203)) == "## kiplint diff\n\nnothing found in 203 files.\n\n\n"
    unread = summary(report(files=2, status="error"))
    assert unread == "## kiplint check\n\nSomething could not be read.\n\nnothing found in 2 files.\n\n\n"


def test_a_summary_that_is_too_long_is_cut_between_lines() -> None:
    result = report(*many(20_000, "warning"), finding(message="the worst"))
    text = summary(result)
    assert SUMMARY_LIMIT - 1000 < len(text.encode()) <= SUMMARY_LIMIT
    rows = text.splitlines()
    assert rows[6].endswith("| the worst |")
    assert rows[-1] == f"{20_001 - len(rows) + 6 + 2:,} more lines omitted: a job summary has at most 1 MiB."
    assert all(row.endswith(" |") for row in rows[4:-2])


def test_step_outputs() -> None:
    result = report(*many(3), *many(2, "warning"), *many(1, "info"), status="findings")
    assert step_outputs(result) == "errors=3\nwarnings=2\ninfos=1\nstatus=findings\n"
    assert step_outputs(report()) == "errors=0\nwarnings=0\ninfos=0\nstatus=ok\n"
