"""The JSON of bytes, in both directions."""

from __future__ import annotations

import contextlib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kiplint
from codec.support import catalog_of, load_catalog
from codec.test_capture import echo
from conftest import ROOT
from kiplint.codec.catalog import Catalog
from kiplint.codec.exchange import BadInput, read_object
from kiplint.commands.decode.result import DecodedFrame, decoded_object
from kiplint.commands.encode.objects import encode_line, encode_object
from tools import field, message


def simple() -> Catalog:
    tagged = field("Tagged", "int32", "3+", tag=0, taggedVersions="3+", default="7")
    return catalog_of(message(field("Name", "string"), tagged))


def decode_object(catalog: Catalog, document: Any) -> dict[str, Any]:
    frame, *_ = read_object(catalog, json.dumps(document).encode(), spans=False)
    return dict(msgspec.json.decode(msgspec.json.encode(decoded_object(DecodedFrame("", 0, 0, b"", frame)))))


def test_a_body() -> None:
    result = decode_object(simple(), {"message": "XRequest", "version": 3, "hex": "02 61 00", "more": 1})
    assert result == {
        "message": "XRequest",
        "version": 3,
        "header_version": None,
        "header": None,
        "value": {"name": "a"},
        "length": 3,
        "problems": [],
    }


def test_frames_go_both_ways() -> None:
    frame = {"direction": "request", "api_key": 7, "api_version": 1, "hex": "00070001000000050003 6d6521"}
    result = decode_object(echo(), frame)
    header = {"requestApiKey": 7, "requestApiVersion": 1, "correlationId": 5, "clientId": "me!"}
    assert (result["message"], result["header_version"], result["header"]) == ("EchoRequest", 1, header)
    for document in (result, {**frame, "header": result["header"], "value": {}}):
        assert encode_object(echo(), document).hex == "000700010000000500036d6521"


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ([], "a line must be a JSON object with text and numbers: Expected `object`, got `array`"),
        ({"hex": []}, r".* got `array` - at `\$.hex`"),
        ({"message": "XRequest", "version": 3}, '"hex" must be text'),
        ({"message": "XRequest", "version": 3, "hex": "0"}, '"hex" must be pairs of hexadecimal digits'),
        ({"message": "XRequest", "version": "3", "hex": ""}, '"version" must be a number'),
        ({"direction": "up", "hex": ""}, '"direction" must be "request" or "response"'),
    ],
)
def test_what_cannot_be_understood(document: Any, text: str) -> None:
    with pytest.raises(BadInput, match=f"^{text}$"):
        decode_object(simple(), document)


@pytest.mark.parametrize("line", [b"{", b'{"hex": "\xff"}', b"[" * 100_000])
def test_what_is_not_json(line: bytes) -> None:
    with pytest.raises(BadInput, match="^the line is not JSON: "):
        read_object(simple(), line, spans=False)
    (problem,) = encode_line(simple(), line).problems
    assert problem.message.startswith("the line is not JSON: ")


@pytest.mark.parametrize(
    ("document", "rule", "offset", "text"),
    [
        (
            {"message": "XReqest", "version": 3, "hex": ""},
            "unknown-message",
            0,
            "no set has XReqest; did you mean XRequest?",
        ),
        (
            {"message": "XRequest", "version": 9, "hex": ""},
            "unknown-version",
            0,
            "no set has XRequest 9; the versions are 0-5",
        ),
        ({"direction": "request", "hex": "00"}, "truncated", 0, "the frame has 1 byte; API key and version take 4"),
        ({"direction": "request", "hex": "00630000"}, "unknown-api-key", 0, "no set has a request with the API key 99"),
        (
            {"direction": "request", "hex": "00010009"},
            "unknown-version",
            2,
            "no set has XRequest 9; the versions are 0-5",
        ),
        ({"direction": "request", "hex": "00010003"}, "header-unknown", 0, "no set has request header 2"),
        (
            {"direction": "response", "api_key": 1, "api_version": 0, "hex": ""},
            "unknown-api-key",
            0,
            "no set has a response with the API key 1",
        ),
    ],
)
def test_what_cannot_be_read(document: Any, rule: str, offset: int, text: str) -> None:
    (problem,) = decode_object(simple(), document)["problems"]
    assert problem == {"rule": f"codec/{rule}", "offset": offset, "message": text, "field": None}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (7, "a line must be a JSON object"),
        ({"message": "Y", "version": 1}, "no set has Y"),
        ({"message": "XRequest", "version": 8}, "no set has XRequest 8"),
        ({"message": "XRequest", "version": 1, "value": {"nam": ""}}, "XRequest has no field nam; did you mean name?"),
        ({"direction": "request", "api_key": 1, "api_version": 3, "value": {}}, "no set has its header"),
    ],
)
def test_what_cannot_be_written(document: Any, text: str) -> None:
    result = encode_object(simple(), document)
    assert ([problem.message for problem in result.problems], result.hex) == ([text], None)


