"""Slips that people make, put into real definitions at random."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Slip = Callable[[str, random.Random], str]


def _replace(pattern: str, *by: str) -> Slip:
    """One of the places where the pattern stands is replaced, by one of the texts (as of `re`)."""

    def slip(text: str, chance: random.Random) -> str:
        result = list(re.finditer(pattern, text))
        if not result:
            return text
        match = chance.choice(result)
        return text[: match.start()] + match.expand(chance.choice(by)) + text[match.end() :]

    return slip


def _delete_line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def _swap_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) - 1)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return "".join(lines)


def _other_bytes(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    return text[:at] + chance.choice(['"', ",", "{", "]", "'", "\u00a0", "é", "0", "//", "", "\\"]) + text[at + 1 :]


SLIPS: tuple[Slip, ...] = (
    _replace(r'(["\]}])(\s*[}\]])', r"\1,\2"),
    _replace(r'"(\w+)"\s*:', r"\1:", r"'\1':"),
    _replace(r'"([^"\\\n]*)"', r"'\1'"),
    _replace(r": (true|false)\b", r': "\1"', ": 1", ": 0"),
    _replace(r'"tag": ([0-9]+)', r'"tag": "\1"', r'"tag": 0x\1', r'"tag": +\1', r'"tag": 0', r'"tag": 7'),
    _replace(r'"default": "[^"]*"', '"default": null', '"default": "null"', '"default": 010', '"default": .5'),
    _replace(r'"type": "\[\](\w+)"', r'"type": "\1[]"', r'"type": "[\1]"', r'"type": "List<\1>"'),
    _replace(r'"type": "(string|int32|uuid)"', '"type": "strng"', '"type": "Int32"', '"type": "text"'),
    _replace(
        r'"versions": "([0-9]+)\+",? ?', "", r'"versions": "0-\1", ', r'"versions": "\1-99", ', '"versions": "9+", '
    ),
    _replace(r'"nullableVersions": "[^"]*"', '"nullableVersions": "0+"', '"nullableVersions": "1-2"'),
    _replace(r'"flexibleVersions": "[^"]*"', '"flexibleVersions": "1-2"', '"flexibleVersions": "0+"'),
    _replace(r'"taggedVersions": "([0-9]+)\+"', r'"taggedVersions": "\1"', '"taggedVersions": "0+"'),
    _replace(r'"validVersions": "([0-9]+)[^"]*"', r'"validVersions": "\1"', '"validVersions": "0-3"'),
    _replace(r'"(nullableVersions|ignorable|entityType|about)"', r'"\1s"', '"ignoreable"', '"nullable"'),
    _replace(r'"entityType": "[^"]*",? ?', ""),
    _replace(r'("fields": \[)', r'"headerVersions": {"0-2": "1", "4+": "2"}, \1', r'"headerVersions": {"1+": "2"}, \1'),
    _replace(r'("fields": \[)', r'"headerVersions": {"0-5": "1", "3": "2"}, \1', r'"headerVersions": {"0-9": "2"}, \1'),
    _replace(r'"apiKey": [0-9]+', '"apiKey": 1', '"apiKey": "3"', '"apiKey": 99'),
    _replace(r"\n", "\r\n"),
    _delete_line,
    _swap_lines,
    _other_bytes,
)


def mutate(text: str, chance: random.Random) -> str:
    """The text with one to four slips."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        if text.count("\n") > 2:
            text = chance.choice(SLIPS)(text, chance)
    return text


RANGES = ("0+", "none", "0", "1-2", "3+", "2-32767", "99+", "0-32767", "", "3-1", "-1", " 1 + ", "40000", "x")
TYPES = (
    *("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid", "string", "bytes", "records"),
    *("[]int32", "[]uuid", "[]string", "[]float64", "[][]int8", "Other", "[]Other", "strng", "[]", "", "request"),
)
DEFAULTS: tuple[Any, ...] = (
    "null",
    "",
    "0",
    "-1",
    "0x1f",
    "1e999",
    "NaN",
    "true",
    "A" * 22,
    "é" * 22,
    "9" * 30,
    None,
    7,
    -1.5,
    [],
)
VALUES: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(("versions", "nullableVersions", "taggedVersions", "flexibleVersions", "validVersions"), RANGES),
    "deprecatedVersions": RANGES,
    "type": TYPES,
    "default": DEFAULTS,
    "tag": (0, 1, 5, -1, 2**31 - 1, 2**31, "0", None),
    "apiKey": (0, 3, 17, 18, -1, 32767, 32768, None),
    "name": ("Name", "name", "Other", "", "a b", "é", "class", "RequestHeader", "_unknownTaggedFields"),
    "headerVersions": ({"0+": "2"}, {"0-1": "1", "2+": "2"}, {"0": "0", "0-9": "3"}, {"x": "y"}, {}, {"0+": 2}),
    "listeners": (["broker"], ["zkBroker", "controller"], [], "broker", [1]),
    "latestVersionUnstable": (True, False, "true"),
    "ignorable": (True, False, "x"),
    "mapKey": (True, False),
    "zeroCopy": (True, False),
    "entityType": ("topicName", "x", ""),
    "fields": ([], None, {}, [1]),
    "commonStructs": ([], [{"name": "Other", "versions": "0+", "fields": []}]),
}
"""The values that a property may get: of its kind, at the ends of what is allowed, and beyond."""
ANY: tuple[Any, ...] = (None, True, 1, -0.5, "x", "\ud800", [], {}, [[]], {"a": 1})


def mutate_value(document: Any, chance: random.Random) -> Any:
    """The JSON value of a definition, changed in place, with one to six properties set, dropped, copied or moved."""
    for _ in range(chance.choice((1, 1, 2, 3, 4, 6))):
        objects = [value for value in _values(document) if isinstance(value, dict)]
        lists = [value for value in _values(document) if isinstance(value, list) and value]
        target = chance.choice(objects)
        match chance.randrange(8):
            case 0 if target:
                del target[chance.choice(sorted(target))]
            case 1 if lists:
                items = chance.choice(lists)
                items.insert(chance.randrange(len(items) + 1), copy.deepcopy(chance.choice(items)))
            case 2 if lists:
                items = chance.choice(lists)
                chance.choice(lists).append(
                    copy.deepcopy(chance.choice(items))
                )  # perhaps into itself, at another depth
            case 3 if lists:
                items = chance.choice(lists)
                del items[chance.randrange(len(items))]
            case 4 if target:
                target[chance.choice(sorted(target))] = copy.deepcopy(chance.choice(ANY))
            case 5:
                target |= {"type": chance.choice(TYPES), "nullableVersions": chance.choice(RANGES[:4])}
            case _:
                name = chance.choice(sorted(VALUES))
                target[name] = copy.deepcopy(chance.choice(VALUES[name]))
    return document


def _values(value: Any) -> Iterator[Any]:
    """A JSON value and all values inside."""
    yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _values(item)
