"""Slips that people make, put into real definitions at random."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

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
