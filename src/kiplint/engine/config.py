"""The configuration: `kiplint.toml`, `.kiplint.toml` or `[tool.kiplint]` in pyproject.toml, found upwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Level
from kiplint.text.files import read_file, read_text
from kiplint.text.limits import MAX_DEPTH
from kiplint.text.show import printable
from kiplint.text.suggest import did_you_mean

FILES = ("kiplint.toml", ".kiplint.toml", "pyproject.toml")
MOST = 1_000
"""How many entries a list or table may have: each is tried on every rule, or on every file."""

FailOn = Literal["error", "warning", "info", "never"]


class RuleTable(msgspec.Struct, forbid_unknown_fields=True):
    """What a configuration says of one rule."""

    params: Annotated[dict[str, Any], Meta(description="Values for the rule's parameters.")] = {}


class Config(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a configuration file."""

    extend: Annotated[str, Meta(description="Another configuration file, which holds where this one says nothing.")] = (
        ""
    )
    select: Annotated[
        list[str], Meta(description='The rules to run: "default", "all", packs, rules, globs.', max_length=MOST)
    ] = msgspec.field(default_factory=lambda: ["default"])
    ignore: Annotated[list[str], Meta(description="Rules not to run, whatever is selected.", max_length=MOST)] = []
    fail_on: Annotated[FailOn, Meta(description="The lowest severity that makes the run fail.")] = "error"
    rule_packs: Annotated[
        list[str], Meta(description="Files of rules of your own, JSON or JSON5.", max_length=100)
    ] = []
    baseline: Annotated[str, Meta(description="A file of known findings, which a check leaves out.")] = ""
    exclude: Annotated[
        list[str], Meta(description="Globs of files to leave out, relative to this file.", max_length=MOST)
    ] = []
    per_file_ignores: Annotated[
        dict[str, Annotated[list[str], Meta(max_length=MOST)]],
        Meta(description="By glob of files, relative to this file: rules not to run on them.", max_length=MOST),
    ] = {}
    severity: Annotated[dict[str, Level], Meta(description="Severity by rule, pack or glob.", max_length=MOST)] = {}
    rules: Annotated[dict[str, RuleTable], Meta(description="Parameters by rule.", max_length=MOST)] = {}


def find_config(start: str) -> str | None:
    """The configuration file nearest above `start`, or None."""
    folder = os.path.realpath(start)
    while True:
        for name in FILES:
            file = os.path.join(folder, name)
            if os.path.isfile(file) and (name != "pyproject.toml" or _mentions_kiplint(file)):
                return file
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _mentions_kiplint(file: str) -> bool:
    return b"[tool.kiplint" in read_file(file, cut=True)


def read_config(file: str) -> Config:
    """The configuration of a file, what it extends included; raises UsageError with file, line and what to write."""
    return msgspec.convert(_whole(file, ()), Config)


def _whole(file: str, chain: tuple[str, ...]) -> dict[str, Any]:
    """The values of a file over those of the file that it extends."""
    values = _read(file)
    base = values.get("extend")
    return _over_base(values, base, file, chain) if base else values


def make_config(values: Mapping[str, Any]) -> Config:
    """The configuration that is given as such, what it extends included; its paths are relative to where we are."""
    base = values.get("extend")
    file = os.path.join(os.getcwd(), FILES[0])
    return msgspec.convert(_over_base(dict(values), base, file, ()) if base else values, Config)


def _over_base(values: dict[str, Any], base: str, file: str, chain: tuple[str, ...]) -> dict[str, Any]:
    from kiplint.engine.extending import once, over

    below = os.path.join(os.path.dirname(file), base)
    try:
        chain = once(chain, file)
        if not os.path.lexists(below):
            raise UsageError(f"there is no file {printable(below)}")
    except UsageError as error:
        place = f"{file}:{_line(read_text(file), 'extend')}" if os.path.lexists(file) else "the configuration"
        raise UsageError(f"{place}: extend: {error}") from None
    return over(values, _whole(below, chain), os.path.dirname(os.path.realpath(below)), file)


