"""What is wrong with the shape of a user's pack, with the line and what to write instead."""

from __future__ import annotations

import re
from typing import Any, get_args, get_type_hints

import msgspec

from kiplint.engine.rule import Case, PackSpec, RuleSpec, Softer, Wanted
from kiplint.text.show import printable
from kiplint.text.suggest import did_you_mean

_SHAPES: tuple[type[msgspec.Struct], ...] = (RuleSpec, PackSpec, Case, Softer, Wanted)


def explain(text: str, error: str) -> str:
    """A validation error of msgspec as `line: what is wrong`."""
    return f"{_line_of_path(text, error)}: {_plainer(error)}"


def line_of(text: str, *landmarks: str) -> int:
    """The line of the last landmark, each looked for after the one before it."""
    offset = 0
    for landmark in landmarks:
        quoted = msgspec.json.encode(landmark).decode()[1:-1]
        places = [found for found in (text.find(one, offset) for one in (quoted, landmark)) if found >= 0]
        offset = min(places, default=offset)
    return text.count("\n", 0, offset) + 1


def _line_of_path(text: str, error: str) -> int:
    """The line that an error such as ``... - at `$.rules[2].each` `` is about, as near as the names lead."""
    numbers = re.findall(r"\[(\d+)\]", error)
    names = re.findall(r"\.(\w+)", error.rpartition("`$")[2])
    unknown = re.findall(r"unknown field `(\w+)`", error)
    offset = text.find("rules")
    if numbers and offset >= 0:
        starts = [match.start() for match in re.finditer(r"\{", text[offset:])]
        ids = [match.start() for match in re.finditer(r"[\"']?\bid[\"']?\s*:", text[offset:])]
        places = ids if len(ids) > int(numbers[0]) else starts
        offset += places[int(numbers[0])] if len(places) > int(numbers[0]) else 0
    for name in [*names, *unknown]:
        offset = max(text.find(name, max(offset, 0)), offset)
    return text.count("\n", 0, max(offset, 0)) + 1


def _plainer(error: str) -> str:
    names = re.findall(r"\.(\w+)", error.rpartition("`$")[2])
    if unknown := re.search(r"unknown field `(\w+)`", error):
        known = [name for shape in _shapes(names) for name in shape.__struct_fields__]
        return f"{unknown[1]} is no property of a rule{did_you_mean(unknown[1], known)}"
    if wrong := re.search(r"Invalid enum value '(.*)' - at", error, re.DOTALL):
        choices = _choices(names[-1])
        hint = did_you_mean(wrong[1], choices)
        return f"{names[-1]}: {printable(wrong[1])} is none of {', '.join(choices)}{hint}"
    if most := re.search(r"of length <= (\d+)", error):
        return f"{names[-1]}: it has more than {most[1]} {'characters' if '`str`' in error else 'entries'}"
    return error.replace("Object", "the object").replace("`$", "`")


def _shapes(names: list[str]) -> tuple[type[msgspec.Struct], ...]:
    """The shapes that the object at the end of a path may have."""
    inner: dict[str, tuple[type[msgspec.Struct], ...]] = {"says": (Case,), "levels": (Softer,), "fields": (Wanted,)}
    found = [inner[name] for name in names if name in inner]
    return found[-1] if found else (RuleSpec, PackSpec)


def _choices(name: str) -> list[str]:
    """The words that a property takes, in every shape that has it."""
    found: dict[str, None] = {}
    for shape in _SHAPES:
        hint = get_type_hints(shape).get(name)
        found |= dict.fromkeys(_words(hint))
    return list(found)


def _words(hint: Any) -> list[str]:
    return [word for one in get_args(hint) for word in ([one] if isinstance(one, str) else _words(one))]
