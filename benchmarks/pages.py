"""Measure pages with 10,000 entries in a browser: file size, load time, and the time for each key of a search."""

import hashlib
import shutil
import statistics
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from playwright.sync_api import Browser, sync_playwright

from benchmarks.formats import MANY, make_set
from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, Row, SkipError
from benchmarks.timing import output
from benchmarks.workspace import empty_scratch
from kiplint.commands.pipeline.page import write
from kiplint.commands.pipeline.result import LakeReport
from kiplint.pipeline.answers.documents import ReportDocument

SIZE, LOAD, KEY = 5_000_000, 2_000, 100
"""The most that a page may take: bytes, milliseconds until it is ready, milliseconds until a key has its effect."""
LOADS = 5
WORDS = ("offset", "describe")

READY = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
TYPE = """
async (text) => {
  const field = document.querySelector("input[type=search]");
  const start = performance.now();
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}
"""


def pages(lab: Lab) -> Iterator[Outcome]:
    """Medians over five loads. Words are typed and deleted letter by letter; the first and the slowest key count."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        raise SkipError("pages: needs Chromium")
    folder = empty_scratch("pages")
    files = folder / "check.html", folder / "report.html"
    schemas = make_set("many", MANY)
    output(lab.kiplint("check", schemas.name, "--isolated", "--output-format", f"html={files[0]}", cwd=schemas.parent))
    with files[1].open("w", encoding="utf-8") as out:
        write(LakeReport(findings=(), document=_history(MANY), severity="info"), out, color=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for file in files:
            size = file.stat().st_size
            what = f"page of {file.stem}, {MANY:,} entries"
            yield Row(f"{what}: size", f"{size / 1e6:.1f} MB", "-", "-", f"<= {SIZE / 1e6:.0f} MB", size <= SIZE)
            loads, keys = zip(*(_visit(browser, file) for _ in range(LOADS)), strict=True)
            yield _row(f"{what}: load", statistics.median(loads), LOAD)
            times = [statistics.median(key_times) for key_times in zip(*keys, strict=True)]
            yield _row(f"{what}: first key of a search", times[0], KEY)
            yield _row(f"{what}: worst of {len(times)} keys", max(times), KEY)
        browser.close()


def _row(measure: str, time: float, most: int) -> Row:
    return Row(measure, f"{time:.0f} ms", "-", "-", f"<= {most:,} ms", time <= most)


def _visit(browser: Browser, file: Path) -> tuple[float, list[float]]:
    """The time until a page is ready, and the time for each key, in milliseconds.

    Typing begins one second after the page is ready.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(file.as_uri())
    page.wait_for_selector(".ready", state="attached")
    page.evaluate(READY)
    load: float = page.evaluate("() => performance.now()")
    page.wait_for_timeout(1000)
    texts = [word[:end] for word in WORDS for end in (*range(1, len(word) + 1), *range(len(word) - 1, -1, -1))]
    keys = [page.evaluate(TYPE, text) for text in texts]
    page.close()
    return load, keys


def _history(entries: int) -> ReportDocument:
    """Findings and breaks of four lines with 430 revisions each: most began early, and most are fixed."""
    random = Random(entries)
    lines = [("apache", "trunk"), ("apache", "tags"), ("fork", "main"), ("other", "main")]
    rules = ["tags/gap", "fields/unknown-type", "style/about-missing", "notes/note-version", "compat/layout-changed"]

    def revision(line: tuple[str, str], position: int | None, name: str) -> dict[str, Any]:
        if position is None:
            return {}
        time = datetime(2019, 1, 1, tzinfo=UTC) + timedelta(days=6 * position)
        commit = hashlib.sha1(f"{line} {position}".encode()).hexdigest()
        return {f"{name}position": position, f"{name}commit": commit, f"{name}time": time.isoformat()}

    def entry(number: int) -> dict[str, Any]:
        line, rule = random.choice(lines), random.choice(rules)
        message = "".join(
            map(random.choice, (("List", "Describe", "Fetch"), ("Topic", "Offset"), ("Request", "Response")))
        )
        is_break, start = rule.startswith("compat"), int(430 * random.random() ** 2)
        end = None if is_break or random.random() < 0.3 else start + 20
        return {
            "source": line[0], "lineage": line[1], "rule": rule, "what": "change" if is_break else "finding",
            "severity": "error" if is_break else random.choice(["error", "warning", "info"]),
            "breaks": "wire" if is_break else None, "message_name": message, "field": f"Topics.Field{number % 40}",
            "path": f"clients/src/main/resources/common/message/{message}.json",
            "message": f"tag {number % 50} of Field{number % 40} leaves a gap in versions 0-{number % 12}",
            "open": None if is_break else end is None, "first_release": random.choice([None, "2.0.0", "3.1.0"]),
            "fixed_release": None, "fixed_position": None, "fixed_commit": None, "fixed_time": None,
            **revision(line, start, "introduced_"), **revision(line, end, "fixed_"),
        }  # fmt: skip

    rows = [entry(number) for number in range(entries)]
    states = [
        {"source": line[0], "lineage": line[1], **revision(line, position, ""), "release": None}
        | {"rpcs": 40 + position // 10, "adopted": position // 40, "versions": 100 + position}
        for line in lines
        for position in range(450)
    ]
    document = {
        "version": 1, "counts": {}, "matrix": {}, "drift": [], "collisions": [], "problems": [], "history": states,
        "sources": [{"source": name, "lineage": to, "kind": "git", "location": "", "sets": 1} for name, to in lines],
        "findings": [row for row in rows if row["what"] == "finding"],
        "breaks": [row for row in rows if row["what"] == "change"],
    }  # fmt: skip
    return msgspec.convert(document, ReportDocument)
