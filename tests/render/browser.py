"""Headless Chromium for tests of pages: one browser, its pages one visit at a time, and all that each did."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    f"--disable-{what}"
    for what in ("gpu", "quic", "background-networking", "component-update", "sync", "default-apps", "extensions")
]
WINDOW: ViewportSize = {"width": 1280, "height": 720}
BLANK = "about:blank"
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
        self.page: Page = _page(browser)
        self.page.set_viewport_size(viewport or WINDOW)
        self.messages: list[str] = []
        self.urls: list[str] = []
        self._listeners: dict[str, Any] = {
            "console": lambda message: self.messages.append(message.text),
            "pageerror": lambda error: self.messages.append(str(error)),
            "dialog": lambda dialog: self.messages.append(dialog.message),
            "request": lambda request: self.urls.append(request.url),
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)  # type: ignore[call-overload]
        self.address = file.as_uri()
        self.page.goto(f"{self.address}#{name}" if name else self.address)
        # A long page is unpacked after it is loaded.
        self.page.wait_for_function("() => !window.kiplint || document.documentElement.classList.contains('ready')")

    @property
    def others(self) -> list[str]:
        """What was asked for beside the page itself."""
        return [url for url in self.urls if url.partition("#")[0] != self.address and url != "data:,"]

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
        """Forget it, and what it has stored; the next visit has its page."""
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.goto(BLANK)


def _page(browser: Browser) -> Page:
    """One that no visit has, in the context of all visits: a new page, and a new context, take as long as a visit."""
    if not browser.contexts:
        browser.new_context(reduced_motion="reduce").set_default_timeout(120_000)
    (context,) = browser.contexts
    return next((page for page in context.pages if page.url == BLANK), None) or context.new_page()
