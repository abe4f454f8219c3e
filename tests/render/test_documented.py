"""Every rule leads to what is written about it: in JSON and SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path

from conftest import ROOT
from kiplint import check, diff
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import RULES_PAGES
from tools import definition, field

from .findings import format_report


def test_the_address_of_every_rule_is_a_heading_of_the_reference() -> None:
    assert next(rule for rule in shipped_rules() if rule.id == "kip-1313/header-gap").url == (
        "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules/kip-1313.md#kip-1313header-gap"
    )
    headings = {
        f"{RULES_PAGES}/{page.name}#{heading.replace('/', '')}"
        for page in (ROOT / "docs/reference/rules").glob("*.md")
        for heading in re.findall(r"(?m)^## (\S+)$", page.read_text("utf-8"))
    }
    assert headings == {rule.url for rule in shipped_rules()}


def test_where_the_address_is(tmp_path: Path) -> None:
    for side, default in (("old", "1"), ("new", "2")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "XRequest.json").write_bytes(definition(field("A", default=default)))
    result = check(tmp_path / "new", select=["style/about-missing"])
    url = f"{RULES_PAGES}/style.md#styleabout-missing"
    assert [finding["url"] for finding in json.loads(format_report("json", result))["findings"]] == [url]
    (rule,) = json.loads(format_report("sarif", result))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == url
    (change,) = json.loads(format_report("json", diff(tmp_path / "old", tmp_path / "new")))["changes"]
    assert change["url"] == f"{RULES_PAGES}/compat.md#compatdefault-changed"
