"""`kiplint decode`: a body in hexadecimal digits and in binary, JSON lines with bodies and frames, and real traffic."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.commands.decode import decode_lines
from tools import definition, field
from tools import kiplint as run

SET = str(ROOT / "fixtures" / "sets" / "broker")
BODY = bytes.fromhex("00010100")
FRAME = bytes.fromhex("0003000c0000000700036162630000010100")
VALUE = {"topics": None, "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": True}
TRAILING = "1 byte follows after the end of the message"
TEXT = """\
MetadataRequest 12, 5 bytes
{
  "topics": null,
  "allowAutoTopicCreation": true,
  "includeTopicAuthorizedOperations": true
}
error[codec/trailing-bytes] at byte 4: 1 byte follows after the end of the message
"""


def test_the_text_of_a_body(tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(BODY + b"\x09")
    result = run("decode", "MetadataRequest@12", "body", "--set", SET, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (1, TEXT, "")


@pytest.mark.parametrize(("data", "words"), [(BODY, ["body"]), (BODY, ["-"]), (b"\n00 01\n01 00\n", [])])
def test_a_body_in_hexadecimal_digits_or_in_binary(tmp_path: Path, data: bytes, words: list[str]) -> None:
    (tmp_path / "body").write_bytes(data)
    options = ["--set", SET, "--output-format", "json"]
    result = run("decode", "MetadataRequest@12", *words, *options, cwd=tmp_path, stdin=data)
    assert (result.code, result.err, json.loads(result.out)["frames"][0]["value"]) == (0, "", VALUE)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "decode needs MESSAGE@VERSION, or JSON lines with --input-format jsonl"),
        (["MetadataRequest", "body"], "MetadataRequest is not of the form MESSAGE@VERSION, such as MetadataRequest@12"),
        (["MetadataRequst@1", "body"], "no set has MetadataRequst; did you mean MetadataRequest?"),
        (["MetadataRequest@1", "nowhere"], "cannot read nowhere: No such file or directory"),
        (["MetadataRequest@1", "odd"], "odd: not pairs of hexadecimal digits"),
        (
            ["--input-format", "jsonl", "a", "b"],
            "--input-format jsonl takes only a file, because each line names its message",
        ),
    ],
)
def test_what_cannot_be_understood(tmp_path: Path, words: list[str], expected: str) -> None:
    (tmp_path / "body").write_bytes(b"xyz")
    (tmp_path / "odd").write_bytes(b"000")
    result = run("decode", "--set", SET, *words, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (2, "", f"error: {expected}\n")


# JSON lines


def test_lines_answer_in_order(tmp_path: Path) -> None:
    objects = (
        {"message": "MetadataRequest", "version": 12, "hex": "00010100", "note": "skipped"},
        {"message": "MetadataRequest", "version": 12, "hex": "0001010000"},
        {"direction": "request", "hex": FRAME.hex()},
        {"direction": "response", "api_key": 17, "api_version": 1, "hex": "00000001001100000000"},
        {"direction": "response", "api_key": 18, "api_version": 3, "hex": "00000001002300000001001200000003"},
    )
    words = ["--set", SET, "--input-format", "jsonl", "-", "--output-format", "jsonl"]
    result = run("decode", *words, cwd=tmp_path, stdin="\n\n".join(map(json.dumps, objects)).encode())
    body, wrong, request, response, fallback = map(json.loads, result.out.splitlines())
    answer = {"message": "MetadataRequest", "version": 12, "header_version": None, "header": None, "value": VALUE}
    assert (result.code, body) == (1, {**answer, "length": 4, "problems": []})
    assert wrong["problems"] == [
        {"rule": "codec/trailing-bytes", "offset": 4, "message": TRAILING, "field": None, "severity": "error"}
    ]
    assert (request["header_version"], request["header"]["clientId"], request["value"]) == (2, "abc", VALUE)
    assert (response["message"], response["header"]) == ("SaslHandshakeResponse", {"correlationId": 1})
    assert (response["value"]["errorCode"], response["problems"]) == (17, [])
    assert (fallback["version"], fallback["value"]["errorCode"], fallback["problems"]) == (0, 35, [])


BODY_OR_FRAME = 'a body needs "message" and "version"; a frame needs "direction", "api_key" and "api_version"'


UNKNOWN_RESPONSE = "no set has MetadataResponse 99; the versions are 0-13"
UNKNOWN = "no set has MetadataRequest 99; the versions are 0-13"


@pytest.mark.parametrize(
    ("line", "rule", "text"),
    [
        ('{"hex": ', "input-invalid", "the line is not JSON: Input data was truncated"),
        ("7", "input-invalid", "the line is not a body or frame: Expected `object`, got `int`"),
        ('{"hex": "0"}', "input-invalid", '"hex" must be pairs of hexadecimal digits'),
        ('{"hex": ""}', "input-invalid", BODY_OR_FRAME),
        ('{"direction": "response", "hex": ""}', "input-invalid", BODY_OR_FRAME),
        ('{"message": "Y", "version": 1, "hex": ""}', "unknown-message", "no set has Y"),
        ('{"message": "MetadataRequest", "version": 99, "hex": ""}', "unknown-version", UNKNOWN),
        ('{"direction": "request", "hex": "00"}', "truncated", "the frame has 1 byte; API key and version take 4"),
        ('{"direction": "request", "hex": "70007000"}', "unknown-api-key", "no set has a request with API key 28672"),
        (
            '{"direction": "response", "api_key": 3, "api_version": 99, "hex": "0000000700"}',
            "unknown-version",
            UNKNOWN_RESPONSE,
        ),
        ('{"direction": "request", "hex": "0003000c0000"}', "truncated", "int32 takes 4 bytes, 2 are left"),
    ],
)
def test_what_cannot_be_read(line: str, rule: str, text: str) -> None:
    (entry,) = decode_lines(line.encode(), sets=[SET]).frames
    assert [(problem.rule, problem.message) for problem in entry.problems] == [(f"codec/{rule}", text)]


def test_the_header_of_an_unknown_version_is_read() -> None:
    (frame,) = decode_lines(b'{"direction": "request", "hex": "0003006300000007000361626300"}', sets=[SET]).frames
    assert (frame.header_version, frame.value, [problem.message for problem in frame.problems]) == (2, None, [UNKNOWN])
    assert frame.header is not None and (frame.header["correlationId"], frame.header["clientId"]) == (7, "abc")


def test_a_frame_that_begins_with_its_length() -> None:
    line = json.dumps({"direction": "request", "hex": (len(FRAME).to_bytes(4, "big") + FRAME).hex()})
    result = decode_lines(line.encode(), sets=[SET])
    (frame,) = result.frames
    assert (result.status, frame.value, frame.length) == ("ok", VALUE, len(FRAME))
    assert [(problem.rule, problem.severity) for problem in frame.problems] == [("codec/length-prefix", "warning")]


def test_api_versions_behind_a_flexible_header() -> None:
    body = "0000" + "02" + "001200000004" + "00" + "00000000" + "00"
    line = json.dumps({"direction": "response", "api_key": 18, "api_version": 3, "hex": "00000001" + "00" + body})
    result = decode_lines(line.encode(), sets=[SET])
    (frame,) = result.frames
    assert (result.status, frame.header_version) == ("findings", 1)
    assert frame.value is not None and frame.value["apiKeys"] == [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]
    reason = "the frame has header 1; ApiVersions is answered with header 0"
    assert [(problem.rule, problem.message) for problem in frame.problems] == [("codec/header-version", reason)]


def test_what_kafka_reads_is_no_error(tmp_path: Path) -> None:
    """A boolean whose byte is 2: told, and the exit code is 0."""
    result = run("decode", "MetadataRequest@12", "-", "--set", SET, cwd=tmp_path, stdin=bytes.fromhex("00020100"))
    warning = "warning[codec/boolean-invalid] at byte 1: allowAutoTopicCreation: the byte of a boolean is 2, "
    assert (result.code, warning in result.out) == (0, True)


def test_frames_of_a_running_broker(corpus: Path, shared_bytes: Path) -> None:
    rows = [json.loads(line) for line in (shared_bytes / "broker-4.0.2.jsonl").read_text().splitlines()]
    lines = [
        {
            "direction": direction,
            "api_key": int(row["api_key"]),
            "api_version": int(row["version"]),
            "hex": row[direction],
        }
        for row in rows
        for direction in ("request", "response")
    ]
    text = "\n".join(map(json.dumps, lines)).encode()
    result = decode_lines(text, sets=["4.0.2:"], repository=corpus / "kafka-releases.bundle")
    frames = iter(result.frames)
    for row in rows:
        for direction, header_version in (("request", row["qh"]), ("response", row["ph"])):
            frame = next(frames)
            assert (frame.problems, frame.header_version) == ((), int(header_version))
            assert frame.header == row[f"{direction}_header_json"]
            assert without_records(frame.value) == without_records(row[f"{direction}_json"])
    assert len(rows) == 258


def without_records(value: Any) -> Any:
    """A value without `records`, which Kafka's JSON converters leave empty."""
    if isinstance(value, dict):
        return {name: without_records(item) for name, item in value.items() if name != "records"}
    return [without_records(item) for item in value] if isinstance(value, list) else value


