"""The pages of HTML in a real browser: what they show, what can be done with them, and that they ask nobody for anything."""

from __future__ import annotations

import html
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, ViewportSize

import kiplint
from compat.test_served import both_modes
from conftest import ROOT
from hostile import NAMES, hostile_sets
from kiplint.commands.decode.options import DecodeCommand
from kiplint.commands.decode.run import decode
from kiplint.commands.negotiate.matrix.result import MatrixResult
from kiplint.commands.negotiate.matrix.run import negotiate_all
from kiplint.commands.pipeline.result import LakeReport
from kiplint.commands.show.run import show, show_all
from kiplint.compat.judge import BREAKS
from kiplint.engine.finding import SEVERITIES
from kiplint.model.schemas import SchemaSet
from kiplint.pipeline.answers.documents import ReportDocument
from kiplint.render.formats import write
from kiplint.render.page import set_titles
from kiplint.render.report import RunResult
from kiplint.text.files import open_to_write

from .browser import Visit, chromium
from .findings import finding, report
from .lake import lake_document

FIXTURES = ROOT / "fixtures"
SMALL: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as result:
        yield result


@pytest.fixture(scope="module")
def corpora() -> Path | None:
    """The real schemas, where they are."""
    result = Path(os.environ.get("KIPLINT_CORPUS") or ROOT.parent / "shared" / "corpus")
    return result if result.is_dir() else None


class Page:
    """A result and its page."""

    def __init__(self, result: RunResult, file: Path) -> None:
        self.result = result
        self.document: Any = msgspec.to_builtins(result.document)
        self.file = file
        with open_to_write(str(file)) as out:
            write("html", result, out)


def _check(corpora: Path | None) -> RunResult:
    if corpora is None:
        return kiplint.check(FIXTURES / "tags", FIXTURES / "style", config={})
    return kiplint.check(corpora / "kafka-trunk-2026-08", config={})


def _rollout(corpora: Path | None) -> RunResult:
    return kiplint.rollout(corpora / "kafka-trunk-2026-08/clients" if corpora else FIXTURES / "sets/broker")


def _diff(corpora: Path | None) -> RunResult:
    if corpora is None:
        return kiplint.diff(FIXTURES / "negotiate/kip-35/client", FIXTURES / "negotiate/kip-35/B1")
    return kiplint.diff("2.8.0:", "confluent-8.3.0:", repository=corpora / "kafka-schema-history.bundle")


def _negotiate(corpora: Path | None) -> RunResult:
    if corpora is None:
        some = FIXTURES / "negotiate/kip-35"
        return kiplint.negotiate(some / "client", some / "B1", some / "B2", feature=some / "features.json")
    return kiplint.negotiate("2.4.0:", "2.8.0:", "confluent-8.1.0:", repository=corpora / "kafka-schema-history.bundle")


def _matrix(corpora: Path | None) -> RunResult:
    """Of some releases; all 48 of the corpus take 6 s to load and compare."""
    if corpora is None:
        return negotiate_all(*(FIXTURES / f"negotiate/telemetry/{name}" for name in ("old-client", "new-broker")))
    names = ("2.2.0:", "2.8.0:", "3.9.0-rc3:", "confluent-8.0.0:", "confluent-8.3.0:")
    return negotiate_all(*names, repository=corpora / "kafka-schema-history.bundle")


def _decode(corpora: Path | None) -> RunResult:
    if corpora is None:
        inputs, sets = FIXTURES / "bytes/client.pcap", FIXTURES / "sets/broker/clients"
    else:
        inputs, sets = corpora.parent / "bytes/capture.pcapng", corpora / "kafka-trunk-2026-08/clients"
    return decode(DecodeCommand.of(str(inputs), sets=[str(sets)]), detailed=True)


def _show(corpora: Path | None) -> RunResult:
    return show_all(corpora / "kafka-trunk-2026-08" if corpora else FIXTURES / "sets/broker")


def _lake(corpora: Path | None, name: str = "FetchRequest") -> RunResult:
    """The report of a lake that is written down here, because Spark is slow."""
    return LakeReport(findings=(), document=msgspec.convert(lake_document(name), ReportDocument), severity="info")


RESULTS: dict[str, Callable[[Path | None], RunResult]] = {
    "show": _show,
    "pipeline report": _lake,
    "check": _check,
    "diff": _diff,
    "rollout": _rollout,
    "negotiate": _negotiate,
    "matrix": _matrix,
    "decode": _decode,
}
"""Each page out of the corpus, or of the fixtures where that is absent, and when it is asked for as "shipped"."""

SMALL_ONES = {
    "check": lambda: kiplint.check(FIXTURES / "tags/gap", FIXTURES / "style", config={}),
    "diff": lambda: kiplint.diff(FIXTURES / "compat/layout-changed/old", FIXTURES / "compat/layout-changed/new"),
    "rollout": lambda: kiplint.rollout(FIXTURES / "sets/broker"),
    "negotiate": lambda: _negotiate(None),
    "pipeline report": lambda: _lake(None),
    "show": lambda: show_all(FIXTURES / "negotiate/kip-35/client"),
    "matrix": lambda: _matrix(None),
    "decode": lambda: _decode(None),
}
"""The same out of little: axe takes its time."""


@pytest.fixture(scope="module")
def pages(corpora: Path | None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Page]:
    folder = tmp_path_factory.mktemp("pages")
    pages_by_name: dict[str, Page] = {}

    def get(name: str) -> Page:
        if name not in pages_by_name:
            kind = name.removeprefix("small ")
            command = kind.removeprefix("shipped ")
            result = SMALL_ONES[kind]() if name != kind else RESULTS[command](corpora if command == kind else None)
            pages_by_name[name] = Page(result, folder / f"{name}.html")
        return pages_by_name[name]

    return get


@pytest.fixture
def visit(browser: Browser, pages: Callable[[str], Page]) -> Iterator[Callable[..., Visit]]:
    """Looks at a page; whatever the test does with it, it says nothing on the console and asks nobody for anything."""
    visits: list[Visit] = []

    def look(name: str, anchor: str = "", **options: Any) -> Visit:
        visits.append(Visit(browser, pages(name).file, anchor, **options))
        return visits[-1]

    yield look
    for view in visits:
        assert (view.messages, view.others) == ([], [])
        view.close()


