"""Bytes written as text: hex dumps, lists of numbers, and escaped strings, as tools and debuggers print them."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from kiplint.engine.errors import UsageError


class Dump(NamedTuple):
    """Bytes, the line of the text where they begin, the time in seconds that stands above them, and what they were."""

    line: int
    data: bytes
    time: float
    form: str


def read_dumps(text: str) -> list[Dump]:
    """The bytes of a text in one of the known forms; none where it has no such form.

    Raises UsageError for a text that may be read in several ways, or whose parts contradict each other.
    """
    if dumps := list(_hex_dumps(text)):
        return dumps
    for form, read in (("a list of bytes", _listed), ("a string with escapes", _escaped)):
        if (data := read(text.strip())) is not None:
            return [Dump(1, data, 0.0, form)]
    return []


MOST_WIDTH = 1000
_LINE = re.compile(r"(?:0x)?(?P<offset>[0-9a-fA-F]{4,16})(?P<colon>:?)(?:\s+(?P<rest>\S.*))?")
_TIME = re.compile(r"(?:\d{4}-\d\d-\d\d )?(\d\d):(\d\d):(\d\d\.\d+) ")


class _Row(NamedTuple):
    number: int
    offset: str
    colon: bool
    data: bytes
    width: int


def _hex_dumps(text: str) -> Iterator[Dump]:
    """The blocks of a dump, each from offset 0 on; other lines between them are headings."""
    plain = not re.search(r"[^0-9a-fA-F\s:*]", text)
    rows: list[_Row | None] = []
    time, skipped = 0.0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        row = _row(number, line.strip())
        if row is None and line.strip() == "*" and rows:
            rows.append(None)
        elif row is None or (row.data and not int(row.offset, 16)):
            if rows and not skipped and (dump := _block(rows, time, plain)):
                yield dump
            rows = [row] if row else []
            if row is None:
                match = _TIME.match(line)
                time = int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3]) if match else time
                skipped = line.startswith(("Reassembled", "Decrypted"))
        elif row.data or rows:
            rows.append(row)


def _row(number: int, line: str) -> _Row | None:
    match = _LINE.fullmatch(line) if len(line) <= MOST_WIDTH else None
    if not match:
        return None
    rest, colon = match["rest"] or "", bool(match["colon"])
    if barred := re.fullmatch(r"(.*?) +(?:\|.*\||>.*<)", rest):
        rest = barred[1]
    ends = []
    for token in re.finditer(r"\S+", rest):
        if len(token[0]) % 2 or len(token[0]) > 16 or not re.fullmatch("[0-9a-fA-F]+", token[0]):
            break
        ends.append(token.end())
    readings = [(bytes.fromhex(rest[:end]), rest[end:]) for end in reversed(ends)]
    # What looks like bytes may already be the column of characters.
    columns = [data for data, column in readings if _is_column(column, data)]
    data = columns[0] if columns else readings[0][0] if readings and not readings[0][1] else b""
    if readings and colon and not data:
        raise UsageError(f"line {number}: the column of characters differs from the bytes, whose order is not known")
    return (
        _Row(number, match["offset"], colon, data, len(rest.split()[0]) // 2 if rest else 1)
        if data or not rest
        else None
    )


def _is_column(column: str, data: bytes) -> bool:
    """Whether text behind bytes shows them as characters; blanks at its end may be missing."""
    shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data).rstrip()
    gap = len(column) - len(column.lstrip())
    return bool(column) and any(column[start:].rstrip() == shown for start in range(2, max(gap, 2) + 1))


def _block(rows: list[_Row | None], time: float, plain: bool) -> Dump | None:
    """The bytes of a block, whose offsets count them; None for lines of plain digits that are not dump."""
    first = next(row for row in rows if row)
    data = next((data for base in (16, 8, 10) if (data := _counted(rows, base)) is not None), None)
    if plain and not first.colon and (data is None or len(rows) < 2):
        return None
    if data is None:
        raise UsageError(f"line {first.number}: the offsets of the dump do not count its bytes")
    if first.width > 1 and not first.colon:
        words = f"words of {first.width} bytes in the order of the machine that wrote them"
        raise UsageError(f"line {first.number}: {words}; give single bytes, as xxd and hexdump -C write them")
    return Dump(first.number, data, time, "a hex dump")


MOST_SQUEEZED = 2**26


def _counted(rows: list[_Row | None], base: int) -> bytes | None:
    """The bytes of rows whose offsets are numbers of that base; a row may stand for the repeated row before it."""
    data, before = bytearray(), b""
    for row, following in itertools.pairwise([*rows, None]):
        known = row or following
        try:
            at = int(known.offset, base) if known else -1
        except ValueError:
            return None
        if row is None and before and at <= MOST_SQUEEZED:
            data += before * ((at - len(data)) // len(before))
        elif row is None or at != len(data):
            return None
        else:
            data, before = data + row.data, row.data
    return bytes(data)


_ELEMENT = re.compile(r"(?:\(byte\)\s*)?(-?0[xX][0-9a-fA-F]{1,2}|-?\d{1,3}|[0-9a-fA-F]{2})(?:u8)?")
_BRACKETS = re.compile(
    r"[\w\s.=:&!*\[\]()]*?[\[{<]\s*(Buffer(?=\s))?([^\[\]{}<>=]*)[\]}>][\s;,)]*(?:unsigned int \w+ = \d+;)?"
)


def _listed(text: str) -> bytes | None:
    """The bytes of a list in the syntax of a programming language, None where the text is none."""
    match = _BRACKETS.fullmatch(text) if re.search(r"[\[{<]", text) else None
    inner = (match[2] if match else text).strip().rstrip(",")
    by_comma = "," in inner
    words = [word.strip() for word in inner.split(",")] if by_comma else inner.split()
    matches = itertools.takewhile(bool, map(_ELEMENT.fullmatch, words))
    elements = [element[1] for element in matches if element]
    if len(elements) != len(words) or not words:
        return None
    prefixed = [element.lstrip("-")[:2] in ("0x", "0X") for element in elements]
    if not match and not by_comma and not all(prefixed):
        return None
    pairs = all(len(element) == 2 and element[0] != "-" for element in elements)
    hexadecimal = bool(match and match[1]) or (pairs and any(not element.isdigit() for element in elements))
    if not hexadecimal and any(re.match("-?0[0-9a-f]", element) for element in elements):
        raise UsageError("the list has numbers with leading zeros: they may be decimal, octal or hexadecimal")
    try:
        numbers = [int(element, 16 if hexadecimal or "x" in element.lower() else 10) for element in elements]
    except ValueError:
        return None
    if min(numbers) < -128 or max(numbers) > 255 or (min(numbers) < 0 and max(numbers) > 127 and not any(prefixed)):
        raise UsageError(f"the list has {min(numbers)} and {max(numbers)}; bytes are 0 to 255, or -128 to 127")
    return bytes(number % 256 for number in numbers)


_PLAIN = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}
_STRING = re.compile(r"""[\w\s.=:&*(]*?(?:\b[brf]{0,2})?(["'`])(.*)\1[\s;,)]*""", re.DOTALL)
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{1,2})|\\u00([0-9a-fA-F]{2})|\\([0-3]?[0-7]{1,2})|\\(.)|([ -~])", re.DOTALL)


def _escaped(text: str) -> bytes | None:
    """The bytes of a string with escapes, None where the text is none."""
    match = _STRING.fullmatch(text)
    inner = match[2] if match else text
    if not re.search(r"\\(x[0-9a-fA-F]|u00|[0-7])", inner):
        return None
    data, pos = bytearray(), 0
    while part := _ESCAPE.match(inner, pos):
        pair, wide, octal, letter, plain = part.groups()
        data.append(
            int(pair or wide, 16) if pair or wide else int(octal, 8) if octal
            else _PLAIN.get(letter, ord(letter) % 256) if letter else ord(plain)
        )  # fmt: skip
        pos = part.end()
    if pos < len(inner):
        raise UsageError(f"the string has a character that is not a byte: {inner[pos : pos + 1]!r}")
    return bytes(data)


RAW, ETHERNET, NULL = 101, 1, 0


def as_capture(dumps: list[Dump]) -> bytes | None:
    """Packets as a capture (pcap); None where the dumps are not packets. Raises UsageError for some that are."""
    links = [_link(dump.data) for dump in dumps]
    if all(link is None for link in links):
        return None
    if len({*links}) > 1:
        raise UsageError("some blocks of the dump are packets and others are not; write the packets alone")
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 2**18, links[0])]
    for number, dump in enumerate(dumps):
        size, micros = len(dump.data), round(dump.time * 1e6) or number  # without times, what counts is the order
        out.append(struct.pack("<IIII", *divmod(micros, 10**6), size, size) + dump.data)
    return b"".join(out)


def _link(data: bytes) -> int | None:
    """The link type of a packet that holds IP, None for other bytes."""
    for link, start in ((RAW, 0), (ETHERNET, 14), (NULL, 4)):
        at = data[start : start + 6]
        if len(data) < start + 20 or (start == 14 and data[12:14] not in (b"\x08\0", b"\x86\xdd")):
            continue
        four = at[0] >> 4 == 4 and at[0] & 15 >= 5 and 20 <= int.from_bytes(at[2:4], "big") <= len(data) - start
        six = at[0] >> 4 == 6 and int.from_bytes(at[4:6], "big") + 40 == len(data) - start
        if four or six:
            return link
    return None
