"""Names are true in every JSON, and escaped for the medium in every other output."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tools import Ran, definition, field, kiplint

HOSTILE = "Evil\n\x1b[31m\u202e\u2028Forged"
ESCAPED_NAME = r"Evil\u000a\u001b[31m\u202e\u2028Forged"

REPORTS = ("text", "markdown", "github", "html")
"""The formats of the commands that report findings."""

COMMANDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "check": (("check", "new", "--select", "all"), REPORTS),
    "diff": (("diff", "old", "new"), REPORTS),
    "rollout": (("rollout", "old", "new"), REPORTS),
    "kip": (("kip", "kip.md", "--base", "old", "--against", "new"), REPORTS),
    "decode": (("decode", "0007000200000001ffff0001", "--set", "new"), ("text",)),
    "negotiate": (("negotiate", "old", "new"), ("text", "html")),
    "show": (("show", "--all", "new"), ("text", "html")),
    "migrate": (("migrate", "kip-1313", "new", "--dry-run"), ("text", "markdown")),
}
"""By command: its arguments, and the formats besides JSON that name messages."""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases of two RPCs with such names, one of which drops a version, and a KIP with a definition of one."""
    top = tmp_path_factory.mktemp("names")
    for release, versions in (("old", {7: "0-1", 8: "0"}), ("new", {7: "0-2", 8: "1"})):
        (top / release).mkdir()
        for key, valid in versions.items():
            for kind in ("request", "response"):
                fields = [{**field(f"{HOSTILE}Field", "int8" if release == "old" else "int16"), HOSTILE: 1}]
                name = f"{HOSTILE}{key}{kind.capitalize()}"
                others = {"apiKey": key, "validVersions": valid, "flexibleVersions": "none"}
                text = definition(*fields, name=name, type=kind, **others)
                (top / release / f"X{key}{kind}.json").write_bytes(text)
    (top / "kip.md").write_bytes(b"```json\n" + (top / "new" / "X7request.json").read_bytes() + b"\n```\n")
    return top


def run(here: Path, command: str, output_format: str) -> Ran:
    result = kiplint(*COMMANDS[command][0], "--output-format", output_format, cwd=here)
    assert result.code in (0, 1), result.err
    return result


def strings(value: object) -> Iterator[str]:
    """All strings of a JSON document, keys of objects too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.items() for part in item for text in strings(part))
    elif isinstance(value, list):
        yield from (text for item in value for text in strings(item))


@pytest.mark.parametrize("command", COMMANDS)
def test_json_has_the_true_name(here: Path, command: str) -> None:
    out = run(here, command, "json").out
    values = list(strings(json.loads(out)))
    assert [value for value in values if HOSTILE in value]
    names = [value for value in values if "Forged" in value and " " not in value]
    assert [value for value in names if HOSTILE[1:] not in value] == []  # keys of values begin with a small letter
    assert all(line.isprintable() for line in out.split("\n"))  # JSON's own escapes


@pytest.mark.parametrize(
    ("command", "output_format"), [(name, form) for name in COMMANDS for form in COMMANDS[name][1]]
)
def test_other_formats_escape_the_name(here: Path, command: str, output_format: str) -> None:
    out = run(here, command, output_format).out
    plain = html.unescape(out).replace("\\\\", "\\").replace("\\[", "[")
    assert ESCAPED_NAME in plain or ESCAPED_NAME.replace(r"\u000a", "%0A") in plain
    assert all(line.isprintable() for line in out.split("\n"))
