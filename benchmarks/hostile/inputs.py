"""The inputs: each a way to write files of any size, and the command that reads them."""

import json
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

Field = dict[str, Any]
MAX_BYTES = 1 << 20
"""The largest definition that kiplint reads."""


class Hostile(NamedTuple):
    """One input. `write` puts it into an empty directory and says what to run there; `size` is the least n.

    It `is_bounded` where it unfolds faster than its file grows, and is refused beyond a limit.
    """

    name: str
    size: int
    write: Callable[[Path, int], list[str]]
    is_bounded: bool = False


def field(name: str, kind: str = "int32", **others: Any) -> Field:
    """The JSON of a field."""
    return {"name": name, "type": kind, "versions": "0+", "about": f"What {name} is.", **others}


def document(fields: list[Field], **others: Any) -> str:
    """The text of a request: one field a line."""
    whole = {"apiKey": 1, "type": "request", "listeners": ["broker"], "name": "XRequest", "validVersions": "0"}
    head = json.dumps({**whole, "flexibleVersions": "0+", **others})[1:-1]
    return f'{{ {head},\n  "fields": [\n' + ",\n".join(f"    {json.dumps(field)}" for field in fields) + "\n  ]\n}\n"


def _check(text: Callable[[int], str]) -> Callable[[Path, int], list[str]]:
    def write(directory: Path, size: int) -> list[str]:
        (directory / "XRequest.json").write_text(text(size), encoding="utf-8")
        return ["check", "XRequest.json", "--select", "all", "--output-format", "concise"]

    return write


def _diff(old: Callable[[int], str], new: Callable[[int], str], *words: str) -> Callable[[Path, int], list[str]]:
    def write(directory: Path, size: int) -> list[str]:
        for folder, text in (("old", old), ("new", new)):
            (directory / folder).mkdir()
            (directory / folder / "XRequest.json").write_text(text(size), encoding="utf-8")
        return [*(words or ("diff",)), "old", "new"]

    return write


def _show(text: Callable[[int], str]) -> Callable[[Path, int], list[str]]:
    def write(directory: Path, size: int) -> list[str]:
        (directory / "XRequest.json").write_text(text(size), encoding="utf-8")
        return ["show", "XRequest", "XRequest.json"]

    return write


# Definitions for `check`


def _float_default(size: int) -> str:
    return document([field("A", "float64", default="1" * size + "x")])


def _ignored_rules(size: int) -> str:
    selectors = ", ".join(f"style/a{at}" for at in range(size))
    fields = [field(f"f{at}", about="") for at in range(size)]
    return f"// kiplint: ignore-file[{selectors}] for no reason\n{document(fields)}"


def _ignore_comments(size: int) -> str:
    lines = [f"{json.dumps(field(f'f{at}', about=''))}" for at in range(size)]
    said = ",  // kiplint: ignore[tags] for no reason\n".join(lines)
    return document([]).replace("\n\n", f"\n{said}\n", 1)


def _chain(size: int, branches: int = 1, kind: str = "int32") -> str:
    structs = []
    for at in range(size):
        inner = [field(f"F{way}", f"S{at + 1}" if at + 1 < size else kind) for way in range(branches)]
        structs.append({"name": f"S{at}", "versions": "0+", "fields": inner})
    return document([field("A", "S0")], commonStructs=structs)


def _common_chain(size: int) -> str:
    return _chain(size)


def _blanks(size: int) -> str:
    return document([field("A", about="a" + " " * size + "b")]).replace("\n", " " * size + "\n", 1) + " " * size


def _misspelt_structs(size: int) -> str:
    return document([field(f"F{at}", f"Missing{at}") for at in range(size)])


def _misspelt_types(size: int) -> str:
    return document([field(f"F{at}", f"strin{at}") for at in range(size)])


def _header_ranges(size: int, header: int = 1) -> str:
    ranges = {f"{at}" if at + 1 < size else f"{at}+": str(header + at % 2) for at in range(size)}
    return document([field("A")], validVersions=f"0-{size - 1}", flexibleVersions="none", headerVersions=ranges)


def _unstable_notes(size: int) -> str:
    return "// " + "subject to " * size + "incompatibly\n" + document([field("A")])


def _same_names(size: int) -> str:
    return document([field("Same", tag=0, taggedVersions="0+") for _ in range(size)])


def _long_names(size: int) -> str:
    name = "A" * (size * 20)
    return document([field(f"{name}{at}", "S1") for at in range(20)])


def _problems(size: int) -> str:
    return document([field(f"F{at}", odd=at) for at in range(size)])


def _ranges(size: int) -> str:
    fields = [field(f"F{at}", versions=f"{at}+", nullableVersions="x") for at in range(size)]
    return document(fields, validVersions=f"0-{size}")


def _broken(size: int) -> str:
    return document([field(f"F{at}") for at in range(size)])[:-5] + ",,,}" * size