def _read(file: str) -> dict[str, Any]:
    """The values that a file itself gives, each as it should be."""
    import tomllib

    try:
        text = read_text(file)
        values = tomllib.loads(text)
        if _is_deep(values):
            raise RecursionError
    except RecursionError:
        raise UsageError(f"{file}: not TOML: values stand too deep inside one another") from None
    except ValueError as error:  # tomllib's own, and int's for a number of thousands of digits
        raise UsageError(f"{file}: not TOML: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot read the configuration {file}: {error.strerror}") from None
    if os.path.basename(file) == "pyproject.toml":
        tool = values.get("tool")
        values = tool.get("kiplint", {}) if isinstance(tool, dict) else {}
    try:
        found = msgspec.convert(values, Config)
    except RecursionError:
        raise UsageError(f"{file}: values stand too deep inside one another") from None
    except msgspec.ValidationError as error:
        raise UsageError(_explain(file, text, str(error))) from None
    named = {"baseline": [found.baseline], "extend": [found.extend], "rule-packs": found.rule_packs}
    for name, paths in {**named, "exclude": found.exclude, "per-file-ignores": [*found.per_file_ignores]}.items():
        if any("\0" in path for path in paths):
            raise UsageError(f"{file}:{_line(text, name)}: {name}: no path holds a NUL")
    return dict(values)


def _is_deep(value: object) -> bool:
    """Whether values stand deeper inside one another than those of a definition may."""
    row = [value]
    for _ in range(MAX_DEPTH):
        parts = (one.values() if isinstance(one, dict) else one for one in row if isinstance(one, (dict, list)))
        row = [part for several in parts for part in several]
    return bool(row)


def place_of(word: str, file: str) -> str:
    """Where a configuration that could be read has a word, as `file:line`; maybe in the file that this one extends."""
    import re

    text = read_text(file)
    escaped = re.escape(word)
    match = re.search(
        rf"(?m)[\"']{escaped}[\"']|(?:^|[{{,])[ \t]*{escaped}[ \t]*=|^[ \t]*\[[^\]\n]*\b{escaped}\b", text
    )
    if not match and (base := _read(file).get("extend")):
        return place_of(word, os.path.join(os.path.dirname(file), base))
    return f"{file}:{text.count(chr(10), 0, match.start()) + 1 if match else 1}"


def config_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a configuration file."""
    schema = msgspec.json.schema(Config)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kiplint configuration", **schema}


def _explain(file: str, text: str, error: str) -> str:
    import re

    unknown = re.search(r"unknown field `([^`]*)`", error)
    if not unknown:
        place = re.search(r"at `\$\.?([^`]*)`", error)
        name = re.split(r"[.\[]", place[1])[0] if place else ""
        reason = _choices(name, error) or error.partition(" - at ")[0].replace("`", "")
        return f"{file}:{_line(text, name)}: {name}: {reason[:1].lower()}{reason[1:]}"
    table = RuleTable if ".rules" in error.rpartition(" - at ")[2] else Config
    known = list(table.__struct_encode_fields__)
    hint = did_you_mean(unknown[1], known) or f"; there are {', '.join(known)}"
    return f"{file}:{_line(text, unknown[1])}: {unknown[1]} is no key of the configuration{hint}"


def _choices(name: str, error: str) -> str:
    """What a key takes, where it has a word that is none of these."""
    import re

    wrong = re.search(r"Invalid enum value '(.*)' - at", error, re.DOTALL)
    choices = get_args({"fail-on": FailOn, "severity": Level}.get(name))
    if not wrong or not choices:
        return ""
    return f"{printable(wrong[1])} is none of {', '.join(choices)}{did_you_mean(wrong[1], choices)}"


def _line(text: str, name: str) -> int:
    import re

    match = re.search(rf"(?m)^[ \t]*\[?[\"']?(?:tool\.kiplint\.)?{re.escape(name)}\b", text) if name else None
    return text.count("\n", 0, match.start()) + 1 if match else 1
