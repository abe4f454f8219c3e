"""The two pages in a real browser: what they show, that they can be searched, and that they ask nobody for anything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import kiplint
from hostile import hostile_sets
from kiplint.commands.pipeline.report import write_report
from kiplint.compat.grouping import group_changes
from kiplint.render.formats import write
from kiplint.text.show import printable

from .browser import chromium
from .lake import report_answers

EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as result:
        yield result


@contextmanager
def visit(browser: Browser, file: Path) -> Iterator[Page]:
    """A page. It says nothing on the console, asks for nothing, and fits a phone."""
    page = browser.new_page()
    events: list[str] = []
    page.on("console", lambda message: events.append(message.text))
    page.on("pageerror", lambda error: events.append(str(error)))
    page.on("dialog", lambda dialog: events.append(dialog.message))
    page.on("request", lambda request: events.append(request.url))
    page.goto(file.as_uri())
    yield page
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert [event for event in events if event not in (file.as_uri(), "data:,")] == []
    page.close()


def test_a_diff(browser: Browser, tmp_path: Path) -> None:
    result = kiplint.diff(*hostile_sets(tmp_path))
    with (tmp_path / "diff.html").open("w", encoding="utf-8") as out:
        write("html", result, out)
    with visit(browser, tmp_path / "diff.html") as page:
        entries = page.locator("details")
        assert entries.count() == len({change.rpc for change in result.changes})
        messages = page.locator(".message").all_text_contents()
        groups = group_changes(result.changes)
        lines = [line.text for group in groups for line in group.lines if line.is_notable]
        assert sorted(messages) == sorted(printable(text) for text in [*(group.sentence for group in groups), *lines])
        page.get_by_role("searchbox").fill("stop-commands")
        assert page.locator("details:visible").count() == 1
        page.get_by_role("searchbox").fill("")
        page.get_by_role("combobox", name="breaks").select_option("none")
        page.get_by_role("combobox", name="rule").select_option("compat/new-version")
        assert page.locator("output").text_content() == str(entries.count())
        entries.first.locator("summary").click()
        assert entries.first.locator(".proof").first.is_visible()
        assert entries.first.locator("tr.changed").count() > 0
        page.goto(f"{page.url}#change-3")
        assert entries.nth(3).get_attribute("open") == ""


def test_the_report_of_a_lake(browser: Browser, tmp_path: Path) -> None:
    with (tmp_path / "report.html").open("w", encoding="utf-8") as out:
        write_report(out, report_answers(EVIL))
    with visit(browser, tmp_path / "report.html") as page:
        ids = page.locator("section").evaluate_all("sections => sections.map((section) => section.id)")
        assert ids == ["over-time", "report", "matrix"]
        titles = ["Open findings of sample main", "How long errors lived", "How far forks are from upstream"]
        assert page.locator("figcaption").all_text_contents() == titles
        lines = page.locator("figure").first.locator(".mark-line path")
        assert [lines.nth(number).get_attribute("stroke") for number in range(2)] == ["var(--error)", "var(--warning)"]
        assert page.locator(".heat1").all_text_contents() == ["1"]
        rows = page.locator("[data-item]")
        page.get_by_role("searchbox").fill("fields/unknown-type")
        assert page.locator("[data-item]:visible").count() == 1
        assert page.locator("output").text_content() == f"1 of {rows.count()}"
