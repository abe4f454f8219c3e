"""Baselines: fingerprints with counts, which neither lines nor paths can change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kiplint.engine.baseline import (
    Baseline,
    BaselineEntry,
    BaselineFile,
    StaleEntry,
    baseline_of,
    drop_stale,
    new_findings,
    parse,
    read_baseline,
    render,
    stale_entries,
    write_baseline,
)
from kiplint.engine.config import Config
from kiplint.engine.finding import Finding
from tools import check, complaint, definition, field

FIVE = [field(f"F{number}", "int32", "0+") for number in range(5)]


def findings_in(*fields: dict[str, object], path: str = "XRequest.json", before: bytes = b"") -> list[Finding]:
    """What style/about-missing finds in a request with these fields."""
    return check({path: before + definition(*fields)}, Config(select=["style/about-missing"]))


def record(*findings: Finding) -> Baseline:
    return baseline_of(findings, ["set"])


def entry(count: int = 1, **others: str) -> BaselineEntry:
    whole = {"message_name": "A", "rule": "tags/gap", "place": "/name", "fingerprint": "0" * 32, **others}
    return BaselineEntry(count=count, **whole)


def compare(baseline: Baseline, findings: list[Finding]) -> tuple[tuple[Finding, ...], tuple[StaleEntry, ...]]:
    """The new findings and the stale entries."""
    return new_findings(findings, baseline.counts), stale_entries(baseline, findings)


def test_neither_lines_nor_order_nor_the_file_matter() -> None:
    findings = findings_in(*reversed(FIVE), path="elsewhere/Y.json", before=b"// one\n" * 10)
    assert compare(record(*findings_in(*FIVE)), findings) == ((), ())


def test_a_count_is_used_up_by_the_first() -> None:
    (recorded_finding,) = findings_in(FIVE[0])
    three = [replace(recorded_finding, line=line, end_line=line) for line in (1, 2, 3)]
    assert record(*three).findings[0].count == 3
    assert [finding.span.line for finding in new_findings(three, record(*three[:2]).counts)] == [3]


def test_the_file_has_a_line_for_each_finding_in_order() -> None:
    baseline = baseline_of([*findings_in(*FIVE[:2]), *findings_in(FIVE[0])], ["set", "other", "set"])
    assert render(baseline).decode() == (
        '{"version": 1, "checked": ["other","set"], "findings": [\n'
        '{"message_name":"XRequest","rule":"style/about-missing","place":"/fields[F0]/name","count":2,'
        f'"fingerprint":"{findings_in(FIVE[0])[0].fingerprint}"}},\n'
        '{"message_name":"XRequest","rule":"style/about-missing","place":"/fields[F1]/name","count":1,'
        f'"fingerprint":"{findings_in(FIVE[1])[0].fingerprint}"}}\n]}}\n'
    )


HEX = st.text("0123456789abcdef", min_size=32, max_size=32)
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
ENTRIES = st.builds(
    BaselineEntry, message_name=TEXT, rule=TEXT, place=TEXT, count=st.integers(1, 2**40), fingerprint=HEX
)  # fmt: skip


@given(st.lists(ENTRIES, unique_by=lambda entry: entry.fingerprint), st.lists(TEXT))
def test_what_is_written_can_be_read(entries: list[BaselineEntry], set_names: list[str]) -> None:
    order = sorted(entries, key=lambda entry: (entry.message_name, entry.rule, entry.place, entry.fingerprint))
    baseline = Baseline(1, tuple(sorted(set(set_names))), tuple(order))
    text = render(baseline)
    assert parse(text, "b.json") == baseline
    assert json.loads(text)["version"] == 1
    assert len(text.splitlines()) == max(len(entries), 1) + 2


@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_recorded_and_new_findings_add_up(debt: list[int], now: list[int]) -> None:
    pool = findings_in(*FIVE)
    baseline, findings = record(*(pool[index] for index in debt)), [pool[index] for index in now]
    new, stale = compare(baseline, findings)
    paid = drop_stale(baseline, stale)
    assert len(findings) - len(new) == paid.total
    assert len(debt) - paid.total == sum(entry.count - entry.left for entry in stale)
    assert compare(paid, findings) == (new, ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", "b.json is not a baseline: Expected `object`, got `array`"),
        (b"<<<<<<< HEAD\n", "b.json is not a baseline: JSON is malformed: invalid character (byte 0)"),
        (b'{"version": 2}', "b.json is not a baseline: Invalid enum value 2 - at `$.version`"),
        (b'{"version": "2.1.0"}', "b.json is not a baseline: "),
        (
            b'{"version": 1, "findings": [], "summary": {}}',
            "b.json is not a baseline: Object missing required field `checked`",
        ),
        (b"[" * 1_000_000, "b.json is not a baseline: "),
        (render(Baseline(1, (), (entry(count=0),))), "Expected `int` >= 1 - at `$.findings[0].count`"),
        (render(Baseline(1, (), (entry(fingerprint="x"),))), "at `$.findings[0].fingerprint`"),
        (b'{"version": 1, "checked": ["\xff"], "findings": []}', "b.json is not a baseline: "),
    ],
)
def test_an_invalid_baseline_is_refused(text: bytes, message: str) -> None:
    assert message in complaint(lambda: parse(text, "b.json"))


# Where baselines are read from and written to


SOME = Baseline(1, ("set",), ())


@pytest.mark.parametrize("name", ["../victim.json", "link.json", "folder/victim.json"])
def test_a_configuration_names_no_file_outside_its_tree(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim.json").write_bytes(b"untouched")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "link.json").symlink_to("../victim.json")
    (tree / "folder").symlink_to("..")
    file = str(tree / name)
    error = complaint(lambda: write_baseline(SOME, BaselineFile(file, config_folder=str(tree))))
    assert error == f"cannot write the baseline {file}: it is outside {tree}; name it with --baseline to allow that"
    assert (tmp_path / "victim.json").read_bytes() == b"untouched"
    write_baseline(SOME, BaselineFile(file))
    assert (tmp_path / "victim.json").read_bytes() == render(SOME)


def test_a_directory_whose_name_begins_like_that_of_the_tree_is_outside(tmp_path: Path) -> None:
    for name in ("tree", "tree-2"):
        (tmp_path / name).mkdir()
    file = BaselineFile(str(tmp_path / "tree/../tree-2/b.json"), config_folder=str(tmp_path / "tree"))
    assert "it is outside" in complaint(lambda: write_baseline(SOME, file))
    assert list((tmp_path / "tree-2").iterdir()) == []


def test_a_link_inside_the_tree_stays(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    write_baseline(SOME, BaselineFile(str(tmp_path / "link.json"), config_folder=str(tmp_path)))
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == render(SOME)


LICENCE = b"/* Licensed to nobody. */\n// Do as you like.\n\n"


def test_a_licence_comment_is_read_and_stays(tmp_path: Path) -> None:
    file = BaselineFile(str(tmp_path / "known.json"))
    write_baseline(SOME, file)
    (tmp_path / "known.json").write_bytes(LICENCE + (tmp_path / "known.json").read_bytes())
    assert read_baseline(file) == SOME
    write_baseline(Baseline(1, ("another",), ()), file)
    assert (tmp_path / "known.json").read_bytes().startswith(LICENCE + b"{")
    assert read_baseline(file) == Baseline(1, ("another",), ())
