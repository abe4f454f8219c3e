"""Bytes that other software wrote are read to the last one, and faults in them are told where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codec.support import encode
from kiplint.codec.codec import Codec
from kiplint.compat.tree import load
from kiplint.model.headers import header_of
from kiplint.model.message import Message

HISTORY = "kafka-schema-history.bundle"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def messages(corpus: Path, tag: str) -> dict[str, Message]:
    return {message.name: message for message in load(f"{tag}:", corpus / HISTORY).messages}


def test_what_java_wrote(corpus: Path, shared_bytes: Path) -> None:
    by_name = messages(corpus, "3.9.0-rc3")
    count = 0
    for row in rows(shared_bytes / "java.jsonl"):
        data, codec = bytes.fromhex(row["hex"]), Codec(by_name[row["message"]], row["version"])
        result = codec.decode(data)
        assert (result.value, result.problems) == (row["value"], ())
        assert encode(codec, row["value"]) == data
        count += 1
    assert count > 600


@pytest.mark.parametrize("kind", ["request", "response"])
def test_headers_are_those_of_java(corpus: Path, shared_bytes: Path, kind: str) -> None:
    by_key = {(message.type, message.api_key): message for message in messages(corpus, "3.9.0-rc3").values()}
    for row in json.loads((shared_bytes / "java-headers.json").read_text()):
        assert header_of(by_key[kind, row["api_key"]], row["version"]) == row[f"{kind}_header"]
