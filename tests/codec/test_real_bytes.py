"""Bytes that other software wrote are read to the last one, and faults in them are told where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codec.support import encode
from kiplint.codec.codec import Codec
from kiplint.compat.tree import load
from kiplint.model.headers import header_of
from kiplint.model.message import Message


@pytest.fixture(scope="module")
def released(corpus: Path) -> list[Message]:
    return [*load("3.9.0-rc3:", corpus / "kafka-schema-history.bundle").messages]


def test_what_java_wrote(released: list[Message], shared_bytes: Path) -> None:
    by_name = {message.name: message for message in released}
    rows = [json.loads(line) for line in (shared_bytes / "java.jsonl").read_text().splitlines()]
    for row in rows:
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        result = codec.decode(data)
        assert (result.value, result.problems) == (row["value"], ())
        assert encode(codec, row["value"]) == data
    assert len(rows) > 600


def test_headers_are_those_of_java(released: list[Message], shared_bytes: Path) -> None:
    by_key = {(message.type, message.api_key): message for message in released}
    for row in json.loads((shared_bytes / "java-headers.json").read_text()):
        for kind in ("request", "response"):
            assert header_of(by_key[kind, row["api_key"]], row["version"]) == row[f"{kind}_header"]
