"""Where rules come from: the packs that are shipped, users' files (JSON or JSON5), and Python packages."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.engine.rule import PackSpec, Rule, RuleSpec
from kiplint.text.comments import blank_comments
from kiplint.text.files import read_file, read_text
from kiplint.text.suggest import did_you_mean

_DECODER = msgspec.json.Decoder(PackSpec)
GROUP = "kiplint.packs"
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def shipped(name: str) -> str:
    """A directory that the wheel carries inside the package and a checkout at its top: packs, or fixtures."""
    inside = os.path.join(_HERE, name)
    checkout = os.path.dirname(os.path.dirname(_HERE))
    return inside if os.path.isdir(inside) else os.path.join(checkout, {"packs": "rules"}.get(name, name))


def shipped_rules() -> list[Rule]:
    """The rules of all shipped packs, unchecked: the tests check them."""
    folder = shipped("packs")
    rules: list[Rule] = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            file = os.path.join(folder, name)
            with open(file, "rb") as pack:
                rules += _rules(_DECODER.decode(blank_comments(pack.read())), file)
    return rules


def load_pack(file: str) -> list[Rule]:
    """The rules of a user's pack, with every expression checked; raises UsageError with file and line."""
    try:
        text = read_text(file)
    except OSError as error:
        raise UsageError(f"cannot read the rule pack {file}: {error.strerror}") from None
    try:
        spec = msgspec.convert(_parse(text), PackSpec)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}:{_line_of_path(text, str(error))}: {_plainer(str(error))}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot read the rule pack: {error}") from None
    rules = _rules(spec, file)
    check_rules(rules, text)
    return rules


def installed_packs() -> Iterator[str]:
    """The pack files that installed Python packages name through the entry points `kiplint.packs`."""
    if not _any_announced():
        return
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        try:
            found = entry.load()
            files = found() if callable(found) else found
        except Exception as error:
            raise UsageError(f"the rule pack {entry.name} ({entry.value}) cannot be loaded: {error}") from error
        yield from [os.fspath(files)] if isinstance(files, (str, os.PathLike)) else map(os.fspath, files)


def _any_announced() -> bool:
    """Whether some installed package has packs: importlib.metadata is slow, and nearly always for nothing."""
    return any(_announces(file) for folder in filter(os.path.isdir, sys.path) for file in _entry_points(folder))


def _entry_points(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            yield os.path.join(folder, name, "entry_points.txt")


def _announces(file: str) -> bool:
    return os.path.isfile(file) and f"[{GROUP}]".encode() in read_file(file, cut=True)


def check_rules(rules: list[Rule], text: str) -> None:
    """Check every expression of the rules; raises UsageError with file, line and suggestion."""
    from kiplint.engine.check_rule import mistakes

    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise UsageError(f"{rule.origin}:{_line(text, rule.spec.id)}: there are two rules {rule.id}")
        seen.add(rule.id)
        for part, expression, problem in mistakes(rule):
            line = _line(text, rule.spec.id, expression)
            raise UsageError(f"{rule.origin}:{line}: {rule.id}: {part}: {problem}")


def _rules(spec: PackSpec, origin: str) -> list[Rule]:
    return [_rule(spec, one, origin) for one in spec.rules]


def _rule(pack: PackSpec, spec: RuleSpec, origin: str) -> Rule:
    return Rule(
        pack=pack.pack,
        spec=spec,
        severity=spec.severity,
        source=spec.source or pack.source,
        params=spec.params,
        origin=origin,
    )


def _parse(text: str) -> Any:
    try:
        return msgspec.json.decode(blank_comments(text.encode()))
    except msgspec.DecodeError:
        import json5

        return json5.loads(text)


def _line(text: str, *landmarks: str) -> int:
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
    unknown = re.search(r"unknown field `(\w+)`", error)
    if not unknown:
        return error.replace("Object", "the object").replace("`$", "`")
    known = [*RuleSpec.__struct_fields__, *PackSpec.__struct_fields__]
    return f"{unknown[1]} is no property of a rule{did_you_mean(unknown[1], known)}"
