"""Links of pages: to pages beside them, to KIPs, pull requests and commits; and none that leads nowhere."""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest

import kiplint
from conftest import ROOT
from kiplint.commands.negotiate.matrix.run import negotiate_all
from kiplint.commands.pipeline.result import LakeReport
from kiplint.commands.show.run import show, show_all
from kiplint.pipeline.answers.documents import ReportDocument
from kiplint.render.formats import write
from kiplint.render.links import add_links
from kiplint.render.report import RunResult
from kiplint.text.files import open_to_write

from .lake import lake_document

FIXTURES = ROOT / "fixtures"
OLD, NEW = (FIXTURES / "negotiate/kip-35" / name for name in ("client", "B1"))
OUTSIDE = {"github.com", "cwiki.apache.org", "issues.apache.org"}


class Anchors:
    """The anchors of a page, and where its links lead."""

    def __init__(self, file: Path) -> None:
        page = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", file.read_text("utf-8"))
        ids = [html.unescape(text) for text in re.findall(r'<\w[^<>]*\sid="([^"]+)"', page)]
        self.anchors = set(ids)
        assert len(ids) == len(self.anchors)
        tags = re.findall(r"<a\b([^<>]*)>", page)
        self.links = [html.unescape(match[1]) if (match := re.search(r'\shref="([^"]*)"', tag)) else "" for tag in tags]


def dead_links(folder: Path) -> Iterator[str]:
    """The links of all pages in a directory that lead nowhere, or to a place that pages do not know."""
    pages = {file.name: Anchors(file) for file in folder.glob("*.html")}
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = pages.get(unquote(parts.path) or name)
            if parts.scheme:
                is_alive = parts.scheme == "https" and parts.netloc in OUTSIDE
            else:
                is_alive = target is not None and (not parts.fragment or unquote(parts.fragment) in target.anchors)
            if not is_alive and link != "#":
                yield f"{name}: {link}"


def write_page(folder: Path, name: str, result: RunResult) -> Anchors:
    """The page of a result, in a file."""
    with open_to_write(str(folder / f"{name}.html")) as out:
        write("html", result, out)
    return Anchors(folder / f"{name}.html")


def _to(page: Anchors, name: str) -> list[str]:
    return [link.partition("#")[2] for link in page.links if link.startswith(f"{name}.html")]


def test_pages_side_by_side_link_one_another(tmp_path: Path) -> None:
    bad = FIXTURES / "tags/gap/bad"
    for name, result in {"show": show_all(bad), "a b%": show_all(OLD), "new": show_all(NEW)}.items():
        write_page(tmp_path, name, result)
    report = kiplint.check(bad, config={})
    assert _to(write_page(tmp_path, "check", report), "show") == [finding.message_name for finding in report.findings]
    changes = kiplint.diff(OLD, NEW)
    page = write_page(tmp_path, "diff", changes)
    for number, name in enumerate(("a%20b%25", "new")):
        messages = {message.name for pair in changes.pairs if (message := pair[number])}
        assert {anchor.partition("@")[0] for anchor in _to(page, name)} == messages
    assert any("@" in anchor for anchor in _to(page, "a%20b%25"))
    write_page(tmp_path, "agreed", kiplint.negotiate(OLD, NEW))
    write_page(tmp_path, "matrix", negotiate_all(OLD, NEW))
    assert '"links":{"client/B1":"agreed.html"}' in (tmp_path / "matrix.html").read_text("utf-8")
    assert list(dead_links(tmp_path)) == []
    page = write_page(tmp_path, "new", show_all(NEW))
    for name in ("diff", "agreed"):
        assert {"Fetch", "ApiVersions"} & {anchor.partition(".")[0] for anchor in _to(page, name)}
    page = write_page(tmp_path, "show", show_all(bad))
    assert {anchor.partition(".")[0] for anchor in _to(page, "check")} == {
        item.message_name for item in report.findings
    }
    assert list(dead_links(tmp_path)) == []


