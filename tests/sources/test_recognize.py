"""What a JSON file is taken for: a definition, meant to be one, or a file for another use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import MAX_BYTES_READ, Kind, kind_of
from sources.support import write
from tools import definition, field, kiplint

DEFINITION = definition(field())
BASELINE = (
    b'// SPDX-License-Identifier: Apache-2.0\n{\n  "version": 1,\n  "findings": [{"message": "validVersions: 0"}]\n}\n'
)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (DEFINITION, "definition"),
        (b'{"validVersions": ', "definition"),
        (b'{"type": "request", "name": "XRequest"}', "malformed"),
        (b'// words\n{"name": "XRequest", "fields": []}', "malformed"),
        (b"request for comments", "malformed"),
        (b'{"name": "X", ', "malformed"),
        (b"[1, 2]", "other"),
        (b'{"type": "record", "name": "Click", "fields": []}', "other"),
        (b"", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b'{"a": 1, "b": {"name": 1, "type": 2}}', "other"),
        (b" {}\n", "malformed"),
        (b"[]", "other"),
        (b'{"name": "x", "type": "module"}', "other"),
        (BASELINE, "other"),
        (b'{"name": "x", "type": "data", "rows": [' + b" " * MAX_BYTES_READ, "other"),
        (b'{"name": "x", "fields": [' + b" " * MAX_BYTES_READ, "malformed"),
    ],
)
def test_kinds_by_what_is_in_a_file(data: bytes, kind: Kind) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "Fetch", "apiKey": 1, "validVersions": "4-18"}],
        [{"rpcs": [{"validVersions": "0"}]}],
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {"validVersions": {"type": "string"}},
        },
        {"apis": {"Fetch": {"apiKey": 1, "type": "request"}}},
    ],
)
def test_words_below_the_top_level_make_no_definition(value: object) -> None:
    assert kind_of(json.dumps(value).encode()) == "other"
    assert kind_of(b"// validVersions\n" + json.dumps(value, indent=2).encode()) == "other"


@pytest.mark.parametrize("output", ["json", "sarif", "gitlab"])
def test_its_own_reports_are_not_definitions(tmp_path: Path, output: str) -> None:
    text = DEFINITION.replace(b'"validVersions": "0-5"', b'"validVersions": "x, \\"validVersions\\": 1"')
    (tmp_path / "XRequest.json").write_bytes(text)
    report = kiplint("check", "XRequest.json", "--output-format", output, cwd=tmp_path).out.encode()
    assert b"validVersions" in report
    assert kind_of(report) == "other"


def test_what_is_meant_to_be_a_definition_beside_others(tmp_path: Path) -> None:
    files = {
        "X.json": DEFINITION,
        "Y.json": b'{"type": "request", "name": "YRequest"}',
        "Z.json": b"hello",
        "baseline.json": BASELINE,
        "brokers.json": b"[1, 2]",
    }
    (open_set,) = open_sets([str(write(tmp_path, files))], lambda _: True).sets
    assert [Path(file.path).stem for file in open_set.files] == ["X", "Y", "Z"]
    assert [Path(path).stem for path in open_set.left_out] == ["baseline", "brokers"]