def test_a_definition_without_a_layout_is_a_problem_of_its_bytes() -> None:
    header = {"name": "RequestHeader", "type": "header", "apiKey": None, "listeners": None, "validVersions": "1"}
    request = message(field("Name", "string"), field("Late", "Missing", "3+"), flexibleVersions="none")
    catalog = catalog_of(request, message(field("Odd", "int23"), **header))
    frame: dict[str, Any] = {"direction": "request", "api_key": 1, "api_version": 0, "hex": "00010000"}
    expected = ("codec/layout-unusable", "RequestHeader has the field Odd, whose type int23 is unknown")
    (problem,) = decode_object(catalog, frame)["problems"]
    (unwritten,) = encode_object(catalog, {**frame, "value": {"name": ""}}).problems
    assert (problem["rule"], problem["message"]) == (unwritten.rule, unwritten.message) == expected
    body = {"message": "XRequest", "version": 2, "hex": "0001"}  # version 3, which has no layout, is tried as a hint
    (problem,) = decode_object(catalog, body)["problems"]
    assert problem["rule"] == "codec/length-beyond-end"


def test_real_frames_come_back(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    lines = (json.loads(line) for line in (shared_bytes / "traffic.jsonl").read_text().splitlines())
    rows = [row for row in lines if (row["schema"], row["verdict"]) == ("trunk", "ok")]
    again = [encode_object(catalog, decode_object(catalog, row)).hex == row["hex"] for row in rows]
    assert again.count(False) == 2  # tagged fields that were written with their defaults


def test_a_wrong_fallback_is_reported(corpus: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    wrong = {"direction": "response", "api_key": 18, "api_version": 3, "hex": "000000010023010000000000"}
    (problem,) = decode_object(catalog, wrong)["problems"]
    assert (problem["rule"], problem["offset"]) == ("codec/fallback-version", 6)
    right = {**wrong, "hex": "00000001002300000001001200000003"}
    result = decode_object(catalog, right)
    assert (result["version"], result["problems"], result["value"]["errorCode"]) == (0, [], 35)


def test_the_library_reads_and_writes() -> None:
    sets = [ROOT / "fixtures" / "sets" / "broker"]
    request = kiplint.encode("MetadataRequest@12", {"topics": None}, sets=sets, with_header=True)
    assert (request.status, request.header_version, len(request.data)) == ("ok", 2, 15)
    result = kiplint.decode(request.data, sets=sets)
    value = {"topics": None, "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": False}
    assert (result.status, result.values) == ("ok", [value])
    assert next(iter(kiplint.vectors(*sets))).kind == "minimal"


@pytest.mark.parametrize("name", ["other", "hex", "version"])
def test_what_a_line_must_not_have_takes_no_memory(name: str) -> None:
    """An empty object is two bytes of text, and 64 of memory."""
    line = json.dumps({"message": "ARequest", "version": 0, "hex": "", name: [{}] * 50_000}).encode()
    tracemalloc.start()
    try:
        with contextlib.suppress(BadInput):
            read_object(simple(), line, spans=False)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
