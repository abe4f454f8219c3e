"""Headless Chromium for tests of pages: one browser, a page of its own for each visit, and all that the page did."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    f"--disable-{what}"
    for what in ("gpu", "quic", "background-networking", "component-update", "sync", "default-apps", "extensions")
]
MISSING = "no Chromium to look at pages with: apt-get install chromium, or name one in KIPLINT_CHROMIUM"

VIOLATIONS = """
async (rules) => {
  const found = await axe.run({ resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) });
  return found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.slice(0, 5).map((node) => node.html.slice(0, 200)).join(" | ")}`);
}
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser; without one the test is skipped, but fails in CI."""
    program = os.environ.get("KIPLINT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    if program == "none":  # whoever runs the tests knows that there is none to be had
        pytest.skip(MISSING)
    sandbox = () if os.getuid() else ("--no-sandbox",)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*QUIET, *sandbox])
        yield browser
        browser.close()


class Visit:
    """A page in the browser, with its console output, its requests and its errors."""

    def __init__(self, browser: Browser, file: Path, name: str = "", viewport: ViewportSize | None = None) -> None:
        self.page: Page = _context(browser).new_page()
        if viewport:
            self.page.set_viewport_size(viewport)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = file.as_uri()
        self.page.goto(f"{self.address}#{name}" if name else self.address)

    @property
    def others(self) -> list[str]:
        """What was asked for beside the page itself."""
        return [url for url in self.asked if url.partition("#")[0] != self.address and url != "data:,"]

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that can be seen, blanks and line ends as one blank."""
        script = """found => found.filter((one) => one.checkVisibility()).map((one) => one.innerText.replace(/\\s+/g, " ").trim())"""
        result: list[str] = self.page.locator(selector).evaluate_all(script)
        return result

    def violations(self, *rules: str) -> list[str]:
        """What axe finds serious or worse, each with what it is about; with rules, by these alone."""
        if not self.page.evaluate("() => 'axe' in window"):
            spec = importlib.util.find_spec("axe_playwright_python")
            assert spec
            assert spec.submodule_search_locations
            self.page.evaluate(Path(spec.submodule_search_locations[0], "axe.min.js").read_text("utf-8"))
        result: list[str] = self.page.evaluate(VIOLATIONS, list(rules))
        return result

    def close(self) -> None:
        """Forget it, and what it has stored."""
        self.page.evaluate("() => localStorage.clear()")
        self.page.close()


def _context(browser: Browser) -> BrowserContext:
    """The same for all visits: a new one takes as long as a page."""
    if not browser.contexts:
        browser.new_context(reduced_motion="reduce").set_default_timeout(120_000)
    return browser.contexts[0]
