"""Headless Chromium for tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    f"--disable-{what}"
    for what in ("gpu", "quic", "background-networking", "component-update", "sync", "default-apps", "extensions")
]
MISSING = "no Chromium to look at pages with: apt-get install chromium, or name one in KIPLINT_CHROMIUM"


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
