"""`kiplint decode`, `encode` and `vectors`, in every form that bytes are given and written."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.codec.codec import Codec
from kiplint.commands.decode.text import MOST_ROWS
from kiplint.commands.vectors.run import vectors
from tools import definition, field, kiplint, message

SET = str(ROOT / "fixtures" / "sets" / "broker")
GOOD = bytes.fromhex("0003000c0000000700036162630000010100")
BAD = GOOD + b"\x09"
DRAWING = """\
MetadataRequest 12, header 2, 19 bytes
  offset  bytes           field                             encoding                                        value
       0  00 03           requestApiKey                     int16                                           3
       2  00 0c           requestApiVersion                 int16                                           12
       4  00 00 00 07     correlationId                     int32                                           7
       8  00 03 61 62 63  clientId                          nullable string                                 "abc"
      13  00                                                tag section                                     0
      14  00              topics                            compact nullable array of MetadataRequestTopic  null
      15  01              allowAutoTopicCreation            bool                                            true
      16  01              includeTopicAuthorizedOperations  bool                                            true
      17  00                                                tag section                                     0
      18  09                                                not read
error[codec/trailing-bytes] at byte 18: 1 byte follows after the end of the message
"""


def test_a_frame_is_drawn(tmp_path: Path) -> None:
    result = kiplint("decode", "--set", SET, BAD.hex(), cwd=tmp_path)
    assert (result.code, result.out, result.err) == (1, DRAWING, "")


def forms(folder: Path) -> list[tuple[list[str], bytes]]:
    (folder / "frame.bin").write_bytes(GOOD)
    (folder / "frames.bin").write_bytes(len(GOOD).to_bytes(4, "big") + GOOD)
    (folder / "frame.hex").write_text(f"\n0x{GOOD.hex(':')}\n")
    (folder / "frame.b64").write_bytes(base64.encodebytes(GOOD))
    line = json.dumps({"direction": "request", "api_key": 3, "api_version": 12, "hex": GOOD.hex()})
    return [
        ([GOOD.hex()], b""),
        ([GOOD.hex(" ")], b""),
        ([len(GOOD).to_bytes(4, "big").hex() + GOOD.hex()], b""),
        ([base64.b64encode(GOOD).decode()], b""),
        (["frame.bin"], b""),
        (["frames.bin"], b""),
        (["frames.bin", "--input-format", "stream"], b""),
        (["frame.hex"], b""),
        (["frame.b64"], b""),
        ([], GOOD),
        (["-"], line.encode()),
    ]


@pytest.mark.parametrize("number", range(11))
def test_bytes_are_given_in_many_ways(tmp_path: Path, number: int) -> None:
    words, stdin = forms(tmp_path)[number]
    result = kiplint("decode", "--set", SET, *words, "--output-format", "jsonl", cwd=tmp_path, stdin=stdin)
    assert (result.code, result.err) == (0, "")
    (frame,) = map(json.loads, result.out.splitlines())
    assert (frame["message"], frame["version"], frame["header"]["clientId"]) == ("MetadataRequest", 12, "abc")


def test_json_lines_answer_in_order(tmp_path: Path) -> None:
    lines = [
        {"message": "MetadataRequest", "version": 12, "hex": "00010100", "note": "kept out"},
        {"message": "MetadataRequest", "version": 12, "hex": "0001010000"},
        {"direction": "response", "api_key": 17, "api_version": 1, "hex": "0000000100000000000100045343524d"[:24]},
    ]
    stdin = "\n".join(map(json.dumps, lines)).encode()
    words = ["--input-format", "jsonl", "-", "--output-format", "jsonl"]
    result = kiplint("decode", "--set", SET, *words, cwd=tmp_path, stdin=stdin)
    assert result.code == 1
    first, second, third = map(json.loads, result.out.splitlines())
    assert list(first) == ["message", "version", "header_version", "header", "value", "length", "problems"]
    value = {"topics": None, "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": True}
    assert (first["header"], first["value"], first["length"], first["problems"]) == (None, value, 4, [])
    assert [problem["rule"] for problem in second["problems"]] == ["codec/trailing-bytes"]
    assert third["message"] == "SaslHandshakeResponse"


def test_findings_go_into_every_format(tmp_path: Path) -> None:
    (tmp_path / "bad.bin").write_bytes(BAD)
    for form in ("concise", "github", "sarif", "junit", "gitlab", "markdown", "json"):
        result = kiplint("decode", "--set", SET, "bad.bin", "--output-format", form, cwd=tmp_path)
        assert (result.code, result.err) == (1, "")
        assert "codec/trailing-bytes" in result.out
    result = kiplint("decode", "--set", SET, "bad.bin", "--output-format", "concise", cwd=tmp_path)
    text = "1 byte follows after the end of the message (byte 18)"
    assert result.out == f"bad.bin:1:19: error codec/trailing-bytes MetadataRequest 12: {text}\n"


def test_responses_and_bodies_are_given_their_message(tmp_path: Path) -> None:
    result = kiplint(
        "encode", "SaslHandshakeResponse@1", "--set", SET, "--value", 'mechanisms=["PLAIN"]', "--header", cwd=tmp_path
    )
    for name in ("17@1", "SaslHandshake@1", "SaslHandshakeResponse@1"):
        words = ["--response", name, result.out.strip(), "--output-format", "jsonl"]
        row = json.loads(kiplint("decode", "--set", SET, *words, cwd=tmp_path).out)
        assert row["value"] == {"errorCode": 0, "mechanisms": ["PLAIN"]}
    result = kiplint(
        "decode", "--set", SET, "--body", "MetadataRequest@12", "00010100", "--output-format", "json", cwd=tmp_path
    )
    document = json.loads(result.out)
    assert document["summary"] == {"frames": 1, "problems": 0}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere.bin"], "nowhere.bin is not a file, and not hexadecimal or base64"),
        (["--response", "Metadata", "00"], "Metadata is not KEY@VERSION, such as Metadata@12 or 3@12"),
        (["--response", "Metdata@1", "00"], "no set has Metdata"),
        (["--response", "Metadata@99", "00"], "MetadataResponse has no version 99; its valid versions are 0-13"),
        (["--body", "MetadataRequst@1", "00"], "no set has MetadataRequst; did you mean MetadataRequest?"),
        (["--body", "X@1", "--response", "3@1", "00"], "response and body exclude each other: a body has no header"),
        (["--input-format", "capture", "plain.txt"], "plain.txt: cannot read the capture"),
        (["."], ". is not a file"),
    ],
)
def test_what_cannot_be_understood(tmp_path: Path, words: list[str], expected: str) -> None:
    (tmp_path / "plain.txt").write_text("hello, world!\n")
    result = kiplint("decode", "--set", SET, *words, cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {expected}")


def test_the_summary_of_the_real_capture(corpus: Path, shared_bytes: Path, tmp_path: Path) -> None:
    capture = shared_bytes / "capture.pcapng"
    result = kiplint("decode", "--set", corpus / "kafka-trunk-2026-08" / "clients", capture, cwd=tmp_path)
    lines = result.out.splitlines()
    assert result.code == 1
    assert lines[0] == "739 frames in 58 connections to 127.0.0.1:29092: 372 requests, 367 responses, 73.5 s"
    assert "2 frames with problems" in lines
    assert [line.partition(":")[0] for line in lines if line.startswith("error")] == [
        "error[codec/trailing-bytes]",
        "error[codec/null-not-allowed]",
        "error[codec/trailing-bytes] at byte 22",
        "error[codec/null-not-allowed] at byte 9",
        "error[codec/truncated] at byte 10",
    ]


def test_records_of_a_log(corpus: Path, shared_bytes: Path, tmp_path: Path) -> None:
    from codec.test_records import batch, record

    (tmp_path / "log").write_bytes(batch([record(0, b"k", b"v")]))
    words = ["--input-format", "records", "log", "--output-format", "json"]
    document = json.loads(kiplint("decode", "--set", SET, *words, cwd=tmp_path).out)
    assert document["frames"][0]["value"]["batches"][0]["records"][0]["key"] == "aw=="


@pytest.mark.parametrize(("limit", "counts"), [(5, [3, 2]), (6, [3, 3]), (7, [3, 3, 1]), (12, [3, 3, 3, 3])])
def test_records_are_counted_over_the_run(tmp_path: Path, limit: int, counts: list[int]) -> None:
    from codec.test_records import batch, record

    data = batch([record(0, None, None)] * 3, codec=1)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(data * 2)
    words = ["--input-format", "records", "a", "b", "--limit", str(limit), "--output-format", "json"]
    result = kiplint("decode", "--set", SET, *words, cwd=tmp_path)
    frames = json.loads(result.out)["frames"]
    read = [len(batch["records"]) for frame in frames for batch in frame["value"]["batches"]]
    problems = [problem["message"] for frame in frames for problem in frame["problems"]]
    whole = limit == 12
    assert (result.code, [count for count in read if count]) == (int(not whole), counts)
    assert set(problems) == (
        set() if whole else {f"more than {limit} records in all; this and what follows is not read"}
    )
    note = f"warning: not all was decoded: --limit {limit} was reached; a larger one decodes more\n"
    assert result.err == ("" if whole else note)


def test_frames_are_counted_over_the_run(tmp_path: Path) -> None:
    words = ["--body", "MetadataRequest@0", *["00000000"] * 5, "--limit", "20"]
    texts = kiplint("decode", "--set", SET, *words, cwd=tmp_path)
    assert texts.out.count("MetadataRequest 0,") == 2  # text has the places of values, which take ten times as long
    assert texts.err.startswith("warning: not all was decoded: --limit 20 was reached")
    document = kiplint("decode", "--set", SET, *words, "--output-format", "json", cwd=tmp_path)
    assert (len(json.loads(document.out)["frames"]), document.err) == (5, "")
    lines = kiplint("decode", "--set", SET, *words[:-1], "1", "--output-format", "jsonl", cwd=tmp_path)
    assert (len(lines.out.splitlines()), lines.err) == (5, "")


def test_frames_of_a_capture_are_counted(tmp_path: Path) -> None:
    capture = str(ROOT / "fixtures" / "bytes" / "client.pcap")
    words = ("decode", "--set", SET, capture, "--output-format", "json", "--limit")
    some, whole = kiplint(*words, "3", cwd=tmp_path), kiplint(*words, "5", cwd=tmp_path)
    assert [len(json.loads(result.out)["frames"]) for result in (some, whole)] == [3, 5]
    assert [bool(result.err) for result in (some, whole)] == [True, False]


def test_elements_are_counted_over_the_run(tmp_path: Path) -> None:
    body = b"\0\0\0\x0f" + b"\0\1a" * 15
    words = ["--body", "MetadataRequest@0", body.hex(), body.hex(), "--limit", "2"]
    result = kiplint("decode", "--set", SET, *words, "--output-format", "json", cwd=tmp_path)
    assert [[problem["rule"] for problem in frame["problems"]] for frame in json.loads(result.out)["frames"]] == [
        [],
        ["codec/too-many-elements"],
    ]
    assert "--limit 2 was reached" in result.err
    result = kiplint("decode", "--set", SET, *words, "--output-format", "jsonl", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")  # each frame is forgotten when it is written


def test_lines_are_written_as_they_are_decoded(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text(f"{GOOD.hex()}\nxyz\n")
    words = ["--input-format", "hex", "lines", "--output-format", "jsonl"]
    result = kiplint("decode", "--set", SET, *words, cwd=tmp_path)
    assert (result.code, result.err) == (2, "error: lines, line 2: not pairs of hexadecimal digits\n")
    assert json.loads(result.out)["message"] == "MetadataRequest"


# encode


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["--value", "topics=null"], "00010000"),
        (["--value", "topics=null", "--length"], "0000000400010000"),
        (["--json", '{"topics": [], "allowAutoTopicCreation": true}'], "01010000"),
        (["--header"], "0003000c0000000000000001010000"),
        (["--output-format", "base64"], "AQEAAA=="),
    ],
)
def test_values_become_bytes(tmp_path: Path, words: list[str], out: str) -> None:
    result = kiplint("encode", "MetadataRequest@12", "--set", SET, *words, cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, f"{out}\n", "")


def test_values_that_have_no_bytes(tmp_path: Path) -> None:
    result = kiplint("encode", "MetadataRequest@12", "--set", SET, "--value", "topic=1", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")
    assert result.err == "error[codec/unknown-field]: MetadataRequest has no field topic; did you mean topics?\n"


def test_lines_of_values_become_lines_of_bytes(tmp_path: Path) -> None:
    first = {"message": "MetadataRequest", "version": 12, "value": {"topics": None}}
    result = kiplint("encode", "-", "--set", SET, cwd=tmp_path, stdin=f"{json.dumps(first)}\n7\n".encode())
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert (result.code, [row["hex"] for row in rows]) == (1, ["00010000", None])


def test_lines_of_frames_are_those_that_decode_reads(tmp_path: Path) -> None:
    fallback = "0000000700230000000100120000" + "0003"
    rows = [
        {"direction": "request", "api_key": 3, "api_version": 12, "hex": GOOD.hex()},
        {"direction": "response", "api_key": 18, "api_version": 5, "hex": fallback},
        {"message": "MetadataRequest", "version": 12, "direction": None, "hex": "00010100"},
    ]
    (tmp_path / "frames").write_text("\n".join(map(json.dumps, rows)))
    words = ["--set", SET, "--input-format", "jsonl", "frames", "--output-format", "jsonl"]
    read = [json.loads(line) for line in kiplint("decode", *words, cwd=tmp_path).out.splitlines()]
    assert [row["problems"] for row in read] == [[], [], []]
    lines = [{**row, "header": frame["header"], "value": frame["value"]} for row, frame in zip(rows, read, strict=True)]
    for objects in (lines, read):
        (tmp_path / "frames").write_text("\n".join(map(json.dumps, objects)))
        result = kiplint("encode", *words, cwd=tmp_path)
        assert (result.code, result.err) == (0, "")
        assert [json.loads(line)["hex"] for line in result.out.splitlines()] == [row["hex"] for row in rows]


def test_options_of_one_message_are_not_for_lines(tmp_path: Path) -> None:
    for words in (["--length"], ["--output-format", "hex"]):
        result = kiplint("encode", "-", "--set", SET, *words, cwd=tmp_path)
        assert (result.code, result.out) == (2, "")


# vectors


def test_vectors_are_stable_and_read_by_decode(tmp_path: Path) -> None:
    first, second = (kiplint("vectors", SET, cwd=tmp_path).out for _ in range(2))
    assert first == second
    rows = [json.loads(line) for line in first.splitlines()]
    assert {row["kind"] for row in rows if row["must"] == "read"} == {
        "minimal", "rich-field", "null", "tag", "rich", "long", "array-128", "utf-8", "lowest", "highest", "nulls",
        "nulls-inside", "unknown-tags", "unknown-tags-in-header",
    }  # fmt: skip
    messages = {path.stem for path in Path(SET).rglob("*.json")}
    assert {row["message"] for row in rows} | {"LeaderAndIsrRequest", "LeaderAndIsrResponse"} == messages
    words = ["--input-format", "jsonl", "-", "--output-format", "jsonl"]
    result = kiplint("decode", "--set", SET, *words, cwd=tmp_path, stdin=first.encode())
    assert result.code == 1
    for row, line in zip(rows, map(json.loads, result.out.splitlines()), strict=True):
        if row["must"] == "read":
            assert (line["value"], line["problems"]) == (row["value"], [])
        else:
            assert [problem["offset"] for problem in line["problems"]] == [row["offset"]]


def test_vectors_of_one_message(tmp_path: Path) -> None:
    out = kiplint("vectors", SET, "--message", "SaslHandshakeRequest", cwd=tmp_path).out
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["version"], row["kind"], row["hex"]) for row in rows[:2]] == [
        (0, "minimal", "0000"),
        (0, "rich-field", "000b4d656368616e69736d2d31"),
    ]
    assert rows[0]["header_hex"].startswith("00110000")


def test_vectors_of_files(tmp_path: Path) -> None:
    files = [str(Path(SET, "clients", f"{name}.json")) for name in ("SaslHandshakeRequest", "MetadataRequest")]
    rows = [json.loads(line) for line in kiplint("vectors", *files[:1], cwd=tmp_path).out.splitlines()]
    assert ({row["message"] for row in rows}, rows[0]["header_version"]) == ({"SaslHandshakeRequest"}, 1)
    both = [json.loads(line)["message"] for line in kiplint("vectors", *files, cwd=tmp_path).out.splitlines()]
    assert {*both} == {"SaslHandshakeRequest", "MetadataRequest"}
    words = (*files[:1], "--message", "MetadataRequest")
    assert kiplint("vectors", *words, cwd=tmp_path).out == kiplint("vectors", *files[1:], cwd=tmp_path).out != ""


def test_of_very_many_values_only_the_first_are_drawn(tmp_path: Path) -> None:
    count = MOST_ROWS
    (tmp_path / "body").write_bytes(b"\0\0" + count.to_bytes(4, "big") + b"\0\x12\0\0\0\3" * count + b"x")
    words = ("decode", "--set", SET, "--body", "ApiVersionsResponse@0", "--input-format", "frame", "body")
    result = kiplint(*words, cwd=tmp_path)
    lines = result.out.splitlines()
    assert (result.code, len(lines)) == (1, 2 + MOST_ROWS + 2)
    assert lines[-2] == "... and more: of these values only the first 10,000 are shown; JSON has all"
    assert lines[-1].startswith("error[codec/trailing-bytes] at byte ")


def test_places_are_kept_of_so_many_values_and_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplint.codec.explain.MOST_SPANS", 2)
    records = field("D", "records", nullableVersions="0+")
    request = message(field("A", "int16"), field("B"), field("C", "int64"), records, flexibleVersions="none")
    spans = Codec(request, 0).decode(bytes(14) + b"\xff" * 4, spans=True).spans
    assert [span.type for span in spans] == ["int16", "int32", "nullable records"]


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (("encode", "MetadataRequest@12", "--json", "{}"), b""),
        (("encode", "--input-format", "jsonl", "-"), b'{"message": "MetadataRequest", "version": 12, "value": {}}'),
        (("decode", GOOD.hex()), b""),
    ],
)
def test_definitions_that_cannot_be_read_are_named(tmp_path: Path, words: tuple[str, ...], stdin: bytes) -> None:
    (tmp_path / "Y.json").write_bytes(b'{"name": "MetadataRequest", ')
    for name in ("MetadataRequest", "RequestHeader"):
        (tmp_path / f"{name}.json").write_bytes(Path(SET, "clients", f"{name}.json").read_bytes())
    result = kiplint(*words, "--set", ".", cwd=tmp_path, stdin=stdin)
    assert (result.code, result.out != "") == (2, True)
    assert result.err == "warning: Y.json cannot be read, so it is left out; see `kiplint check`\n"


def test_one_byte_is_one(tmp_path: Path) -> None:
    result = kiplint("decode", "--set", SET, "00", cwd=tmp_path)
    text = "error[codec/truncated] at byte 0: the frame has 1 byte; API key and version take 4"
    assert (result.out.splitlines()[0], result.out.splitlines()[-1]) == ("unknown frame, 1 byte", text)


def test_vectors_of_a_very_large_message_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplint.commands.vectors.run.MOST_BYTES", 100)
    fields = [field(f"F{number}") for number in range(8)]
    (tmp_path / "XRequest.json").write_bytes(definition(*fields, validVersions="0", flexibleVersions="none"))
    left_out: list[str] = []
    kinds = [(vector.kind, vector.field) for vector in vectors(tmp_path, left_out=left_out)]
    assert left_out == ["XRequest has not all vectors of the versions 0, as it is too large"]
    assert kinds == [
        ("minimal", None),
        ("rich-field", "f0"),
        ("rich-field", "f1"),
        ("rich-field", "f2"),
        ("rich", None),
        ("lowest", None),
        ("highest", None),
        ("trailing-bytes", None),
    ]


def test_vectors_of_very_many_versions_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All vectors of a message count, or a thousand versions of a thousand fields would be a gigabyte."""
    monkeypatch.setattr("kiplint.commands.vectors.run.VECTOR_BYTES", 3_000)
    definitions = definition(*[field(f"F{number}") for number in range(8)], validVersions="0-900")
    (tmp_path / "XRequest.json").write_bytes(definitions)
    left_out: list[str] = []
    versions = [vector.version for vector in vectors(tmp_path, left_out=left_out)]
    assert 1 <= versions[-1] < 20
    assert 20 < len(versions) < 200
    assert left_out == [f"XRequest has not all vectors of the versions {versions[-1]}-900, as it is too large"]


