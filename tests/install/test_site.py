"""The site: it is built of the pages as they are, and not of pages with a dead link. Needs what `make site` installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

from conftest import ROOT
from render.browser import chromium

sys.path.insert(0, str(ROOT / "docs"))

import site_pages

pytestmark = pytest.mark.skipif(not find_spec("material"), reason="needs the docs group, which `make site` installs")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A copy of what the site is made of."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def build(where: Path) -> tuple[int, str]:
    """The exit code of the build, and what it says."""
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": ""}
    command = [sys.executable, "-m", "mkdocs", "build"]
    process = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    return process.returncode, process.stderr


def test_the_pages_as_they_are(pages: Path) -> None:
    code, output = build(pages)
    assert (code, "WARNING" in output) == (0, False)
    site_files = {path.relative_to(pages / "site").as_posix() for path in (pages / "site").rglob("*.*")}
    sources = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    expected = {path.replace(".md", ".html") for path in sources | {*site_pages.pages()}}
    assert expected <= site_files
    assert {path for path in site_files - expected if path.endswith((".html", ".json"))} == {
        "404.html",
        "guide/pictures/made.json",
        "reference/schemas/catalog.json",
        "search/search_index.json",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[x](guide/nowhere.md)", "'guide/nowhere.md'"),
        ("[x](guide/ci.md#nowhere)", "'guide/ci.md#nowhere'"),
        ("[x](#nowhere)", "'#nowhere'"),
        ("[x](/guide/ci.md)", "'/guide/ci.md'"),
    ],
)
def test_a_dead_link_fails_it(pages: Path, text: str, expected: str) -> None:
    with (pages / "docs/index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{text}\n")
    code, output = build(pages)
    assert code == 1
    assert expected in output


def test_a_missing_page_fails_it(pages: Path) -> None:
    (pages / "docs/guide/migration.md").unlink()
    code, text = build(pages)
    assert code == 1
    assert "'guide/migration.md'" in text


def test_a_page_that_nothing_leads_to_fails_it(pages: Path) -> None:
    (pages / "docs/guide/lonely.md").write_text("# Lonely\n")
    code, text = build(pages)
    assert code == 1
    assert "guide/lonely.md" in text


@pytest.fixture
def site(pages: Path) -> Iterator[str]:
    """The address of the built site."""
    assert build(pages)[0] == 0
    handler = partial(SimpleHTTPRequestHandler, directory=pages / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_search_and_the_copy_button(site: str) -> None:
    with chromium() as browser:
        page = browser.new_context(permissions=["clipboard-read", "clipboard-write"]).new_page()
        page.goto(f"{site}/guide/suppressing.html")
        block = page.locator("div.highlight:has(.gp)").first
        block.hover()
        block.locator("button").first.click()
        assert page.evaluate("navigator.clipboard.readText()") == "kiplint check example --all"
        for query, first in {
            "ignore a rule": "guide/suppressing.html",
            "header-missing": "reference/rules/kip-1313.html",
        }.items():
            page.goto(f"{site}/index.html")
            page.fill("input[data-md-component=search-query]", query)
            page.wait_for_selector(".md-search-result__item a")
            page.wait_for_function(
                "first => document.querySelector('.md-search-result__item a').href.split('?')[0].endsWith(first)",
                arg=first,
                timeout=20_000,
            )


def test_the_first_screen_of_the_home_page(site: str) -> None:
    """It has the install line, a broken schema and what is found; that page and the rules fetch nothing from elsewhere."""
    urls: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: urls.append(request.url))
        page.goto(f"{site}/index.html")
        for text in ("pip install .", '"name": "MoveProgressRecord"', "error[tags/gap]"):
            box = page.locator("article code", has_text=text).first.bounding_box()
            assert box
            assert 0 < box["y"] < 900
        page.goto(f"{site}/reference/rules.html")
        assert page.locator(".rules-filter output").is_visible()
    assert {url for url in urls if not url.startswith((site, "data:"))} == set()