def test_a_page_links_only_where_the_other_page_has_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = FIXTURES / "tags/gap/bad"
    result = kiplint.check(bad, config={})
    (name, *_) = (finding.message_name for finding in result.findings)
    assert name
    other = next(message for message in show_all(OLD).messages if message.message.name != name)
    write_page(tmp_path, "other", show(other.message.name, OLD))
    (tmp_path / "broken.html").write_bytes(b'<meta name="kiplint" content="show 0123456789abcdef">\xff')
    (tmp_path / "empty.html").write_text('<meta name="kiplint" content="">')
    (tmp_path / "pipe.html").mkdir()
    assert _to(write_page(tmp_path, "check", result), "other") == []
    write_page(tmp_path, "one", show(name, bad))
    monkeypatch.chdir(bad)
    assert set(_to(write_page(tmp_path, "check", kiplint.check(config={})), "one")) == {name}
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    assert _to(write_page(copy, "check", result), "one") == []


def test_a_page_that_names_no_file_links_to_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    write("html", kiplint.check(FIXTURES / "tags/gap/bad", config={}), sys.stdout)
    assert "In show" not in capsys.readouterr().out


def test_every_version_of_a_reference_has_an_anchor(tmp_path: Path) -> None:
    reference = show_all(FIXTURES / "sets/broker")
    page = write_page(tmp_path, "show", reference)
    versions = {
        f"{message.message.name}@{version}"
        for message in reference.messages
        for part in message.ranges
        for version in range(part.lowest, part.highest + 1)
    }
    assert {anchor for anchor in page.anchors if "@" in anchor} == versions
    assert len(versions) > sum(len(message.ranges) for message in reference.messages)


REAL: dict[str, Callable[[Path], RunResult]] = {
    "show": lambda corpus: show_all(corpus / "kafka-trunk-2026-08"),
    "check": lambda corpus: kiplint.check(corpus / "kafka-trunk-2026-08", config={}),
    "rollout": lambda corpus: kiplint.rollout(corpus / "kafka-trunk-2026-08/clients"),
}


def test_no_link_of_real_pages_is_dead(tmp_path: Path) -> None:
    corpus = Path(os.environ.get("KIPLINT_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not corpus.is_dir():
        pytest.skip("the real schemas are not there")
    pages = {name: write_page(tmp_path, name, result(corpus)) for name, result in REAL.items()}
    assert len(_to(pages["check"], "show")) > 50
    assert "FetchRequest@10" in pages["show"].anchors
    assert list(dead_links(tmp_path)) == []


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("KIP-482", ["cwiki.apache.org/confluence/dosearchsite.action?where=KAFKA&amp;queryString=KIP-482"]),
        ("KIP-915, KAFKA-17593", [None, "issues.apache.org/jira/browse/KAFKA-17593"]),
        ("KAFKA PR 23317, convention", ["github.com/apache/kafka/pull/23317"]),
        ("by <b>, #12", ["github.com/me/kafka/pull/12"]),
        ("TOKIP-1 and a KIP", []),
    ],
)
def test_text_links_to_what_it_names(text: str, links: list[str | None]) -> None:
    page = add_links(text, "https://github.com/me/kafka")
    hrefs = [part.partition('"')[0] for part in page.split('href="https://')[1:]]
    assert [link or href for link, href in zip(links, hrefs, strict=True)] == hrefs
    assert page.striptags() == text.replace("<b>", "<b>")
    assert "<b>" not in page
    assert add_links("#12") == "#12"


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("https://me:secret@github.com/me/kafka.git", "https://github.com/me/kafka"),
        ("git@github.com:me/kafka.git", "https://github.com/me/kafka"),
        ("https://example.com/github.com/me/kafka", ""),
    ],
)
def test_commits_of_a_lake_are_linked_where_they_came_from(tmp_path: Path, origin: str, address: str) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", origin], check=True)
    document = lake_document("FetchRequest")
    document["sources"][0]["location"] = str(clone)
    document["findings"][0] |= {"author": "Ada", "pull_request": 12, "kips": ["KIP-482"]}
    report = LakeReport(findings=(), document=msgspec.convert(document, ReportDocument), severity="info")
    links = write_page(tmp_path, "lake", report).links
    commit = document["findings"][0]["introduced_commit"]
    expected = {f"{address}/commit/{commit}", f"{address}/pull/12"} if address else set()
    assert {link for link in links if "github.com/me" in link} >= expected
    assert any("commit" in link for link in links) == bool(address)
    assert any("queryString=KIP-482" in link for link in links)
    assert list(dead_links(tmp_path)) == []
