"""What a JSON file is, by its name and bytes: a definition, meant to be one, or a file for another use."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal

Kind = Literal["definition", "meant", "broken", "other"]
"""`meant`: taken for a definition where others stand beside it; `broken`: empty, or no text: nobody can tell."""

PROPERTIES: Final = frozenset(
    [
        "name",
        "type",
        "apiKey",
        "listeners",
        "validVersions",
        "deprecatedVersions",
        "flexibleVersions",
        "latestVersionUnstable",
        "headerVersions",
        "commonStructs",
        "fields",
    ]
)
"""The properties of a definition; an object with two of them, or with words close to them, is meant to be one."""

FOREIGN: Final = frozenset(
    [
        "package.json",
        "package-lock.json",
        "tsconfig.json",
        "jsconfig.json",
        "composer.json",
        "renovate.json",
        "manifest.json",
        "lerna.json",
        "deno.json",
        "nx.json",
        "turbo.json",
        "devcontainer.json",
    ]
)
"""Names that tools give a meaning of their own."""

LARGEST_ENTRY: Final = (1 << 20) + 1
"""How much is read of a file: enough to see that it is too large."""

MOST_LOOKED_AT: Final = 64 << 20
"""How far a file that is too large is looked at, to know whether it is a definition; beyond, it is taken for one."""

_MARKS: Final = (b"validVersions", b"flexibleVersions", b"apiKey", b"type")
_OUR_MARKS: Final = (b'"version"', b'"rule"', b'"$schema"', b'"description"')
_COMMENT: Final = rb'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)'
_OURS: Final = (
    rb'(?:\xef\xbb\xbf)?(?:\s|//[^\n]*\n)*+(?:\{\s*"(?:version|rule)"\s*:|\{\s*"\$schema"\s*:\s*"[^"]*sarif'
    rb'|\[\s*\{\s*"description"\s*:|\[\s*\])'
)


def kind_of(data: bytes, name: str = "") -> Kind:
    """What a file is; `name` without folders, where it is known.

    A definition names its versions, or a type and an API key. In a directory of definitions a file is also meant to be
    one that is no JSON, or no object, or an object with two of their properties; what kiplint writes itself never is.
    """
    if name in FOREIGN or (_may_be_ours(data) and re.match(_OURS, data)):
        return "other"
    valid, flexible, key, kind = _MARKS
    if valid in data or flexible in data or (key in data and kind in data):
        return "definition"
    if _is_broken(data):
        return "broken"
    return "meant" if len(data) < LARGEST_ENTRY and _is_meant(data) else "other"


def _may_be_ours(data: bytes) -> bool:
    """Whether what kiplint writes can be told by a pattern, whose making takes as long as looking at 200 files."""
    opening = 0 if data.startswith(b"{") else data.find(b"\n{") + 1
    first = data[opening + 1 : opening + 80].lstrip()
    return len(first) < 20 or (opening == 0 and data[:1] != b"{") or first.startswith(_OUR_MARKS)


def marks_of(read: Callable[[int], bytes]) -> tuple[bytes, int]:
    """What the rest of a file that is too large has of the words that a definition is known by, and its bytes.

    Who reads only the beginning puts them behind it, so that no length of comments makes a definition something else.
    """
    marks: set[bytes] = set()
    count, before = 0, b""
    while count < MOST_LOOKED_AT and (piece := read(1 << 16)):
        count += len(piece)
        marks.update(mark for mark in _MARKS if mark in before + piece)
        before = piece[-20:]
    return b" ".join(sorted(marks)) if count < MOST_LOOKED_AT else _MARKS[0], count


def is_other_json(data: bytes, name: str = "") -> bool:
    """Whether bytes are JSON that is no definition: an object or list with something in it, for another use."""
    kind = kind_of(data, name)
    if kind not in ("meant", "other"):
        return False
    value = _value(data)
    return bool(value) and (isinstance(value, list) or (kind == "other" and isinstance(value, dict)))


def _is_broken(data: bytes) -> bool:
    if not data.strip():
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) < LARGEST_ENTRY or error.start < LARGEST_ENTRY - 4  # where it is cut, a character may be
    return False


def _is_meant(data: bytes) -> bool:
    value = _value(data)
    if not isinstance(value, dict):
        return True
    if len(PROPERTIES & value.keys()) >= 2:
        return True
    from difflib import get_close_matches

    close = [key for key in list(value)[:20] if len(key) < 30 and get_close_matches(key, PROPERTIES, 1, 0.8)]
    return len(close) >= 2


def _value(data: bytes) -> object:
    """The value of JSON with comments; None where it is no JSON."""
    import json  # only for a file that looks like none of ours

    try:
        return json.loads(re.sub(_COMMENT, lambda match: match[1] or b" ", data))
    except (ValueError, RecursionError):
        return None
