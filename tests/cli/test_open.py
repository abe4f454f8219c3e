"""`--open`: the page of a report in a browser, which here is a script that notes what it is given."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from conftest import ROOT
from tools import Ran, kiplint

GAP = str(ROOT / "fixtures/tags/gap/bad")


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" >> "{tmp_path}/opened"\n')
    script.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    return script


def run(script: Path, *words: str, browser: str | None = None) -> Ran:
    env = {"BROWSER": str(script) if browser is None else browser, "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    return kiplint(*words, cwd=script.parent, env={**env, "TMPDIR": str(script.parent / "tmp")})


def find_page(browser: Path) -> Path:
    (address,) = (browser.parent / "opened").read_text().splitlines()
    return Path(url2pathname(urlparse(address).path))


@pytest.mark.parametrize("words", [[], ["--output-format", "html"]])
def test_a_page_of_its_own(browser: Path, words: list[str]) -> None:
    result = run(browser, "check", GAP, "--open", *words)
    page = find_page(browser)
    assert (result.code, result.out, result.err) == (1, "", f"the report is {page}\n")
    assert (page.name, page.parent.parent) == ("check.html", browser.parent / "tmp")
    assert "tags/gap" in page.read_text("utf-8")
    assert page.parent.stat().st_mode & 0o777 == 0o700 or os.name == "nt"


def test_every_page_can_go_to_a_file(tmp_path: Path) -> None:
    form = ("--output-format", "html=page.html")
    some = ROOT / "fixtures/negotiate/kip-35"
    pages = {"show": ["--all"], "matrix": ["--matrix", str(some / "client")], "negotiate": [str(some / "client")]}
    for name, words in pages.items():
        result = kiplint("show" if name == "show" else "negotiate", *words, str(some / "B1"), *form, cwd=tmp_path)
        assert result.out == ""
        assert f'<span class="command">{name}</span>' in (tmp_path / "page.html").read_text()
    result = kiplint("show", "--all", str(some / "B1"), "--output-format", "html=", cwd=tmp_path)
    assert "'html=' is not one of 'text', 'json', 'markdown', 'html'" in result.err


def test_a_page_that_is_kept_beside_other_reports(browser: Path) -> None:
    result = run(browser, "check", GAP, "--open", "--output-format", "html=page.html", "--output-format", "concise")
    assert (result.code, result.err) == (1, f"the report is {browser.parent / 'page.html'}\n")
    assert result.out.count("\n") == 1
    assert find_page(browser) == browser.parent / "page.html"
    assert not any((browser.parent / "tmp").iterdir())


def test_text_as_well(browser: Path) -> None:
    result = run(browser, "check", GAP, "--open", "--output-format", "concise", "--quiet")
    assert (result.code, result.out, result.err) == (1, "", "")
    assert find_page(browser).is_file()


def test_without_a_screen_it_says_where_the_page_is(browser: Path) -> None:
    result = run(browser, "rollout", str(ROOT / "fixtures/sets/broker"), "--open", browser="")
    assert result.out == ""
    assert result.err.startswith("warning: no browser could be opened; the report is ")
    assert Path(result.err.rpartition(" is ")[2].strip()).read_text("utf-8").startswith("<!doctype html>")
    assert not (browser.parent / "opened").exists()


@pytest.mark.parametrize("command", ['"no end %s', "/nonexistent %s", "/", "::", "a\nb\x1b[31m"])
def test_a_browser_that_is_not_a_command(browser: Path, command: str) -> None:
    result = run(browser, "check", GAP, "--open", "--output-format", "html=page.html", browser=command)
    page = browser.parent / "page.html"
    assert (result.code, result.err) == (1, f"warning: no browser could be opened; the report is {page}\n")


def test_the_name_of_a_page_is_one_line(browser: Path) -> None:
    here = browser.parent / "a\n::error::\x1b[31m\u202e"
    here.mkdir()
    result = run(here / "x", "check", GAP, "--open", "--output-format", "html=page.html", browser=str(browser))
    assert result.code == 1
    assert result.err.rstrip("\n").isprintable()
    assert result.err.endswith("/a\\u000a::error::\\u001b[31m\\u202e/page.html\n")
