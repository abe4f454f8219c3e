"""The table of changes has the fields of `diff`'s JSON output, by the same names."""

from __future__ import annotations

import json

import msgspec

from kiplint.commands.diff.result import change_object
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import judge
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.stages.compare import _row
from kiplint.pipeline.tables import Changes
from tools import definition, field


def test_columns_are_the_fields_of_the_json_output() -> None:
    old, new = (make_tree(name, [("", [("X.json", text)])]) for name, text in zip("on", TEXTS, strict=True))
    rules = make_ruleset(Config(), load_rules(Config(), ""))
    (one,) = judge(compare_trees(old, new), rules, old.sources, new.sources)
    shown = msgspec.to_builtins(change_object(one))
    row = dict(zip(Changes.COLUMNS, _row(("old", "new"), one, "https://example.com/#rule"), strict=False))
    assert {name: value for name, value in row.items() if name in shown} == {
        **shown,
        "old": '{"layout": "A int32"}',
        "new": '{"layout": "A int64"}',
        "proof": json.dumps(shown["proof"]),
    }
    assert len(shown["proof"]) > 0
    assert {name: row[name] for name in row.keys() - shown.keys()} == {
        "old_root": "old",
        "root": "new",
        "url": "https://example.com/#rule",
        "unproven": False,
    }


TEXTS = (definition(field("A")), definition(field("A", "int64")))