def test_a_set_without_headers_has_no_frames(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(definition(field("Name", "string")))
    text = b'{"direction": "request", "hex": "00010000"}'
    (frame,) = decode_lines(text, sets=[tmp_path]).frames
    assert frame.problems[0].message == "no set has request header 1"
    header = {"name": "RequestHeader", "type": "header", "apiKey": None, "listeners": None, "validVersions": "1"}
    (tmp_path / "RequestHeader.json").write_bytes(definition(field("Odd", "int23"), **header))
    (frame,) = decode_lines(text, sets=[tmp_path]).frames
    problem = "RequestHeader has the field Odd, whose type int23 is unknown or contains itself"
    assert [(item.rule, item.message) for item in frame.problems] == [("codec/layout-unusable", problem)]


def test_a_broken_definition_is_named(tmp_path: Path) -> None:
    (tmp_path / "XData.json").write_bytes(definition(name="XData", type="data", apiKey=None))
    (tmp_path / "YData.json").write_bytes(b'{"validVersions": "0", "fields": [,')
    result = run("decode", "XData@0", cwd=tmp_path, stdin=b"")
    assert (result.code, "YData.json cannot be read, so it is skipped" in result.err) == (2, True)


@pytest.mark.parametrize("name", ["other", "hex", "version"])
def test_what_a_line_must_not_have_takes_no_memory(tmp_path: Path, name: str) -> None:
    """An empty object is two bytes of text, and 64 of memory."""
    (tmp_path / "XRequest.json").write_bytes(definition())
    line = json.dumps({"message": "MetadataRequest", "version": 0, "hex": "", name: [{}] * 50_000}).encode()
    tracemalloc.start()
    decode_lines(line, sets=[tmp_path])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000  # a buffer of 1 MiB reads the definition; 50,000 objects are 3.2 MB


def test_real_traffic(corpus: Path, shared_bytes: Path) -> None:
    rows_by_schema: dict[str, list[dict[str, Any]]] = {}
    for line in (shared_bytes / "traffic.jsonl").read_text().splitlines():
        row = json.loads(line)
        rows_by_schema.setdefault(row["schema"], []).append(row)
    for schema, rows in rows_by_schema.items():
        source = str(corpus / "kafka-trunk-2026-08") if schema == "trunk" else f"{schema}:"
        text = "\n".join(map(json.dumps, rows)).encode()
        result = decode_lines(text, sets=[source], repository=corpus / "kafka-schema-history.bundle")
        for row, frame in zip(rows, result.frames, strict=True):
            assert frame.header is not None
            assert frame.header_version == row["header_version"]
            assert frame.header["correlationId"] == row["correlation_id"]
            assert (frame.problems == ()) is (row["verdict"] == "ok")
