"""Definitions without end: real files, each time with other names and keys, the same all over one variation.

A variation renames messages, structs and fields and shifts API keys, as if another project had grown the same protocol.
Names that a rule speaks of stay, so that the rules find in a variation what they find in the real files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from benchmarks.schemas import Schema, fields_of, read
from kiplint.engine.rule import Rule

SUFFIXES = ("Request", "Response", "Key", "Value")
KEYS = 100
"""The API keys of one variation lie this far above those of the one before."""
KEY_SETS = 300
"""After so many variations the keys begin again: they have 16 bits."""

ALSO_A_WORD = frozenset({"Version"})
"""Names that notes use as words, too."""

_TOKEN = re.compile(
    r'"(?P<what>name|type)"\s*:\s*"(?:\[\])?(?P<name>\w+)"|"apiKey"\s*:\s*(?P<key>\d+)|(?P<comment>//[^\n]*)'
)


@dataclass(frozen=True)
class Template:
    """One real file, cut at what varies: `parts` and between them a name to mark, or an API key to shift.

    `file` is cut in the same way.
    """

    directory: str
    file: tuple[str, str]
    parts: tuple[str, ...]
    keys: Mapping[int, int]

    def text(self, mark: str, shift: int) -> str:
        """The file's text in a variation."""
        if not self.keys:
            return mark.join(self.parts)
        parts = [self.parts[0]]
        for number, part in enumerate(self.parts[1:]):
            parts += (str(self.keys[number] + shift) if number in self.keys else mark, part)
        return "".join(parts)


@dataclass(frozen=True)
class Variation:
    """The files of one variation by directory: name and content."""

    number: int
    sets: Mapping[str, Sequence[tuple[str, bytes]]]


def read_templates(corpus: Path, rules: Sequence[Rule]) -> list[Template]:
    """All definitions below a directory that are one JSON object, each with its directory."""
    rule_words = frozenset(re.findall(r"\w+", " ".join(repr(rule.spec) for rule in rules)))
    schemas = []
    for path in sorted(corpus.rglob("*.json")):
        with suppress(ValueError):
            schemas.append(read(path))
    names_by_rpc: dict[tuple[Path, str], set[str]] = {}
    for schema in schemas:
        names_by_rpc.setdefault(_rpc(schema), set()).update(_names(schema) - rule_words - ALSO_A_WORD)
    return [
        _template(schema, schema.path.parent.relative_to(corpus).as_posix(), rule_words, names_by_rpc[_rpc(schema)])
        for schema in schemas
    ]


def variations(templates: Sequence[Template]) -> Iterator[Variation]:
    """The variations, one after the other."""
    for number in count():
        mark, shift = word(number), KEYS * (number % KEY_SETS)
        sets: dict[str, list[tuple[str, bytes]]] = {}
        for template in templates:
            file = template.file[0] + (mark if template.file[1] else "") + template.file[1]
            sets.setdefault(template.directory, []).append((file, template.text(mark, shift).encode()))
        yield Variation(number, {directory: sorted(files) for directory, files in sets.items()})


def word(number: int) -> str:
    """A number as part of a name in camel case: Aaaa, Aaab, ..."""
    letters = ""
    for _ in range(4):
        number, rest = divmod(number, 26)
        letters = chr(ord("a") + rest) + letters
    return letters.capitalize()


def _template(schema: Schema, directory: str, rule_words: frozenset[str], names: set[str]) -> Template:
    """A definition, cut where a mark goes into the names of the message, its structs, and fields that no rule names.

    In comments the mark goes into the `names`.
    """
    head, tail = _cut(schema.name)
    is_header = schema.body.get("type") == "header"  # the set's other messages know it by its name
    parts, keys, start = [""], {}, 0
    for cut, after, key in _cuts(schema, rule_words, names):
        if key is not None:
            keys[len(parts) - 1] = key
        parts[-1] += schema.text[start:cut]
        parts.append("")
        start = after
    parts[-1] += schema.text[start:]
    has_mark = schema.path.stem == schema.name and not is_header
    file = (head, f"{tail}.json") if has_mark else (schema.path.name, "")
    return Template(directory, file, tuple(parts), keys)


def _cuts(schema: Schema, rule_words: frozenset[str], names: set[str]) -> Iterator[tuple[int, int, int | None]]:
    """The spans of a text that a mark or another API key replaces, each with the key, None for a mark."""
    structs = _structs(schema)
    marked_names = {"type": structs, "name": structs | (_fields(schema) - rule_words)}
    for match in _TOKEN.finditer(schema.text):
        if match["comment"]:
            words = re.finditer(r"\w+", match["comment"])
            yield from ((at, at, None) for at in (match.start() + word.end() for word in words if word[0] in names))
        elif match["key"]:
            yield match.start("key"), match.end(), int(match["key"])
        elif match["what"] == "name" and match["name"] == schema.name:
            if schema.body.get("type") != "header":
                at = match.end() - 1 - len(_cut(schema.name)[1])
                yield at, at, None
        elif match["name"] in marked_names[match["what"]]:
            yield match.end() - 1, match.end() - 1, None


def _rpc(schema: Schema) -> tuple[Path, str]:
    """What a request and its response have in common: notes of one tell of fields of the other."""
    return schema.path.parent, _cut(schema.name)[0]


def _names(schema: Schema) -> set[str]:
    return _structs(schema) | _fields(schema)


def _structs(schema: Schema) -> set[str]:
    structs = {str(field["type"]).removeprefix("[]") for field in fields_of(schema.body) if "fields" in field}
    return structs | {str(struct["name"]) for struct in schema.body.get("commonStructs", ())}


def _fields(schema: Schema) -> set[str]:
    return {str(field["name"]) for field in fields_of(schema.body)}


@cache
def _cut(name: str) -> tuple[str, str]:
    """A message's name before and from the suffix of its type."""
    tail = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
    return name.removesuffix(tail), tail
