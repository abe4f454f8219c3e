"""Bytes as the text of other tools: hex dumps, lists, escaped strings, wrapped lines, and dumps of packets."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.commands.decode.dumps import read_dumps
from kiplint.commands.decode.run import decode
from kiplint.engine.errors import UsageError

SET = str(ROOT / "fixtures" / "sets" / "broker")
GOOD = bytes.fromhex("0003000c0000000700036162630000010100")
LONG = GOOD[:9] + b"\x1eab  0000 ffff |x| 61 62 63 done" + bytes(40) + b"\xff\x80 "
CAPTURE = ROOT / "fixtures" / "bytes" / "client.pcap"


def shown(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)


def rows(data: bytes, row: str, *, offset: str = "08x", group: int = 1, width: int = 16) -> str:
    """A dump: a line for each `width` bytes, where `row` takes the offset, the bytes in groups, and the characters."""
    lines = []
    for start in range(0, len(data), width):
        part = data[start : start + width]
        lines.append(
            row.format(
                format(start, offset), part.hex(" ", -group).ljust(width // group * (2 * group + 1) - 1), shown(part)
            )
        )
    return "\n".join(lines) + "\n"


def hexdump(data: bytes) -> str:
    """As `hexdump -C`: with a gap in the middle, repeated rows left out, and the length at the end."""
    lines = rows(data, "{}  {}  |{}|").splitlines()
    lines = [line[:33] + " " + line[33:] for line in lines]
    kept = [line for number, line in enumerate(lines) if number == 0 or line[9:] != lines[number - 1][9:]]
    if len(kept) < len(lines):
        place = next(number for number in range(1, len(lines)) if lines[number][9:] == lines[number - 1][9:])
        kept.insert(place, "*")
    return "\n".join([*kept, f"{len(data):08x}", ""])


@pytest.mark.parametrize("data", [GOOD, LONG, bytes(100)])
@pytest.mark.parametrize("trimmed", [False, True])
def test_hex_dumps(data: bytes, trimmed: bool) -> None:
    octal = rows(data, "{} {}", offset="07o") + f"{len(data):07o}\n"
    texts = [
        rows(data, "{}: {}  {}", group=2),
        rows(data, "{}: {}  {}", width=8),
        hexdump(data),
        rows(data, "{}  {}   {}", offset="04x"),
        rows(data, "{} {}  >{}<", offset="06x"),
        octal,
        rows(data, "\t0x{}:  {}  {}", offset="04x", group=2),
    ]
    for text in texts:
        pasted = "\n".join(line.rstrip() for line in text.splitlines()) if trimmed else text
        assert [(dump.data, dump.form) for dump in read_dumps(pasted)] == [(data, "a hex dump")], pasted


def test_several_blocks_are_several_frames() -> None:
    text = "the first\n" + rows(GOOD, "{}: {}  {}") + "\nthe second\n" + rows(LONG, "{}: {}  {}")
    assert [(dump.line, dump.data) for dump in read_dumps(text)] == [(2, GOOD), (6, LONG)]


@pytest.mark.parametrize(
    "text",
    [
        "0x00, 0x03, 0x7f, 0xff",
        "0x00 0x3 0x7F 0xfF",
        "unsigned char a[] = {\n  0x00, 0x03, 0x7f, 0xff\n};\nunsigned int a_len = 4;\n",
        "new byte[] {0x00, 3, 0x7f, (byte) 0xff}",
        "[0, 3, 127, -1]",
        "[0 3 127 255]",
        "[]byte{0x0, 0x3, 0x7f, 0xff}",
        "Uint8Array(4) [ 0, 3,\n 127, 255 ]",
        "<Buffer 00 03 7f ff>",
        "bytes([0, 3, 127, 255,])",
        "&[0u8, 3, 127, 255]",
        "00, 03, 7f, ff",
    ],
)
def test_lists(text: str) -> None:
    assert [(dump.data, dump.form) for dump in read_dumps(text)] == [(b"\0\3\x7f\xff", "a list of bytes")]


@pytest.mark.parametrize(
    "text", [r"\x00\x03ab\n\xff", r"b'\0\003ab\n\377'", r'"\u0000\u0003ab\n\u00ff"', r'var x = "\x00\x03ab\n\xff";']
)
def test_strings(text: str) -> None:
    assert [(dump.data, dump.form) for dump in read_dumps(text)] == [(b"\0\3ab\n\xff", "a string with escapes")]


@pytest.mark.parametrize(
    "text", ["", "hello, world", "[see below]", "dead beef", "<Buffer 00 03 ... 50 more bytes>", GOOD.hex(" ")]
)
def test_other_texts(text: str) -> None:
    assert read_dumps(text) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("00000000: 63620300 0c000000  ..bc....\n", "line 1: the column of characters differs from the bytes"),
        ("0000000 0300 0c00 0000 0700 0300 6261 0063 0100\n0000010 0001\n0000012\n", "line 1: words of 2 bytes"),
        ("00000000: 0003 000c\n00000010: 0000\n", "line 1: the offsets of the dump do not count its bytes"),
        ("[00, 03, 12]", "the list has numbers with leading zeros"),
        ("[-1, 255]", "the list has -1 and 255"),
        ("[1, 2, 256]", "the list has 1 and 256"),
        ("'\\x00é'", "the string has a character that is not a byte: 'é'"),
    ],
)
def test_ambiguous_texts_are_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_dumps(text)
    assert str(raised.value).startswith(reason)


def test_decode_says_what_it_recognised(tmp_path: Path) -> None:
    forms = {
        "a hex dump": rows(GOOD, "{}: {}  {}", group=2),
        "a list of bytes": str([*GOOD]),
        "a string with escapes": "".join(f"\\x{byte:02x}" for byte in GOOD),
    }
    for form, text in forms.items():
        (tmp_path / "text").write_text(text)
        for word, name in ((str(tmp_path / "text"), str(tmp_path / "text")), (text, "argument 1")):
            result = decode(word, sets=[SET])
            assert ([value and value["topics"] for value in result.values], result.status) == ([None], "ok")
            assert result.notes == (f"{name}: read as {form}",)


@pytest.mark.parametrize(
    "text", [base64.encodebytes(LONG).decode(), "\n".join(LONG.hex()[at : at + 60] for at in range(0, 200, 60))]
)
def test_wrapped_lines_are_one_frame(tmp_path: Path, text: str) -> None:
    (tmp_path / "text").write_text(text)
    result = decode(str(tmp_path / "text"), sets=[SET])
    assert [entry.data for entry in result.entries] == [LONG]
    assert result.notes == (f"{tmp_path / 'text'}: the lines are read as one frame",)


@pytest.mark.parametrize("word", ["zz", "test", "capture1", "AAMA"])
def test_words_are_not_read_as_base64(word: str) -> None:
    with pytest.raises(UsageError, match=f"{word} is neither hexadecimal, nor base64 of a whole frame"):
        decode(word, sets=[SET])


def test_short_base64_of_a_body() -> None:
    assert decode("AAEBAA==", sets=[SET], body="MetadataRequest@12").status == "ok"


def test_text_of_no_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("10:00 broker: connection closed\n")
    with pytest.raises(UsageError, match=r"log\.txt is text, but in no known form of bytes"):
        decode(str(tmp_path / "log.txt"), sets=[SET])


def packets() -> list[bytes]:
    data, pos, result = CAPTURE.read_bytes(), 24, []
    while pos < len(data):
        size = int.from_bytes(data[pos + 8 : pos + 12], "little")
        result.append(data[pos + 16 : pos + 16 + size])
        pos += 16 + size
    return result


def test_dumps_of_packets_are_captures(tmp_path: Path) -> None:
    tcpdump = "".join(
        f"12:00:0{number}.500000 IP 127.0.0.1.50312 > 127.0.0.1.9092: Flags [.], length 9\n"
        + rows(packet, "\t0x{}:  {}  {}", offset="04x", group=2)
        for number, packet in enumerate(packets())
    )
    tshark = (
        "\n".join(rows(bytes(12) + b"\x08\0" + packet, "{}  {}   {}", offset="04x") for packet in packets())
        + "\nReassembled TCP (18 bytes):\n"
        + rows(GOOD, "{}  {}   {}", offset="04x")
    )
    expected = decode(str(CAPTURE), sets=[SET])
    for text in (tcpdump, tshark):
        (tmp_path / "dump.txt").write_text(text)
        result = decode(str(tmp_path / "dump.txt"), sets=[SET])
        assert [(entry.data, entry.frame) for entry in result.entries] == [
            (entry.data, entry.frame) for entry in expected.entries
        ]
        assert result.notes == (f"{tmp_path / 'dump.txt'}: read as a dump of packets",)
    (tmp_path / "dump.txt").write_text(tcpdump)
    times = [entry.captured.time for entry in decode(str(tmp_path / "dump.txt"), sets=[SET]).entries if entry.captured]
    assert times == [43200.5, 43201.5, 43202.5, 43203.5, 43204.5]
    with pytest.raises(UsageError, match="some blocks of the dump are packets and others are not"):
        decode(tcpdump + rows(GOOD, "{}: {}  {}"), sets=[SET])


def test_packed_captures(tmp_path: Path) -> None:
    (tmp_path / "client.pcap.gz").write_bytes(gzip.compress(CAPTURE.read_bytes()))
    result = decode(str(tmp_path / "client.pcap.gz"), sets=[SET])
    assert result.capture == decode(str(CAPTURE), sets=[SET]).capture
    assert result.notes == (f"{tmp_path / 'client.pcap.gz'}: unpacked with gzip",)
    with pytest.raises(UsageError, match="not gzip"):
        decode(b"\x1f\x8b\x08" + bytes(20), sets=[SET])
