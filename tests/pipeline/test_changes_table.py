"""The tables of changes and findings have the fields of `diff`'s and `check`'s JSON output, by the same names."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

import kiplint
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import judge
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.lake.schema import array, columns, table
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.stages.compare import _row
from kiplint.pipeline.stages.lint import lint_in_arrow
from kiplint.pipeline.tables import Changes, Findings
from kiplint.render.findings.json import as_json
from tools import definition, field


def test_columns_are_the_fields_of_the_json_output() -> None:
    old, new = (make_tree(name, [("", [("X.json", text)])]) for name, text in zip("on", TEXTS, strict=True))
    rules = make_ruleset(Config(), load_rules(Config(), ""))
    ((change, finding),) = judge(compare_trees(old, new), rules, old.sources, new.sources)
    document = msgspec.to_builtins(finding)
    row = dict(zip(Changes.COLUMNS, _row(("old", "new"), change, finding), strict=True))
    assert {name: value for name, value in row.items() if name in document} == {
        **{name: value for name, value in document.items() if name in row},
        "old": '{"layout": "A int32"}',
        "new": '{"layout": "A int64"}',
        "proof": json.dumps(document["proof"]),
    }
    assert len(document["proof"]) > 0
    assert {name: row[name] for name in row.keys() - document.keys()} == {
        "old_root": "old",
        "root": "new",
        "unproven": False,
        "api_key": change.message.api_key,
    }


def test_findings_are_the_fields_of_check(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(
        definition(field("A", ignorable="true"), field("B", versions="0+", nullableVersions="0-9"))
    )
    findings = msgspec.to_builtins(kiplint.check(tmp_path, config={}).document)["findings"]
    engine = Engine.of(make_ruleset(Config(), load_rules(Config(), "")))
    uses = [{"tree": "t", "name": "XRequest.json", "fresh": True}]
    texts = table(
        {**columns("blob, data binary"), "uses": array(columns("tree, name, fresh boolean"))},
        [("b", (tmp_path / "XRequest.json").read_bytes(), uses)],
    )
    rows = lint_in_arrow(engine)(texts).to_pylist()
    result = [{name: row[name] for name in Findings.COLUMNS} for row in rows if row["tree"] is None]
    own = {"tree": None, "name": "XRequest.json", "blob": "b", "other_half": None}
    assert [row["rule"] for row in result if row["fix"] or row["instead"]]
    by_fingerprint = {finding["fingerprint"]: finding for finding in findings}
    for row in result:
        output = by_fingerprint[row["fingerprint"]]
        fix = {"fix": as_json(output["fix"])} if "fix" in output else {}
        assert row.pop("rule_source") == output.pop("source")
        assert output["place"]
        del output["path"]
        assert row == {
            "fix": "",
            "instead": "",
            **own,
            **output,
            **{name: text.replace(str(tmp_path) + "/", "") for name, text in fix.items()},
        }


TEXTS = (definition(field("A")), definition(field("A", "int64")))