def _flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["check", "kip", "diff", "rollout", "negotiate", "decode", "pipeline report"])
def test_the_verdict_is_the_same_in_every_format(name: str, tmp_path: Path) -> None:
    if name == "kip":
        (tmp_path / "kip.txt").write_text('{"type": "request", "name": "XRequest", "validVersions": "x"}')
        result: Any = kiplint.kip(tmp_path / "kip.txt", config={})
    else:
        result = SMALL_ONES[name]()
    sentence, *others = (
        text for text in (result.verdict.sentence, *result.verdict.exceptions, result.verdict.step) if text
    )
    outputs = {}
    for form in ("text", "html", *(["markdown"] if name != "negotiate" else [])):
        write(form, result, out := io.StringIO())
        outputs[form] = _flat(html.unescape(re.sub(r"<[^>]*>|[\\\\`]", "", out.getvalue())))
    for form, output in outputs.items():
        assert _flat(sentence).rstrip(".") in output, form
        missing = [text for text in others if _flat(text.replace("`", "")) not in output]
        assert missing == [] or (form, name) == ("text", "diff"), form  # which has its exceptions with their bytes


def test_check_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    result = pages("check").document
    view = visit("check")
    order = Counter((item["severity"], item["rule"]) for item in result["findings"])
    causes = sorted(order, key=lambda cause: (SEVERITIES.index(cause[0]), -order[cause], cause[1]))
    heads = [f"{severity}:{rule}{order[severity, rule]}" for severity, rule in causes]
    script = """found => found.map((one) => one.querySelector('.hush').textContent.trim() + one.querySelector('a').textContent +
      one.querySelector('[data-left]').textContent)"""
    assert view.page.locator(".group > h2").evaluate_all(script) == heads
    script = """found => found.map((one) => [one.closest(".group").querySelector("h2 a").textContent, one.closest("[data-item]").dataset.severity,
      (one.querySelector(".what") || one.closest("[data-item]").querySelector(".what")).textContent.replace(/\\s+/g, " ").trim()])"""
    rows = [tuple(parts) for parts in view.page.locator(".finding").evaluate_all(script)]
    assert sorted(rows) == sorted(
        (item["rule"], item["severity"], _flat(item["message"])) for item in result["findings"]
    )
    places = Counter(
        (item["rule"], item["severity"], item["path"], item["message_name"]) for item in result["findings"]
    )
    numbers = view.page.locator("[data-item]").evaluate_all("found => found.map((one) => Number(one.dataset.number))")
    assert sorted(numbers) == sorted(places.values())
    chips = [number for number in (result["summary"][f"{name}s"] for name in SEVERITIES) if number]
    assert view.texts(".chip b") == [str(number) for number in chips]
    assert view.texts(".tiles, [name=by], .overview") == []


def test_the_first_entry_is_in_the_upper_third_of_a_phone(visit: Callable[..., Visit]) -> None:
    view = visit("check", viewport=SMALL)
    top = view.page.locator("[data-item]").first.evaluate("one => one.getBoundingClientRect().top")
    assert 0 < top < SMALL["height"] / 3


