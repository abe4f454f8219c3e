"""`kiplint schema`: every command with JSON has one, and its output is valid by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conftest import ROOT
from kiplint.commands.schema import NAMES, schema
from tools import kiplint

CLIENTS = str(ROOT / "fixtures/sets/broker/clients")
OLD, NEW = (str(ROOT / "fixtures/compat/layout-changed" / side) for side in ("old", "new"))
GAP = str(ROOT / "fixtures/tags/gap/bad")

OUTPUTS = {
    "check": ["check", GAP],
    "diff": ["diff", OLD, NEW],
    "rollout": ["rollout", CLIENTS],
    "show": ["show", "Metadata", CLIENTS],
    "negotiate": ["negotiate", CLIENTS, CLIENTS],
    "migrate": ["migrate", "bump", "Metadata", "--set", CLIENTS, "--dry-run"],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_output_is_valid_by_its_schema(tmp_path: Path, name: str) -> None:
    result = kiplint(*OUTPUTS[name], "--output-format", "json", cwd=tmp_path)
    assert result.code in (0, 1), result.err
    Draft202012Validator(schema(name)).validate(json.loads(result.out))


def test_every_schema_is_one() -> None:
    for name in NAMES:
        document = schema(name)
        Draft202012Validator.check_schema(document)
        assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert document["title"]
    assert {*OUTPUTS} <= {*NAMES}