def test_what_vectors_leave_out_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(definition(field("A"), validVersions="0-1001"))
    result = kiplint("vectors", ".", cwd=tmp_path)
    assert (result.code, result.err) == (
        0,
        "warning: XRequest has not all vectors of the versions 1001, as it is too large\n",
    )


def test_vectors_of_a_very_large_struct_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fields count, not only their bytes: most have one here."""
    monkeypatch.setattr("kiplint.commands.vectors.run.MOST_BYTES", 100)
    inner = [field(f"F{number}", "bytes") for number in range(8)]
    (tmp_path / "XRequest.json").write_bytes(definition(field("S", "S", fields=inner), flexibleVersions="0+"))
    rich = {(vector.version, vector.field) for vector in vectors(tmp_path) if vector.kind == "rich-field"}
    assert {field for version, field in rich if version == 1} == {"s.f0", "s.f1"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["00000007" + "00000000" + "0000"], "; as a response the frame reads to its last byte: "),
        (["0000000300" + "00000000" + "01" + "0561626364" + "0000000101" + "0000" + "00"], ": Metadata@13"),
        (["--response", "Metadata@12", GOOD.hex()], "; as a request the frame reads to its last byte: MetadataRequest 12"),
    ],
)  # fmt: skip
def test_a_frame_that_does_not_read_says_what_it_may_be(words: list[str], expected: str) -> None:
    from kiplint import decode

    result = decode(words[-1], sets=[SET], response=words[1] if words[0] == "--response" else None)
    assert expected in result.entries[0].frame.problems[0].message
