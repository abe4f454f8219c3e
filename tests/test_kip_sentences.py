"""Every sentence of the KIPs in the reference is held by what its row names: a rule reports the row's edit of a set."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conftest import ROOT
from kiplint import migrate_kip_1313
from kiplint.cli.app import all_commands
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import blank_comments
from tools import changes_between, rules_of

KIPS = json.loads((ROOT / "docs/kips.json").read_text("utf-8"))
ROWS = [(name, row) for name, kip in KIPS.items() for row in kip["rows"]]
RULES = {rule.id: rule for rule in shipped_rules()}
BREAKS = [(name, row) for name, row in ROWS if "break" in row]
Messages = dict[str, dict[str, Any]]


def title(value: object) -> str:
    return value["says"] if isinstance(value, dict) else str(value)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Messages:
    """The small set of a broker, after KIP-1313."""
    folder = tmp_path_factory.mktemp("set") / "clients"
    shutil.copytree(ROOT / "fixtures/sets/broker/clients", folder)
    assert migrate_kip_1313(folder).status == "ok"
    return {file.stem: read(file.read_bytes()) for file in sorted(folder.glob("*.json"))}


def read(data: bytes) -> dict[str, Any]:
    """A definition, with its comments as the property `//`."""
    comments = re.findall(r"^ +// ?(.*)$", data.decode(), re.MULTILINE)
    return {**json.loads(blank_comments(data)), "//": "\n".join(comments)}


def edit_messages(messages: Messages, edits: dict[str, Any]) -> Messages:
    """The messages with the edits of a row."""
    result = copy.deepcopy(messages)
    for place, edit in edits.items():
        name, *path = place.split(".")
        if edit is None and not path:
            del result[name]
        elif not path:
            merge(result.setdefault(name, {"name": name}), edit)
        else:
            edit_field(result[name]["fields"], path, edit)
    return result


def edit_field(fields: list[dict[str, Any]], path: list[str], edit: dict[str, Any] | None) -> None:
    index = next((n for n, field in enumerate(fields) if field["name"] == path[0]), len(fields))
    if path[1:]:
        edit_field(fields[index]["fields"], path[1:], edit)
    elif edit is None:
        del fields[index]
    else:
        field = fields.pop(index) if index < len(fields) else {"name": path[0], "about": "What it holds."}
        merge(field, {name: value for name, value in edit.items() if name != "at"})
        fields.insert(edit.get("at", index), field)


def merge(element: dict[str, Any], edit: dict[str, Any]) -> None:
    """Set properties; None removes a property."""
    element |= edit
    for name in [name for name, value in edit.items() if value is None]:
        del element[name]


def inputs(messages: Messages) -> list[SchemaFile]:
    """The files, each with its comments before the fields."""
    files = []
    for name, message in messages.items():
        text = json.dumps({key: value for key, value in message.items() if key != "//"}, indent=1)
        notes = "".join(f"// {line}\n" for line in message.get("//", "").splitlines())
        files.append(SchemaFile(f"{name}.json", text.replace('"fields"', f'{notes}"fields"', 1).encode()))
    return files


def count_reports(rule: Rule, old: Messages, new: Messages) -> int:
    """How many findings or changes the rule reports."""
    if rule.spec.each != "change":
        findings = check_set(inputs(new), rules_of(Config(select=["default", rule.id]))).findings
        return sum(finding.rule == rule.id for finding in findings)
    active = replace(rule, severity=rule.active_severity)
    before, after = (make_tree("", [("", [(file.path, file.data) for file in inputs(side)])]) for side in (old, new))
    return len(changes_between(RuleSet([active], [active]), before, after))


@pytest.fixture(scope="module")
def before(messages: Messages) -> set[str]:
    """The rules that report the messages as they are."""
    ids = {rule.id for rule in map(RULES.__getitem__, (row["rule"] for _, row in BREAKS)) if rule.spec.each != "change"}
    findings = check_set(inputs(messages), rules_of(Config(select=["default", *ids]))).findings
    return {finding.rule for finding in findings}


@pytest.mark.parametrize(("kip", "row"), BREAKS, ids=title)
def test_the_rule_reports_what_breaks_the_sentence(
    kip: str, row: dict[str, Any], messages: Messages, before: set[str]
) -> None:
    rule = RULES[row["rule"]]
    assert not count_reports(rule, messages, messages) if rule.spec.each == "change" else rule.id not in before
    assert count_reports(rule, messages, edit_messages(messages, row["break"]))


@pytest.mark.parametrize("row", [row for _, row in ROWS if "mend" in row], ids=title)
def test_the_rule_reports_what_the_kip_itself_contradicts(row: dict[str, Any], messages: Messages) -> None:
    assert count_reports(RULES[row["rule"]], messages, messages)
    assert not count_reports(RULES[row["rule"]], messages, edit_messages(messages, row["mend"]))


COMMANDS = {words for words, _ in all_commands()}


@pytest.mark.parametrize("row", [row for _, row in ROWS if "test" in row], ids=title)
def test_a_command_has_a_test(row: dict[str, Any]) -> None:
    file, _, name = row["test"].partition("::")
    text = (ROOT / file).read_text("utf-8")
    assert re.search(rf"^def {name}\(", text, re.MULTILINE)
    assert row["command"] in COMMANDS


def test_every_row_is_enforced_in_one_way() -> None:
    kinds = [
        {"section", "says", *kind} for kind in (("rule", "break"), ("rule", "mend"), ("command", "test"), ("unseen",))
    ]
    assert [row["says"] for _, row in ROWS if set(row) not in kinds or not all(row.values())] == []


def test_every_rule_of_a_kip_holds_a_sentence() -> None:
    row_rules = {row["rule"] for _, row in ROWS if "rule" in row}
    rules = {rule for rule in RULES if rule.startswith("kip-")}
    assert rules - row_rules == set(), "docs/kips.json needs a row for each: see CONTRIBUTING.md"


@pytest.mark.parametrize("kip", KIPS)
def test_sections_are_those_of_the_kip(kip: str, corpus: Path) -> None:
    file = corpus.parent / "kips" / f"{kip.lower()}.txt"
    if not file.is_file():
        pytest.skip(f"the KIPs are not at {file.parent}")
    headings = {line.strip("# \u00a0") for line in file.read_text("utf-8").splitlines()}
    assert {row["section"].rpartition(": ")[2] for row in KIPS[kip]["rows"]} - headings == set()
