"""`kiplint decode --list`, `--where` and `--frame`: the frames of a capture as a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.codec.summary import Latency
from tools import kiplint

SET = str(ROOT / "fixtures" / "sets" / "broker")
CLIENT = str(ROOT / "fixtures" / "bytes" / "client.pcap")


def decode(tmp_path: Path, *words: str, file: str = CLIENT) -> str:
    result = kiplint("decode", "--set", SET, file, *words, cwd=tmp_path)
    assert result.code in (0, 1), result.err
    return result.out


def numbers(tmp_path: Path, where: str) -> list[int]:
    lines = decode(tmp_path, "--where", where, "--output-format", "jsonl").splitlines()
    return [json.loads(line)["number"] for line in lines]


def test_each_frame_has_a_line(tmp_path: Path) -> None:
    lines = decode(tmp_path, "--list").splitlines()
    assert [" ".join(line.split()) for line in lines[:6]] == [
        "frame seconds conn direction API version client id correlation bytes ms errors",
        "1 0.000000 0 request ApiVersions 3 my-proxy 1 37",
        "2 0.001000 0 response ApiVersions 3 my-proxy 1 30 1.000",
        "3 0.002000 0 request Metadata 11 my-proxy 2 28 codec/trailing-bytes",
        "4 0.003000 0 request Metadata 11 my-proxy 3 28 codec/trailing-bytes, not answered",
        "5 0.004000 0 response Metadata 11 my-proxy 2 45 2.000",
    ]
    assert "2 frames with problems" in lines[-1]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("api == 'Metadata' and latency > 1.5", [5]),
        ("not answered", [4]),
        ("problem == 'codec/trailing-bytes' or error != 'NONE'", [3, 4]),
        ("startswith(client_id, 'my') and direction == 'request' and size - 28 == 0", [3, 4]),
        ("any(name == 'X' for name in errors)", []),
    ],
)
def test_a_condition_selects_frames(tmp_path: Path, where: str, expected: list[int]) -> None:
    assert numbers(tmp_path, where) == expected


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["--where", "latncy > 3"],
            "latncy is not a fact of a frame; did you mean latency?; the names are number, time, ",
        ),
        (["--where", "latency > 'x'"], "latency > 'x': '>' not supported between instances of 'float' and 'str'"),
        (["--where", "().__class__"], "__class__ is not known of (), which has no facts; the names are number, "),
        (["--frame", "9"], "there is no frame 9; the input has 5 frames"),
    ],
)
def test_what_selects_nothing(tmp_path: Path, words: list[str], text: str) -> None:
    result = kiplint("decode", "--set", SET, CLIENT, *words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert text in result.err


def test_one_frame_in_full(tmp_path: Path) -> None:
    lines = decode(tmp_path, "--frame", "2").splitlines()
    assert lines[0].startswith("ApiVersionsResponse 3, header 0, 26 bytes, frame 2, to 127.0.0.1:50312 from ")
    assert lines[0].endswith("byte 0 of its stream, 1.000 ms after frame 1")
    assert next(line.split()[-2:] for line in lines if "errorCode" in line) == ["0", "(NONE)"]
    assert lines[-2].startswith("  00000000  00 00 00 01 00 00 ")


def test_json_lines_have_what_the_table_has(tmp_path: Path) -> None:
    first, second, *_ = map(json.loads, decode(tmp_path, "--output-format", "jsonl", "--offsets").splitlines())
    assert [first[key] for key in ("number", "connection", "hex")] == [1, 0, first["hex"]]
    assert "request" not in first
    assert (second["number"], second["request"], second["latency"]) == (2, 1, 1.0)
    places = {place["field"]: (place["offset"], place["length"]) for place in second["offsets"]}
    assert (places["correlationId"], places["errorCode"]) == ((0, 4), (4, 2))


def test_error_codes_have_names(tmp_path: Path) -> None:
    words = ["--body", "ApiVersionsResponse@0", "002300000000"]
    result = kiplint("decode", "--set", SET, *words, "--output-format", "jsonl", cwd=tmp_path)
    assert json.loads(result.out)["errors"] == [
        {"code": 35, "name": "UNSUPPORTED_VERSION", "retriable": False, "field": "errorCode"}
    ]
    text = kiplint("decode", "--set", SET, *words, cwd=tmp_path).out
    assert "35 (UNSUPPORTED_VERSION, not retriable)" in text


def test_equal_problems_are_shown_once(tmp_path: Path) -> None:
    text = decode(tmp_path)
    assert text.count("error[codec/trailing-bytes] at byte") == 1
    assert text.endswith("\nthe same in 1 frame: 4\n")


def test_percentiles_are_nearest_ranks() -> None:
    assert Latency.of(()) is None
    assert Latency.of([5.0]) == Latency(1, 5.0, 5.0, 5.0)
    assert Latency.of(map(float, range(100, 0, -1))) == Latency(100, 50.0, 95.0, 100.0)


def test_the_summary_has_errors_and_connections(corpus: Path, shared_bytes: Path, tmp_path: Path) -> None:
    words = ["--set", str(corpus / "kafka-trunk-2026-08" / "clients"), str(shared_bytes / "capture.pcapng")]
    result = kiplint("decode", *words, "--output-format", "json", "--where", "error != 'NONE'", cwd=tmp_path)
    document = json.loads(result.out)
    summary = document["capture"]
    assert [(error["name"], error["count"]) for error in summary["errors"]] == [
        ("MEMBER_ID_REQUIRED", 4),
        ("INVALID_TOPIC_EXCEPTION", 1),
    ]
    assert len(document["frames"]) == sum(error["frames"] for error in summary["errors"])
    assert (summary["frames"], len(summary["connections"]), summary["latency"]["answers"]) == (5, 5, 5)
    assert {api["name"]: api["offered"] for api in summary["by_api"]} == {"Metadata": "0-12", "JoinGroup": "0-9"}