def test_paths_begin_at_the_set(visit: Callable[..., Visit], pages: Callable[[str], Page], tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/XRequest.json").write_text('{"type": "request", "name": "XRequest", "validVersions": "x"}')
    page = io.StringIO()
    write("html", kiplint.check(tmp_path, config={}), page)
    assert set(re.findall(r'class="where">([^<]*json):', page.getvalue())) == {"sub/XRequest.json"}


CROWDS: dict[str, Callable[[Path], RunResult]] = {
    "a KIP": lambda corpora: kiplint.kip(
        corpora.parent / "kips/kip-1313.txt", base=corpora / "kafka-trunk-2026-08/clients", config={}
    ),
    "a file": lambda _: report(*(finding(message_name=name, message=f"of {name}") for name in ("B", "A", "B", ""))),
}
"""Results with the findings of several messages in one file."""


@pytest.mark.parametrize("name", CROWDS)
def test_findings_stand_below_the_name_of_their_message(
    name: str, corpora: Path | None, browser: Browser, tmp_path: Path
) -> None:
    result = CROWDS[name](corpora or pytest.skip("no corpus"))
    page = Page(result, tmp_path / "page.html")
    findings = page.result.findings  # type: ignore[attr-defined]
    view = Visit(browser, page.file)
    script = """found => found.map((one) => [one.closest("[data-item]").querySelector(".name").textContent.trim(),
      (one.querySelector(".what") || one.closest("[data-item]").querySelector(".what")).textContent.trim()])"""
    pairs = [tuple(pair) for pair in view.page.locator(".finding").evaluate_all(script)]
    expected = [(item.message_name or os.path.basename(item.path), _flat(item.message)) for item in findings]
    assert sorted((head, _flat(text)) for head, text in pairs) == sorted(expected)
    options = view.page.locator("select[name=file] option").all_text_contents()
    assert options[1:] == sorted({head for head, _ in expected})
    view.close()


def test_check_can_be_filtered_and_searched(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    findings = pages("shipped check").document["findings"]
    view = visit("shipped check")
    severity, rule, name = (findings[0][what] for what in ("severity", "rule", "message_name"))

    def count_visible() -> int:
        script = (
            "found => found.filter((one) => !one.hidden).reduce((count, one) => count + Number(one.dataset.number), 0)"
        )
        number: int = view.page.locator("[data-item]").evaluate_all(script)
        return number

    view.page.locator(f"input[name=severity][value={severity}]").check()
    some = [finding for finding in findings if finding["severity"] == severity]
    assert (count_visible(), view.texts("[data-shown]")) == (len(some), [f"{len(some)} of {len(findings)} findings"])
    view.page.locator("select[name=rule]").select_option(rule)
    some = [finding for finding in some if finding["rule"] == rule]
    assert count_visible() == len(some)
    assert view.texts(".group h2 a") == [rule]
    view.page.locator("[type=search]").fill("no such words")
    assert (count_visible(), view.page.locator("[data-nothing]").is_visible()) == (0, True)
    view.page.locator("[data-clear]").click()
    assert count_visible() == len(findings)
    view.page.locator("h1").click()
    view.page.keyboard.press("/")
    view.page.keyboard.type(name[:5])
    assert 0 < count_visible() <= len(findings)
    assert "search=" in view.page.url
    view.page.reload()
    assert view.page.locator("[type=search]").input_value() == name[:5]


def test_diff_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    changes = pages("diff").document["changes"]
    view = visit("diff")
    script = (
        "found => found.map((one) => [one.querySelector('.message').textContent, one.dataset.rule, one.dataset.breaks])"
    )
    rows = [tuple(parts) for parts in view.page.locator("[data-part]").evaluate_all(script)]
    assert sorted(rows) == sorted((change["message"], change["rule"], change["breaks"]) for change in changes)
    script = (
        "found => found.map((one) => [one.dataset.breaks, one.innerText.includes(`Breaks ${one.dataset.breaks}: `)])"
    )
    view.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    explanations = dict(view.page.locator("[data-part]").evaluate_all(script))
    assert explanations == {breaks: breaks != "none" for breaks in explanations}
    summary = pages("diff").document["summary"]
    numbers = view.page.locator(".chip").evaluate_all(
        "found => found.map((one) => [one.control.value, Number(one.querySelector('b').textContent)])"
    )
    assert dict(map(tuple, numbers)) == {what: summary[what] for what in BREAKS if summary[what]}
    proofs = [
        f"{proof['writer']} writes version {proof['version']} as " for change in changes for proof in change["proof"]
    ]
    output = view.page.locator(".proof > p").evaluate_all(
        "found => found.map((one) => one.textContent.slice(6).trim())"
    )
    assert sorted(text.partition(" as ")[0] + " as " for text in output) == sorted(proofs)


def test_diff_shows_bytes_and_layouts_side_by_side(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    changes = pages("small diff").document["changes"]
    view = visit("small diff")
    (breaking_change,) = [change for change in changes if change["proof"]]
    view.page.locator("details").first.locator("summary").click()
    for lanes, proof in zip(view.page.locator(".lanes").all(), breaking_change["proof"], strict=True):
        writes, reads = lanes.locator("table").all()
        digits = "".join(writes.locator("td:nth-child(2)").all_inner_texts()).replace(" ", "")
        assert digits == proof["hex"]
        assert reads.locator(".parts td").first.inner_text() == writes.locator(".parts td").first.inner_text()
    assert view.texts(".changes .message") == [" ".join(breaking_change["message"].split())]
    assert view.page.locator(".sides tr:is(.changed, .new, .gone)").count() > 0


def test_a_page_of_many_proofs_has_sentences_for_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    result = SMALL_ONES["diff"]()
    sides = []
    for most in (400, 0):
        monkeypatch.setattr("kiplint.commands.diff.page.MOST_PROOFS", most)
        page = io.StringIO()
        write("html", result, page)
        sides.append((page.getvalue().count('class="proof"'), page.getvalue().count('class="lanes"')))
    (proofs, lanes), short = sides
    assert (proofs == lanes > 0, short) == (True, (proofs, 0))


def test_diff_filters_the_changes_of_a_message(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    changes = pages("shipped diff").document["changes"]
    view = visit("shipped diff")
    what = changes[0]["breaks"]
    view.page.locator(f"input[name=breaks][value={what}]").check()
    parts = view.page.locator("[data-item]:not([hidden]) [data-part]:not([hidden])")
    assert parts.count() == len([change for change in changes if change["breaks"] == what])
    assert set(parts.evaluate_all("found => found.map((one) => one.dataset.breaks)")) == {what}


def test_a_search_keeps_the_changes_with_its_words(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    changes = pages("diff").document["changes"]
    ((name, _),) = Counter(change["message_name"] for change in changes).most_common(1)
    expected = next(change["message"] for change in changes if change["message_name"] == name)
    view = visit("diff")
    view.page.locator("[type=search]").fill(expected)
    script = """(items, message) => items.filter((item) => !item.hidden && item.innerHTML.includes(message)).map((item) =>
      [...item.querySelectorAll("[data-part]")].map((part) => [!part.hidden, `${item.firstElementChild.textContent} ${part.textContent}`]))"""
    (parts, *_) = view.page.locator("[data-item]").evaluate_all(script, expected.replace("<", "&lt;"))
    words = expected.lower().split()
    assert [is_visible for is_visible, _ in parts] == [all(word in text.lower() for word in words) for _, text in parts]
    assert len({is_visible for is_visible, _ in parts}) == 2


def test_negotiate_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    result = msgspec.to_builtins(pages("negotiate").document)
    view = visit("negotiate")
    script = """found => found.map((one) => [
      one.querySelector(".name").textContent.trim(), one.dataset.status,
      ...[...one.querySelectorAll("tbody tr")].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent).join())
    ])"""
    lines = {tuple(parts) for parts in view.page.locator("details[data-item]").evaluate_all(script)}

    def shown_header(value: Any) -> str:
        return "-" if value is None else str(value)

    def line(rpc: dict[str, Any]) -> tuple[str, ...]:
        headers = shown_header(rpc["request_header"]) + " with ClientInstanceId" * rpc["instance_id"]
        ours = ",".join(
            [
                shown_header(rpc["client"]),
                shown_header(rpc["chosen"]),
                headers,
                shown_header(rpc["response_header"]),
                rpc["status"],
            ]
        )
        theirs = [
            ",".join([*(shown_header(broker[name]) for name in ("versions", "chosen", "request_header", "response_header")),
                      broker["status"] + ", deprecated" * broker["deprecated"]])
            for broker in rpc["brokers"]
        ]  # fmt: skip
        return (f"{rpc['name']} {rpc['api_key']}", rpc["status"], ours, *theirs)

    def grid_row(rpc: dict[str, Any]) -> tuple[str, ...]:
        """The row of an RPC in the table of agreed RPCs."""
        ids = " with ClientInstanceId" * rpc["instance_id"]
        theirs = [
            broker["versions"] + (f": {broker['chosen']}" if broker["chosen"] != rpc["chosen"] else "")
            for broker in rpc["brokers"]
        ]
        headers = f"{rpc['request_header']}, {rpc['response_header']}{ids}"
        return (f"{rpc['name']} {rpc['api_key']}", str(rpc["chosen"]), headers, rpc["client"], *theirs)

    grid = view.page.locator("tr[data-item]").evaluate_all(
        "found => found.map((one) => [...one.cells].map((cell) => cell.textContent))"
    )
    names = {row[0] for row in grid}
    rpcs = {f"{rpc['name']} {rpc['api_key']}": rpc for rpc in result["rpcs"]}
    assert names == {
        name
        for name, rpc in rpcs.items()
        if rpc["status"] == "agreed" and not (rpc["message"] or rpc["deprecated"] or rpc["between_nodes"])
    }
    assert {tuple(row) for row in grid} == {grid_row(rpcs[name]) for name in names}
    assert lines == {line(rpc) for name, rpc in rpcs.items() if name not in names}
    view.page.locator("input[name=state][value=agreed]").check()
    assert len(view.texts("tr[data-item]")) == len(names)
    view.page.locator("input[name=state][value=agreed]").uncheck()
    assert len(view.texts(".card")) == len(result["exchanges"]) + len(result["features"])
    assert sum(map(int, view.texts(".chip b"))) == result["summary"]["rpcs"]


def test_matrix_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    document = pages("matrix").document
    view = visit("matrix")
    assert view.texts(".matrix tbody th") == set_titles(*document["releases"])
    squares = [(str(pair["statuses"].get("agreed", 0)), bool(pair["trouble"])) for pair in document["pairs"]]
    script = "found => found.map((one) => [one.textContent, one.className.includes('bad')])"
    assert [tuple(parts) for parts in view.page.locator(".matrix button").evaluate_all(script)] == squares
    places = [at for at, pair in enumerate(document["pairs"]) if pair["trouble"]] or [len(document["pairs"]) - 1]
    pair = document["pairs"][places[0]]
    view.page.locator(".matrix button").nth(places[0]).click()
    script = "found => found.map((one) => [one.dataset.status, one.querySelectorAll('[data-rpc]').length])"
    assert dict(view.page.locator("#pair-body [data-status]").evaluate_all(script)) == pair["statuses"]
    trouble = view.page.locator("section:has(h3.error) [data-rpc]").evaluate_all(
        "found => found.map((one) => one.dataset.rpc)"
    )
    assert sorted(trouble) == pair["trouble"]
    reasons = [list(row) for row in pages("matrix").result.matrix.runs()]  # type: ignore[attr-defined]
    script = "found => found.map((one) => [...one.cells].map((cell) => cell.textContent))"
    assert view.page.locator(".reasons").first.locator("tbody tr").evaluate_all(script) == reasons


def test_matrix_goes_to_a_pair_and_back(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    first, *_, last = set_titles(*pages("matrix").document["releases"])
    view = visit("matrix")
    title = view.page.locator("#pair-title")
    view.page.locator(".matrix button").first.focus()
    view.page.keyboard.press("End")
    view.page.keyboard.press("Enter")
    assert title.inner_text() == f"{first} as the client of {last}"
    view.page.locator("#pair-swap").click()
    assert title.inner_text() == f"{last} as the client of {first}"
    address = view.page.url
    view.page.go_back()
    assert title.inner_text() == f"{first} as the client of {last}"
    view.page.go_back()
    assert not title.is_visible()
    view.page.goto(address)
    assert title.inner_text() == f"{last} as the client of {first}"
    view.page.keyboard.press("Escape")
    view.page.wait_for_function("() => location.hash === ''")
    assert not title.is_visible()


def test_matrix_can_be_filtered(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    answer, result = pages("matrix").document, pages("matrix").result
    assert isinstance(result, MatrixResult)
    name = set_titles(*answer["releases"])[-1]
    view = visit("matrix")
    view.page.locator("[type=search]").fill(name)
    assert view.texts(".matrix button") == [str(answer["pairs"][-1]["statuses"]["agreed"])]
    view.page.locator("[type=search]").fill("")
    view.page.locator("select[name=rpc]").select_option(label="ApiVersions (18)")
    cells = [cell for pair in result.matrix.pairs.values() for cell in pair if cell.name == "ApiVersions"]
    assert view.texts(".matrix button") == [str(cell.chosen) for cell in cells]
    view.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    text = view.page.locator("[data-printed]").text_content()
    assert text == f"Only {view.page.locator('[data-shown]').text_content()}: rpc ApiVersions (18)"
    view.page.locator("[type=search]").press("Enter")
    assert view.page.evaluate("() => document.activeElement === document.querySelector('.matrix button')")
    view.page.locator("select[name=rpc]").select_option("")
    trouble = [str(pair["statuses"].get("agreed", 0)) for pair in answer["pairs"] if pair["trouble"]]
    assert view.texts(".chip b") == [str(len(trouble))] * bool(trouble)
    if trouble:  # in the corpus
        view.page.locator("input[name=only]").check()
        assert set(trouble) <= set(view.texts(".matrix button"))
    view.page.locator("[type=search]").fill("no such release")
    assert view.page.locator("[data-nothing]").is_visible()


def test_matrix_is_stacked_on_a_small_screen(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    names = set_titles(*pages("matrix").document["releases"])
    view = visit("matrix", viewport=SMALL)
    assert (view.texts(".matrix thead th"), view.texts(".matrix tbody th")) == ([], names)
    script = "cells => cells.map((cell) => getComputedStyle(cell, '::after').content)"
    labels = view.page.locator(".matrix tbody tr:last-child td").evaluate_all(script)
    assert labels == [f'"{name}"' for name in names]
    assert view.page.evaluate("() => document.documentElement.scrollWidth") == SMALL["width"]


def test_matrix_has_both_modes_and_a_row_for_releases_that_are_alike(browser: Browser, tmp_path: Path) -> None:
    sets = [(name, SchemaSet(both_modes())) for name in ("2.8.0:", "2.8.1:")]
    last = SchemaSet(both_modes()[4:])
    page = Page(MatrixResult.of([*sets, ("4.0.0:", last)]), tmp_path / "page.html")
    view = Visit(browser, page.file)
    heads, numbers = (lambda: view.texts(".matrix tbody th")), (lambda: view.texts(".matrix button"))
    assert heads() == ["2.8.0 to 2.8.1", "4.0.0"]
    kraft = numbers()
    assert (
        "Brokers of 2.8.0 to 2.8.1 are in KRaft mode; for ZooKeeper mode: --mode zookeeper." in view.texts(".lead")[0]
    )
    view.page.locator("select[name=mode]").select_option(label="ZooKeeper if possible")
    zookeeper = MatrixResult.of([*sets, ("4.0.0:", last)], mode="zookeeper").matrix
    pairs = [(client, broker) for client in ("2.8.0:", "4.0.0:") for broker in ("2.8.0:", "4.0.0:")]
    assert numbers() == [str(sum(cell.status == "agreed" for cell in zookeeper.pairs[pair])) for pair in pairs]
    assert "are in ZooKeeper mode" in view.texts(".lead")[0]
    button = view.page.locator(".matrix button").nth(1)
    label = f"2.8.0 to 2.8.1 as the client of 4.0.0: {numbers()[1]} RPCs can be used"
    assert button.get_attribute("aria-label") == label
    button.hover()
    assert view.texts(".matrix .on th, .matrix th.on") == ["4.0.0", "2.8.0 to 2.8.1"]
    view.page.locator("[type=search]").fill("2.8.1")
    assert (heads(), view.texts("[data-shown]")) == (["2.8.0 to 2.8.1"], ["4 of 9 pairs"])
    view.page.reload()
    assert (heads(), len(kraft)) == (["2.8.0 to 2.8.1"], 4)
    assert (view.messages, view.violations()) == ([], [])
    view.close()


def test_the_report_on_a_lake_shows_what_the_json_has(
    visit: Callable[..., Visit], pages: Callable[[str], Page]
) -> None:
    result = pages("pipeline report").document
    view = visit("pipeline report")
    script = """found => found.map((one) => [one.dataset.rule, one.querySelector(".inside p").textContent.replace(/\\s+/g, " ").trim(),
      ...[...one.querySelectorAll(".facts dd")].map((dd) => dd.textContent.trim())])"""
    lines = {tuple(parts) for parts in view.page.locator("[data-item]").evaluate_all(script)}

    def line(row: dict[str, Any]) -> tuple[str, ...]:
        when = [(row[f"{what}_time"], row[f"{what}_commit"]) for what in ("introduced", "fixed")]
        rows = [f"{time[:10]} {commit[:10]}" for time, commit in when if time]
        releases = [row["first_release"] or "no release", *([row["fixed_release"]] if row["fixed_release"] else [])]
        return (row["rule"], f"{row['severity']}: {row['message']}", *rows, *releases, row["path"])

    assert lines == {line(row) for row in [*result["findings"], *result["breaks"]]}
    assert view.texts(".collisions tbody th") == [collision["message_name"] for collision in result["collisions"]]
    charts = view.page.locator(".chart svg[role=img]").evaluate_all(
        "found => found.map((one) => one.getAttribute('aria-label'))"
    )
    assert charts == ["sample main: from 2 RPCs in 9 versions to 3 in 14; 1 with request header 3"]
    assert view.page.locator(".chart .release title").all_text_contents() == ["1.0.0"]
    errors = [row for row in result["findings"] if row["open"] and row["severity"] == "error"]
    open_first = [error["rule"] for error in errors] + ["compat/layout-changed"]
    script = "found => found.filter((one) => !one.closest('.fold')).map((one) => one.dataset.rule)"
    assert view.page.locator("[data-item]").evaluate_all(script) == open_first
    assert view.texts(".lead") == [
        "1 error is open, and 1 break has been released. kiplint pipeline blame LAKE MESSAGE names the commits."
    ]
    assert len(view.texts(".exceptions li")) == 2
    assert view.texts("[aria-labelledby=newest] tbody td") == ["main", "1", "1", "0", "1"]
    contents = view.page.locator(".contents a").evaluate_all("found => found.map((one) => one.hash)")
    assert contents[:5] == ["#errors", "#released", "#unreleased", "#open", "#fixed"]
    entries = view.texts(".contents li")
    newest = view.texts("[aria-labelledby=newest] tbody td")[1]
    assert entries[:2] == [f"Open errors {newest}", "Breaks that a release has 1"]
    assert all(view.page.locator(f"[id='{anchor[1:]}']").count() == 1 for anchor in contents)
    view.page.locator(".contents a[href='#fixed']").click()
    assert view.texts("#fixed .commit > summary") == ["2024-01-08 0000000000 sample main 1 of 1"]
    view.page.locator("input[name=state][value=fixed]").check()
    assert view.texts("[data-item] .tag:last-child") == ["fixed"]


def _flat_fields(body: dict[str, Any]) -> Iterator[list[str]]:
    for field in body["fields"]:
        yield [field["name"], field["encoding"], field["bytes"]]
        yield from _flat_fields(field) if "fields" in field else ()
    if "tags" in body:
        yield ["tagged fields", "tag section", "varint+"]
        for tag, tag_field in body["tags"].items():
            yield [f"{tag}: {tag_field['name']}", tag_field["encoding"], tag_field["bytes"]]
            yield from _flat_fields(tag_field) if "fields" in tag_field else ()


def _rpcs(messages: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The messages by the RPCs that they are the request and the response of; others by their own names."""
    result: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for message in messages:
        is_rpc = message["message_type"] in ("request", "response")
        key = message["api_key"] if is_rpc else message["message_name"]
        result.setdefault((message["set"], key, is_rpc), []).append(message)
    names = (
        re.sub("(Request|Response)$", "", some[0]["message_name"]) if rpc else key
        for (_, key, rpc), some in result.items()
    )
    return dict(sorted(zip(names, result.values(), strict=True), key=lambda pair: (pair[1][0]["set"], pair[0])))


def test_show_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    rpcs = _rpcs(pages("show").document["messages"])
    view = visit("show")
    keys = [some[0]["api_key"] for some in rpcs.values()]
    names = [name if key is None else f"{name} {key}" for name, key in zip(rpcs, keys, strict=True)]
    assert view.texts("[data-item] .name") == names
    script = """found => found.map((one) => [one.id, ...[...one.querySelectorAll("tbody tr:has(th)")].map((row) =>
      [...row.cells].slice(0, 3).map((cell) => cell.textContent))])"""
    layouts = [
        (message["message_name"], layout) for some in rpcs.values() for message in some for layout in message["layouts"]
    ]
    rows = [[f"{name}@{layout['lowest']}", *_flat_fields(layout)] for name, layout in layouts]
    assert view.page.locator(".layout").evaluate_all(script) == rows


def test_show_says_what_each_version_of_an_rpc_changed(
    visit: Callable[..., Visit], pages: Callable[[str], Page]
) -> None:
    script = """found => found.map((one) => [...one.querySelectorAll(".versions tbody tr")].map((row) =>
      [...row.cells].map((cell) => cell.textContent)))"""
    tables = visit("show").page.locator("[data-item]").evaluate_all(script)
    rpcs = _rpcs(pages("show").document["messages"])
    for messages, table in zip(rpcs.values(), tables, strict=True):
        rows = {int(versions.split("-")[0]): texts for versions, *texts in table}
        for number, message in enumerate(messages):
            for old, new in pairwise(message["layouts"]):
                text = rows[new["lowest"]][number]
                paths = {path for path, _ in _paths(new)} - {path for path, _ in _paths(old)}
                roots = {path for path in paths if path.rpartition("/")[0] not in paths}
                names = {path.rpartition("/")[2] for path in roots}  # a common struct is by its own name in a path
                fields = (part[2:] for part in text.split(", ") if part.startswith("+ "))
                names_of_row = {field.rpartition(".")[2] for field in fields}
                assert names <= names_of_row <= {path.rpartition("/")[2] for path in paths}
                assert ("flexible" in text.split(", ")) == (new["flexible"] and not old["flexible"])


def _paths(body: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for field in [*body.get("fields", ()), *body.get("tags", {}).values()]:
        yield (name := f"{path}/{field['name']}"), field
        yield from _paths(field, name)


def test_show_marks_the_fields_that_a_version_brings_or_encodes_otherwise(
    visit: Callable[..., Visit], pages: Callable[[str], Page]
) -> None:
    expected: dict[str, Counter[str]] = {}
    for message in pages("show").document["messages"]:
        for old, new in pairwise(message["layouts"]):
            marks = expected.setdefault(f"{message['message_name']}@{new['lowest']}", Counter())
            before = dict(_paths(old))
            for path, field in _paths(new):
                if path not in before:
                    marks[f"{field['name']}: new here"] += 1
                elif any(before[path][key] != field[key] for key in ("encoding", "bytes", "tagged")):
                    marks[f"{field['name']}: changed"] += 1
    view = visit("show")
    script = """found => found.map((one) => [one.id, [...one.querySelectorAll("tr:has(.tag)")].map((row) =>
      [row.cells[0].textContent.replace(/^\\d+: /, ""), row.querySelector(".tag").textContent])])"""
    marks_by_anchor = {
        anchor: Counter(f"{name}: {mark if mark == 'new here' else 'changed'}" for name, mark in marks)
        for anchor, marks in view.page.locator(".layout").evaluate_all(script)
        if anchor in expected
    }
    assert marks_by_anchor == expected
    words = Counter(text for text in view.page.locator(".layout .tag").all_text_contents())
    assert words["now compact"] > 0 == words["now"]


def test_show_goes_to_a_version_and_back(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    halves = _rpcs(pages("shipped show").document["messages"])["Metadata"]
    view = visit("shipped show")
    view.page.locator("[type=search]").fill("metadatarequest")
    view.page.locator("[data-item]:visible > summary", has_text="Metadata 3").click()
    newest, oldest = ([f"{half['message_name']}@{half['layouts'][at]['lowest']}" for half in halves] for at in (-1, 0))

    def layouts(visit: Visit) -> list[str]:
        script = "found => found.filter((one) => one.open && one.checkVisibility()).map((one) => one.id)"
        ids: list[str] = visit.page.locator(".layout").evaluate_all(script)
        return ids

    assert layouts(view) == newest
    view.page.locator(".versions:visible a").first.click()
    assert view.page.url.endswith("#MetadataRequest@0")
    assert layouts(view) == [oldest[0], *newest]
    view.page.go_back()
    assert layouts(view) == newest
    assert layouts(visit("shipped show", oldest[1])) == [newest[0], oldest[1], newest[1]]


def test_show_has_an_anchor_for_every_version(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    rpcs = _rpcs(pages("shipped show").document["messages"])
    layouts = [(name, layout) for name, (message, *_) in rpcs.items() for layout in message["layouts"]]
    name, layout = max(layouts, key=lambda row: (row[1]["highest"] - row[1]["lowest"], row[0]))
    message = rpcs[name][0]["message_name"]
    view = visit("shipped show", f"{message}@{layout['highest']}")
    assert layout["highest"] > layout["lowest"]
    assert any(text.startswith(f"{message} {layout['versions']} ") for text in view.texts(".layout[open] h3"))


def test_one_message_is_open(browser: Browser, tmp_path: Path) -> None:
    page = Page(show("MetadataRequest", FIXTURES / "sets/broker"), tmp_path / "page.html")
    view = Visit(browser, page.file)
    assert len(view.texts(".layout[open]")) == 1
    assert view.texts(".bar, .lead") == []
    view.close()


def test_show_finds_fields(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    view = visit("shipped show")
    view.page.locator("[type=search]").fill("clustera")
    assert 0 < len(view.texts("[data-item]")) < len(_rpcs(pages("shipped show").document["messages"]))
    view.page.locator("[type=search]").fill("")
    view.page.locator("input[name=type][value=RPC]").check()
    assert {text.rsplit(" ", 1)[-1] for text in view.texts("[data-item] .tags")} == {"RPC"}


DETAILS = {
    "shipped check": ".code mark",
    "shipped diff": ".changes li",
    "small rollout": ".facts",
    "small negotiate": "table",
    "pipeline report": ".facts",
    "small decode": ".wire",
}


@pytest.mark.parametrize("name", DETAILS)
def test_a_detail_opens_and_closes_again(name: str, visit: Callable[..., Visit]) -> None:
    view = visit(name)
    first_item = view.page.locator("details[data-item]:not([open])").first
    anchor = first_item.get_attribute("id")
    inside = view.page.locator(f"[id='{anchor}'] {DETAILS[name]}").first
    view.page.locator(f"[id='{anchor}'] > summary").click()
    assert (inside.is_visible(), view.page.url.endswith(f"#{anchor}")) == (True, True)
    view.page.go_back()
    assert (inside.is_visible(), "#" in view.page.url) == (False, False)
    landing = visit(name, anchor)
    assert landing.page.locator(f"[id='{anchor}'] {DETAILS[name]}").first.is_visible()
    landing.page.wait_for_function("id => document.activeElement.parentElement.id === id", arg=anchor)
    landing.page.keyboard.press("j")
    assert landing.page.evaluate("() => document.activeElement.parentElement.id") != anchor


def test_details_of_a_long_page_are_made_when_they_are_opened(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiplint.render.page.MOST_IN_PLACE", 1)
    result = _diff(None)
    page = Page(result, tmp_path / "page.html")
    view = Visit(browser, page.file)
    assert view.page.locator(".inside").count() == 0
    change = page.document["changes"][-1]
    view.page.locator("[type=search]").fill(change["message"])
    names = view.texts("[data-item] .name")
    assert 0 < len(names) < view.page.locator("[data-item]").count()
    view.page.locator("select[name=rule]").select_option(change["rule"])
    view.page.locator("[data-item]:visible > summary").first.click()
    assert change["message"] in view.page.locator("[data-part]:visible .message").all_text_contents()
    assert {part.get_attribute("data-rule") for part in view.page.locator("[data-part]:visible").all()} == {
        change["rule"]
    }
    anchor = view.page.locator("[data-part]:visible").first.get_attribute("id")
    landing = Visit(browser, page.file, anchor or "")
    landing.page.wait_for_function("id => document.activeElement.id === id", arg=anchor)
    assert landing.page.locator(".inside").count() == 1
    landing.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert landing.page.locator("[data-part]").count() == len(page.document["changes"])
    for visit in (view, landing):
        assert (visit.messages, visit.others) == ([], [])
        visit.close()


def test_rows_of_a_long_page_are_placed_when_their_fold_is_opened(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiplint.render.page.MOST_IN_PLACE", 1)
    document = lake_document("FetchRequest")
    _, fixed_row, warning = document["findings"]
    document["findings"] += [
        {**row, "message": f"number {number}"}
        for row in (warning, {**fixed_row, "introduced_commit": "f" * 40, "field": "Topics.Name"})
        for number in range(150)
    ]
    page = Page(
        LakeReport(findings=(), document=msgspec.convert(document, ReportDocument), severity="info"),
        tmp_path / "page.html",
    )
    rows, commits = "[data-item]", "details.commit"
    script = "found => found.map((one) => [one.open, one.querySelector('[data-left]').textContent])"

    view = Visit(browser, page.file)
    assert view.texts("[data-shown]") == ["305 entries"]
    assert view.page.locator(rows).count() == 2
    search = view.page.locator("[type=search]")
    search.fill("number")  # more than is opened at once, and already in the first commit
    assert view.page.locator(commits).evaluate_all(script) == [
        [False, "0"],
        [True, "150"],
        [False, "0"],
        [False, "150"],
    ]
    assert view.page.locator(rows).count() == 153
    search.fill("unknown-type 149")
    assert view.page.locator(rows).filter(visible=True).locator(".key").all_text_contents() == [
        "fields/unknown-type Topics.Name"
    ]
    search.press("Enter")
    assert view.page.evaluate("() => document.activeElement.parentElement.id") == "unknown-type-FetchRequest~151"
    search.fill("")
    assert {one for one, _ in view.page.locator(commits).evaluate_all(script)} == {False}
    view.page.locator("summary", has_text="Breaks that no release has").click()
    view.page.locator("summary", has_text="2" * 10).click()
    assert view.page.locator(rows).count() == 305 - 1

    landing = Visit(browser, page.file, "unknown-type-FetchRequest~2")
    landing.page.wait_for_function("() => document.activeElement.parentElement.id === 'unknown-type-FetchRequest~2'")
    assert landing.texts(".inside p:first-child") == ["error: number 0"]
    assert landing.page.locator(rows).count() == 152
    landing.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert landing.page.locator(rows).count() == landing.page.locator(".inside").count() == 305
    for visit in (view, landing):
        assert (visit.messages, visit.others) == ([], [])
        visit.close()


def test_back_closes_what_was_opened_last_and_opens_nothing_else(visit: Callable[..., Visit]) -> None:
    view = visit("shipped diff")
    first, second = view.page.locator("details[data-item] > summary").all()[:2]
    first.click()
    second.click()
    view.page.go_back()
    script = "found => found.map((one) => one.open)"
    assert view.page.locator("details[data-item]").evaluate_all(script)[:2] == [True, False]
    view.page.go_back()
    assert view.page.locator("details[data-item]").evaluate_all(script)[:2] == [False, False]


def test_a_search_marks_its_hits_and_leads_to_the_first(visit: Callable[..., Visit]) -> None:
    view = visit("shipped diff")
    word = view.page.locator("[data-item] .name").nth(1).inner_text().split()[0]
    search = view.page.locator("[type=search]")
    search.fill(word)
    assert 0 < view.page.locator("[data-item]:visible").count() < view.page.locator("[data-item]").count()
    script = "() => [...CSS.highlights.get('hit')].map((one) => one.startContainer.data.slice(one.startOffset, one.endOffset).toLowerCase())"
    assert set(view.page.evaluate(script)) == {word.lower()}
    view.page.emulate_media(media="print")
    view.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    count = view.page.locator("[data-shown]").text_content()
    assert view.texts("[data-printed]") == [f"Only {count}: search {word}"]
    view.page.emulate_media(media="screen")
    search.press("Enter")
    assert view.page.evaluate(
        "() => document.activeElement === [...document.querySelectorAll('[data-item]')].find((one) => !one.hidden).querySelector('summary')"
    )
    search.focus()
    search.press("Escape")
    assert (search.input_value(), view.page.evaluate("() => document.activeElement.tagName")) == ("", "BODY")
    assert view.page.evaluate("() => CSS.highlights.get('hit').size") == 0


def test_decode_shows_the_bytes_of_frames(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    frames = {frame["number"]: frame for frame in pages("decode").document["frames"]}
    rows = pages("decode").result.entries  # type: ignore[attr-defined]
    faulty = {
        row.captured.number for row in rows if row.frame.problems or row.frame.errors or row.captured.is_unanswered
    }
    requests = {frames[number].get("request") for number in faulty} - {None}
    view = visit("decode")
    expected = {f"frame-{number}" for number in faulty | requests}
    script = """found => found.map((one) => [one.id, [...one.querySelectorAll("table")].map((table) => [
      [...table.querySelectorAll("td:nth-child(2)")].map((cell) => cell.textContent).join(" "),
      [...table.querySelectorAll("mark")].map((mark) => Number(mark.closest("tr").cells[0].textContent) +
        mark.previousSibling.textContent.trim().split(" ").filter(Boolean).length)])])"""
    tables = dict(view.page.locator("[data-item]").evaluate_all(script))
    assert tables.keys() == expected
    script = "found => found.map((one) => [one.id, one.querySelector('.name').firstChild.textContent.trim()])"
    names = dict(view.page.locator("[data-item]").evaluate_all(script))
    assert names == {f"frame-{number}": frames[number]["message"] for number in faulty | requests}
    for number in faulty | requests:
        frame, (own, *others) = frames[number], tables[f"frame-{number}"]
        numbers = [number, frame["request"]] if number in faulty and frame.get("request") else [number]
        assert len([own, *others]) == len(numbers)
        for (digits, _), frame_number in zip([own, *others], numbers, strict=True):
            whole = frames[frame_number]["hex"]
            pieces = "".join(digits.split()).split("...")
            assert all(piece in whole for piece in pieces)
            assert len(pieces) > 1 or pieces == [whole]
        assert set(own[1]) <= {problem["offset"] for problem in frame["problems"]}
        assert bool(own[1]) is bool(frame["problems"])
    links = view.page.locator("h3 a")
    targets = links.evaluate_all("found => found.map((one) => one.hash.slice(1))")
    answers = [frames[number]["request"] for number in faulty if frames[number].get("request")]
    assert sorted(targets) == sorted(f"frame-{request}" for request in answers)
    if answers:  # the capture that comes with kiplint has no faulty response
        links.first.evaluate("one => { one.closest('details').open = true; one.click(); }")
        view.page.wait_for_function("id => document.activeElement.parentElement.id === id", arg=targets[0])


def test_decode_lists_all_frames_where_they_are_wanted() -> None:
    words = DecodeCommand.of(FIXTURES / "bytes/client.pcap", sets=[FIXTURES / "sets/broker/clients"], rows=True)
    page = io.StringIO()
    write("html", decode(words, detailed=True), page)
    assert re.findall(r' id="(frame-\d+)"', page.getvalue()) == [f"frame-{number}" for number in range(1, 6)]
    assert page.getvalue().count('<table class="wire">') == 5
    assert page.getvalue().count("<mark>00</mark>") == 2


def test_rollout_shows_what_the_json_has(visit: Callable[..., Visit], pages: Callable[[str], Page]) -> None:
    document = pages("rollout").document
    view = visit("rollout")
    rows = {(rpc["name"], str(rpc["api_key"]), rpc["status"]) for rpc in document["rpcs"]}
    texts = [_flat(text) for text in view.page.locator("[data-item] .name").all_text_contents()]
    names = [tuple(text.rsplit(" ", 1)) for text in texts]
    statuses = view.page.locator("[data-item] summary .tag").all_text_contents()
    assert {(*name, status) for name, status in zip(names, statuses, strict=True)} == rows
    assert len(names) == len(document["rpcs"])
    script = """found => Object.fromEntries(found.map((one) => [one.id,
      [...one.querySelectorAll(".strip i:not(.gap)")].map((cell) => [cell.textContent, cell.title])]))"""
    strips = view.page.locator("[data-item]").evaluate_all(script)
    for rpc in document["rpcs"]:
        output = strips[rpc["name"]]
        assert all(
            f"header {number}" in title
            for versions, number in rpc["header_versions"].items()
            for text, title in output
            if text in versions.split("-")
        )
        assert (output == []) is (rpc["versions"] == "none")
    view.page.locator("input[name=status]").first.check()
    assert len(set(view.texts("[data-item] summary .tag"))) == 1


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_is_fit_for_everyone(name: str, visit: Callable[..., Visit]) -> None:
    """Axe, with a detail open, and once more in the dark for the colours; small screens; the choice of colours; paper."""
    view = visit(f"small {name}", viewport=SMALL)
    assert view.page.evaluate("() => document.documentElement.scrollWidth") == SMALL["width"]
    view.page.evaluate("() => { const one = document.querySelector('details'); if (one) one.open = true; }")
    assert view.violations() == []
    light = view.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    view.page.get_by_label("Dark").check()
    assert view.page.evaluate("() => getComputedStyle(document.body).backgroundColor") != light
    assert view.violations("color-contrast") == []
    assert any(_is_dark_again(view) for _ in range(20))
    assert view.page.pdf().startswith(b"%PDF-")
    address = view.page.url
    view.page.keyboard.press("Home")
    view.page.locator(".skip").focus()
    view.page.keyboard.press("Enter")
    assert (view.page.evaluate("() => document.activeElement.id"), view.page.url) == ("main", address)


def _is_dark_again(view: Visit) -> bool:
    """Whether a page that is loaded again knows the choice; a busy browser keeps it a moment later, or once not at all."""
    view.page.get_by_label("Dark").check()
    view.page.wait_for_timeout(20)
    view.page.reload()
    return view.page.get_by_label("Dark").is_checked()


def _bodies() -> bytes:
    return b"\n".join(msgspec.json.encode({"message": f"{name}Request", "version": 0, "hex": "0000"}) for name in NAMES)


@pytest.mark.parametrize(
    "command", ["check", "long check", "decode", "diff", "rollout", "negotiate", "matrix", "show", "pipeline report"]
)
def test_hostile_names_are_text(
    command: str, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = hostile_sets(tmp_path)
    if command == "long check":
        monkeypatch.setattr("kiplint.render.page.MOST_IN_PLACE", 0)
    results: dict[str, Callable[[], RunResult]] = {
        "check": lambda: kiplint.check(new, config={}),
        "decode": lambda: kiplint.decode(_bodies(), input_format="jsonl", sets=[str(new)]),
        "diff": lambda: kiplint.diff(old, new),
        "rollout": lambda: kiplint.rollout(old, new),
        "negotiate": lambda: kiplint.negotiate(old, new),
        "matrix": lambda: negotiate_all(old, new),
        "show": lambda: show_all(new),
        "pipeline report": lambda: _lake(None, name=NAMES[3]),
    }
    page = Page(results[command.removeprefix("long ")](), tmp_path / "page.html")
    view = Visit(browser, page.file)
    view.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")  # makes details
    assert view.page.locator(".code").count() > 0 or "check" not in command
    view.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    if command == "matrix":
        view.page.locator(".matrix button").first.click()
        assert view.page.locator("#pair-title").inner_text() == f"{old.name} as the client of {old.name}"
        view.page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert "<script>alert(1)</script>" in view.page.locator("main").inner_text()
    scripts = "() => [...document.scripts].map((one) => one.type + one.parentElement.tagName)"
    assert view.page.evaluate(scripts) in (["HEAD"], ["HEAD", "application/jsonBODY"])
    assert (view.messages, view.others) == ([], [])
    view.close()


def test_a_page_says_how_it_was_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kiplint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("GITHUB_SHA", "4f2c" * 10)
    monkeypatch.setattr("sys.argv", ["/usr/bin/kiplint", "check", "a b", "--repo", "https://me:secret@host/x.git"])
    page = io.StringIO()
    write("html", kiplint.check(FIXTURES / "sets/broker", config="kiplint.toml"), page)
    foot = page.getvalue().partition("<footer")[2].partition("</span>")[0]
    text = " ".join(re.sub("<[^>]*>", "", foot.partition(">")[2]).split())
    assert text == (
        f"Made by kiplint {kiplint.__version__} on 1970-01-01 00:00 UTC with "
        "kiplint check &#39;a b&#39; --repo https://host/x.git at commit 4f2c4f2c4f2c"
    )
    assert '<span class="mono">kiplint.toml</span>' in page.getvalue()


def test_files_are_linked_where_github_shows_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in (("SERVER_URL", "https://github.com"), ("REPOSITORY", "apache/kafka"), ("SHA", "4f2c")):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "XRequest.json").write_text('{"type": "request", "name": "XRequest", "validVersions": "x"}')
    page = io.StringIO()
    write("html", kiplint.check("a b"), page)
    assert (
        '<a href="https://github.com/apache/kafka/blob/4f2c/a%20b/XRequest.json">XRequest.json</a>' in page.getvalue()
    )


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (["4.0.0:"], ["4.0.0"]),
        (["schemas"], ["schemas"]),
        (["/home/me/kafka/common/message"], ["common/message"]),
        (["/a/4.0.0/message", "/a/4.1.0/message"], ["4.0.0", "4.1.0"]),
        (["/a/b", "/a/b/c"], ["b", "b/c"]),
        (["/a/x", "/a/x"], ["a/x", "a/x"]),
        (["4.0.0:", "4.1.0:clients"], ["4.0.0", "4.1.0:clients"]),
        (["a/x/z", "b/x/z", "b/y/z"], ["a/x", "b/x", "b/y"]),
    ],
)
def test_titles_of_sets(names: list[str], titles: list[str]) -> None:
    assert set_titles(*names) == titles


def test_the_list_of_rules_can_be_filtered(browser: Browser, tmp_path: Path) -> None:
    body = MarkdownIt().enable("table").render((ROOT / "docs/reference/rules.md").read_text("utf-8"))
    body = re.sub(r"<h2>([\w-]+)</h2>", r'<h2 id="\1">\1</h2>', body)
    script = (ROOT / "docs/assets/rules.js").read_text("utf-8")
    page = tmp_path / "rules.html"
    page.write_text(f'<!doctype html><script>{script}</script><div class="md-content">{body}</div>', "utf-8")
    view = Visit(browser, page)
    rows = view.page.locator("table:has(th:nth-child(3):text-is('fix')) tbody tr:visible")
    everything = rows.count()
    view.page.get_by_label("All packs").select_option("tags")
    assert 0 < rows.count() < everything
    assert all("/tags.md" in address for address in rows.locator("a").evaluate_all("all => all.map((one) => one.href)"))
    assert view.texts("output") == [f"{rows.count()} rules"]
    view.page.get_by_label("With and without a fix").select_option("with a fix")
    assert set(rows.locator("td:nth-child(3)").all_text_contents()) == {"yes"}
    view.page.get_by_label("All packs").select_option("")
    view.page.get_by_label("All severities").select_option("warning")
    assert all("warning" in text for text in rows.locator("td:nth-child(2)").all_text_contents())
    view.page.get_by_label("Search rules").fill("no such rule")
    assert (rows.count(), view.texts("output"), view.messages, view.others) == (0, ["0 rules"], [], [])
    view.close()