def _cycle(size: int) -> str:
    structs = [
        {"name": f"S{at}", "versions": "0+", "fields": [field("F", f"S{(at + 1) % size}")]} for at in range(size)
    ]
    return document([field("A", "S0")], commonStructs=structs)


def _star(size: int) -> str:
    fields = [field(f"F{at}", f"S{at}") for at in range(1, size)]
    structs = [{"name": f"S{at}", "versions": "0+", "fields": [field("F", "S0")]} for at in range(1, size)]
    return document([field("A", "S0")], commonStructs=[{"name": "S0", "versions": "0+", "fields": fields}, *structs])


def _json5(size: int) -> str:
    return document([field(f"F{at}") for at in range(size)]).replace('"', "'")


def _wildcards(size: int) -> str:
    return f"// kiplint: ignore-file[{', '.join(f'*{at}' for at in range(size))}] for no reason\n{document([])}"


def _pack(directory: Path, size: int) -> list[str]:
    """A pack of the user's that looks at all fields for each field: quadratic, so that its steps are bounded."""
    expression = "any(one.name == 'No' for one in message.all_fields)"
    rule = {"id": "r", "each": "field", "when": expression, "message": "{name}", "why": "None."}
    (directory / "mine.json5").write_text(json.dumps({"pack": "mine", "rules": [rule]}), encoding="utf-8")
    (directory / "kiplint.toml").write_text('rule-packs = ["mine.json5"]\nselect = ["mine"]\n', encoding="utf-8")
    (directory / "XRequest.json").write_text(document([field(f"F{at}") for at in range(size)]), encoding="utf-8")
    return ["check", "XRequest.json"]


# Pairs for `diff`, and what only `show` draws


def _same_tag(size: int) -> str:
    return document([field(f"F{at}", tag=at // 2, taggedVersions="0+") for at in range(size)])


def _typed(kind: str) -> Callable[[int], str]:
    return lambda size: document([field(f"F{at}", kind) for at in range(size)])


def _tags(shift: int) -> Callable[[int], str]:
    def text(size: int) -> str:
        return document([field(f"F{at}", tag=(at + shift) % size, taggedVersions="0+") for at in range(size)])

    return text


def _branches(kind: str) -> Callable[[int], str]:
    return lambda size: _chain(size.bit_length() - 1, 2, kind)


def _versions(size: int) -> str:
    fields = [field(f"F{at}", versions=f"{at}+") for at in range(size)]
    return document(fields, validVersions=f"0-{size - 1}")


CHECKS = (
    Hostile("float64 default of digits and a letter", 50_000, _check(_float_default)),
    Hostile("ignore-file selectors times findings", 1_000, _check(_ignored_rules)),
    Hostile("ignore comments", 2_000, _check(_ignore_comments)),
    Hostile("chains of common structs", 2_000, _check(_common_chain)),
    Hostile("a long cycle of structs", 1_500, _check(_cycle)),
    Hostile("a struct that a thousand others have", 1_000, _check(_star)),
    Hostile("single quotes", 150, _check(_json5)),
    Hostile("ignore-file selectors with wildcards", 10_000, _check(_wildcards)),
    Hostile("runs of blanks", 50_000, _check(_blanks)),
    Hostile("structs that do not exist", 1_000, _check(_misspelt_structs)),
    Hostile("types that do not exist", 1_000, _check(_misspelt_types)),
    Hostile("header ranges", 8_000, _check(_header_ranges), True),
    Hostile("notes that a message is in flux", 20_000, _check(_unstable_notes)),
    Hostile("fields of one name and tag", 1_500, _check(_same_names)),
    Hostile("long names", 300, _check(_long_names)),
    Hostile("unknown properties", 1_500, _check(_problems)),
    Hostile("ranges that cannot be read", 1_500, _check(_ranges)),
    Hostile("text after the definition", 2_500, _check(_broken)),
)

PAIRS = (
    Hostile("fields retyped", 1_000, _diff(_typed("int32"), _typed("int64"))),
    Hostile("tags changed", 1_000, _diff(_tags(0), _tags(1))),
    Hostile("tags twice, and a line end", 500, _diff(_same_tag, lambda size: _same_tag(size) + "\n")),
    Hostile("header ranges changed", 8_000, _diff(_header_ranges, lambda size: _header_ranges(size, 0)), True),
    Hostile("rollout of header ranges", 8_000, _diff(_header_ranges, _header_ranges, "rollout"), True),
    Hostile("notes in flux, compared", 20_000, _diff(_unstable_notes, lambda size: _unstable_notes(size) + "\n")),
    Hostile("two-branched chains, by what they unfold to", 4_000, _diff(_branches("int32"), _branches("int64")), True),
    Hostile("versions with a field each, by what is shown", 20_000, _show(lambda size: _versions(isqrt(size))), True),
)

PACK = Hostile("a pack that compares all fields with all", 3_000, _pack, True)
"""Refused where a set is large, so that it is measured only."""

INPUTS = (*CHECKS, *PAIRS)
