"""Small cases out of people's reports, with their right answers: `../shared/field`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from tools import kiplint

FIELD = Path(os.environ.get("KIPLINT_CORPUS", ROOT.parent / "shared/corpus")).resolve().parent / "field"
NOT_IGNORABLE = "warning compat/new-field-not-ignorable"


@pytest.fixture(autouse=True)
def _cases() -> None:
    if not FIELD.is_dir():
        pytest.skip(f"needs the cases in {FIELD}")


def results(folder: Path, *words: str) -> list[tuple[str, str]]:
    """The errors and warnings of a command line in a folder: file with line, and severity with rule."""
    isolated = () if words[0] == "review" else ("--isolated",)
    out = kiplint(*words, *isolated, "--output-format", "concise", cwd=folder).out
    matches = (re.match(r"(?:.*[/:])?(\w+\.json:\d+):\d+: ((?:error|warning) \S+)", line) for line in out.splitlines())
    return [(match[1], match[2]) for match in matches if match]


@pytest.mark.parametrize(
    ("case", "words", "right"),
    [
        ("01", ("check", "new"), [("ReadLogRequest.json:13", "warning versions/versions-missing")]),
        ("01", ("diff", "old", "new"), [("ReadLogRequest.json:13", NOT_IGNORABLE)]),
        (
            "01",
            ("check", "advised"),
            [
                ("ReadLogRequest.json:12", "warning conventions/id-default"),
                ("ReadLogRequest.json:13", "warning versions/versions-missing"),
            ],
        ),
        ("02", ("check", "."), [("DescribeSquadsResponse.json:9", "error versions/field-above-valid")]),
        ("04", ("diff", "old", "new"), [("EnrolBrokerRequest.json:13", NOT_IGNORABLE)]),
        (
            "06",
            ("check", "."),
            [
                ("PulseRequest.json:13", "warning conventions/later-without-default"),
                ("SaveOffsetsRequest.json:13", "warning fields/later-nullable-without-default"),
            ],
        ),
        ("07", ("check", "."), [("BeatRequest.json:11", "warning shape/coerced-value")]),
        ("08", ("check", "above"), [("SettingRecord.json:11", "error versions/field-above-valid")]),
        ("14", ("check", "set"), []),
        ("35", ("check", "."), [("PlainReply.json:3", "warning structs/unused")]),
        ("38", ("check", "."), []),
        ("14", ("check", "tree"), []),
        (
            "34",
            ("check", "new"),
            [
                ("MemberValue.json:3", "warning fields/later-nullable-without-default"),
                ("MemberValue.json:5", "warning fields/later-nullable-without-default"),
            ],
        ),
    ],
)
def test_cases(case: str, words: tuple[str, ...], right: list[tuple[str, str]]) -> None:
    [folder] = FIELD.glob(f"{case}-*")
    assert results(folder, *words) == right


def test_the_second_of_two_equal_names_is_wrong() -> None:
    [folder] = FIELD.glob("08-*")
    assert ("SettingRecord.json:11", "error fields/duplicate-name") in results(folder, "check", "twice")


def test_the_default_of_an_id() -> None:
    [folder] = FIELD.glob("09-*")
    assert ("read_log_response.json:12", "warning conventions/id-default") in results(folder, "check", ".")


@pytest.mark.parametrize("name", ["Reason", "Cause"])
def test_a_new_field_counts_whatever_its_name(name: str, tmp_path: Path) -> None:
    [folder] = FIELD.glob("03-*")
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        for file in folder.glob("*.json"):
            text = file.read_text("utf-8").replace("Reason", name)
            if side == "old":
                text = text.replace('"0-8"', '"0-7"')
                text = re.sub(rf',\n *\{{ "name": "{name}".*', "", text)
            (tmp_path / side / file.name).write_text(text, "utf-8")
    assert results(tmp_path, "diff", "old", "new") == [("EnterGroupRequest.json:13", NOT_IGNORABLE)]


def test_the_safe_fix_of_a_tag_in_quotes() -> None:
    [folder] = FIELD.glob("07-*")
    assert "+" in kiplint("check", ".", "--isolated", "--diff", cwd=folder).out


def test_a_bump_says_which_version_is_the_first_flexible_one() -> None:
    [folder] = FIELD.glob("38-*")
    patch = kiplint("migrate", "bump", "AskPlan", "--diff", cwd=folder).out
    assert patch.count("+  // Version 6 is the first flexible version.\n") == 2


def test_requests_without_listeners_are_offered() -> None:
    [folder] = FIELD.glob("11-*")
    result = kiplint("negotiate", "broker", "broker", "--output-format", "json", cwd=folder)
    rows = {row["name"]: (row["status"], row["chosen"]) for row in json.loads(result.out)["rpcs"]}
    versions = {"Produce": 8, "Fetch": 11, "Metadata": 9, "ApiVersions": 2, "DeleteRecords": 1}
    assert (result.code, rows) == (0, {name: ("agreed", version) for name, version in versions.items()})


def test_one_version_with_two_layouts_is_not_common() -> None:
    [folder] = FIELD.glob("12-*")
    result = kiplint("negotiate", "fork", "upstream", "--output-format", "json", cwd=folder)
    [row] = json.loads(result.out)["rpcs"]
    assert (result.code, row["status"], row["usable"], row["chosen"]) == (1, "layout-differs", "0-2", 2)
    assert row["message"] == "version 3 is encoded differently by upstream; the last safe version is 2"


def test_one_key_of_two_branches(tmp_path: Path) -> None:
    [folder] = FIELD.glob("15-*")
    subprocess.run(["bash", folder / "make.sh", tmp_path], check=True, capture_output=True)
    right = [("AlterGroupsRequest.json:2", "error compat/api-key-reused")]
    assert results(tmp_path, "review", "--base", "1.0.0") == right
    assert results(tmp_path, "diff", "1.1.0:", "clusters:") == right


def test_a_tag_of_a_later_version_is_a_problem(tmp_path: Path) -> None:
    [folder] = FIELD.glob("16-*")
    data = "".join((folder / "fetch16.hex").read_text().split())
    frame = {"direction": "request", "api_key": 1, "api_version": 16, "hex": data}
    (tmp_path / "frame.jsonl").write_text(json.dumps(frame))
    trunk = FIELD.parent / "corpus/kafka-trunk-2026-08/clients"
    words = ("decode", "--input-format", "jsonl", "--output-format", "jsonl", "--set", str(trunk), "frame.jsonl")
    result = kiplint(*words, cwd=tmp_path)
    [problem] = json.loads(result.out)["problems"]
    assert (result.code, problem["rule"]) == (1, "codec/tag-version")
    assert problem["message"].startswith("tag 0 is ReplicaDirectoryId in versions 17+, not in this one")


def lines(case: str, *words: str) -> list[str]:
    """The lines of a command in the folder of a case: rule and message of each change or finding."""
    [folder] = FIELD.glob(f"{case}-*")
    result = kiplint(*words, "--isolated", "--output-format", "jsonl", cwd=folder)
    rows = [json.loads(line) for line in result.out.splitlines()]
    return [f"{row['rule']} {row['message']}" for row in rows]


def test_a_version_that_becomes_stable_is_new_with_its_fields() -> None:
    stable = "version 1 is new for clients: it is no longer unstable"
    assert lines("32", "diff", "old", "new") == [
        "compat/new-version AskPlanRequest: " + stable,
        "compat/new-field-not-ignorable AskPlanRequest 1, WithPlan: WithPlan is not ignorable: once it is set, no version "
        "before 1 can be written",
        "compat/new-field AskPlanRequest 1, WithPlan: WithPlan (bool) was added in version 1",
        "compat/new-version AskPlanResponse: " + stable,
        "compat/new-field AskPlanResponse 1, Plan: Plan (string) was added in version 1",
    ]
    changed = (
        "compat/unstable-changed AskPlanRequest: version 1 changed while it was unstable, and is final now: WithPlan"
    )
    assert changed in lines("32", "diff", "old", "new2")


def test_a_tagged_field_says_what_data_without_it_reads_as() -> None:
    assert lines("34", "diff", "old", "new") == [
        "compat/new-tag MemberValue 0, Classic: Classic was added with tag 0; data without it reads as a struct of defaults",
        'compat/new-tag MemberValue 0, Note: Note was added with tag 1; data without it reads as ""',
    ]


def test_a_new_version_without_a_field() -> None:
    ended = "compat/field-ended ReadLogRequest 2, FollowerId: FollowerId was removed in version 2"
    assert ended in lines("56", "diff", "old", "new")


def test_a_closed_field_beside_open_ones() -> None:
    message = "Epoch ends with version 0, but other fields of its struct do not end: the next version would drop it"
    assert lines("59", "check", "old", "--all") == [f"versions/closed-beside-open {message}"]
    assert lines("59", "check", "new", "--all") == []
    assert "compat/field-ended SnapValue 1, Epoch: Epoch was removed in version 1" in lines("59", "diff", "old", "new")
