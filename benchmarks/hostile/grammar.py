"""The inputs, derived from the grammars: each construct of what kiplint reads that can be repeated.

Definitions, packs and configurations grow at every place that their JSON Schema lets repeat, other values and bytes at
every place of a seed. A new property joins by itself. What has no grammar is listed: texts, links, sets, captures.
"""

import base64
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog, Definitions
from kiplint.commands.encode.objects import encode_object
from kiplint.commands.schema import schema

Files = dict[str, bytes]
SEEDS: Mapping[str, Any] = json.loads(Path(__file__).with_name("seeds.json").read_bytes())
REQUEST = SEEDS["message"]
RESPONSE = REQUEST | {
    "type": "response",
    "name": "XResponse",
    "listeners": None,
    "headerVersions": {"0": "0", "1+": "1"},
}


# How a value grows

WAYS: Mapping[str, Callable[[Any, int], Any]] = {
    "equal": lambda element, _: element,
    "numbered": lambda element, at: _rename(element, lambda text: _add_number(text, at), at),
    "cased": lambda element, at: _rename(element, lambda text: _change_case(text, at), at),
    "wrong": lambda _, at: at,
}
"""How the copies of a list element differ from each other."""
PIECES = ("a", "the ", "1", "{[,")
"""The pieces that are repeated to make a string long."""
DEEPEST = 200
_NAMES = ("name", "id", "fingerprint", "key")
Keys = tuple[Any, ...]
Shape = Mapping[str, Any]


class Growth(NamedTuple):
    """A construct that repeats: its name, and the value with n of it, numbered from a start; n is `most` at most."""

    name: str
    grow: Callable[[int, int], Any]
    most: int = 1 << 40


class Node(NamedTuple):
    """A part of a value: where it is, the class and property that it is called after, and its schema."""

    path: Keys
    name: str
    value: Any
    shape: Shape


def growths(seed: Any, schema: Shape | None = None) -> Iterator[Growth]:
    """Each construct of a value, and of the properties that its schema has besides."""
    root, names = schema or {}, set()
    nodes = list(_nodes(Node((), "", seed, root), root))
    values = [(seed, nodes)]
    for path, name, sample in _lacking(nodes, root):
        values.append((_with(seed, path, sample), list(_nodes(Node(path, name, sample, {}), {}))))
    for whole, parts in values:
        for growth in (growth for node in parts for growth in _growths(whole, node)):
            if growth.name not in names:
                names.add(growth.name)
                yield growth


def _nodes(node: Node, root: Shape) -> Iterator[Node]:
    path, name, value, shape = node._replace(shape=_resolve(node.shape, root, node.value))
    yield Node(path, name, value, shape)
    properties, more, items = (shape.get(key, {}) for key in ("properties", "additionalProperties", "items"))
    if isinstance(value, dict):
        for key, inner in value.items():
            inner_name = f"{shape.get('title', name)}/{key}"
            yield from _nodes(Node((*path, key), inner_name, inner, properties.get(key) or more or {}), root)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _nodes(Node((*path, at), name, inner, items), root)


def _resolve(shape: Shape, root: Shape, value: Any) -> Shape:
    """The part of a schema that a value is meant for."""
    if "$ref" in shape:
        return _resolve(root["$defs"][shape["$ref"].rpartition("/")[2]], root, value)
    kind = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    choices = (_resolve(choice, root, value) for choice in shape.get("anyOf", ()))
    return next((choice for choice in choices if choice.get("type") == kind), shape)


def _lacking(nodes: Sequence[Node], root: Shape) -> Iterator[tuple[Keys, str, Any]]:
    """The properties that the schema of a class has and no object of the seed uses: path, name, and a sample value."""
    classes: dict[str, list[Node]] = {}
    for node in nodes:
        if isinstance(node.value, dict) and "title" in node.shape:
            classes.setdefault(node.shape["title"], []).append(node)
    for title, members in classes.items():
        for key, inner in members[0].shape["properties"].items():
            if not any(key in node.value for node in members):
                yield (*members[0].path, key), f"{title}/{key}", _sample(inner, root)


def _sample(shape: Shape, root: Shape) -> Any:
    shape = next(iter(shape.get("anyOf", ())), shape)
    shape = _resolve(shape, root, None)
    if "enum" in shape:
        return shape["enum"][0]
    kind = shape.get("type")
    return [_sample(shape["items"], root)] if kind == "array" else {"a": "a"} if kind == "object" else "a"


def _growths(whole: Any, node: Node) -> Iterator[Growth]:
    path, name, value, shape = node
    if isinstance(value, str) and "enum" not in shape:
        yield from (Growth(f"{name} of {piece!r}", partial(_long, whole, path, piece)) for piece in PIECES)
    if isinstance(value, list):
        for at, element in enumerate(value):
            kind = element.get("name", at) if isinstance(element, dict) else at
            for way in WAYS if isinstance(element, (str, dict)) else ("equal",):
                yield Growth(f"{way} {name}[{kind}]", partial(_elements, whole, (*path, at), way))
    if isinstance(value, dict):
        if shape.get("additionalProperties") is False:
            yield Growth(f"unknown properties of {shape['title']}", partial(_entries, whole, path, "odd", 1))
        elif path and "title" not in shape:
            for key, inner in value.items():
                yield Growth(f"entries {name}[{key}]", partial(_entries, whole, path, key, inner))
        if "fields" in value and "type" in value and path:
            yield Growth(f"nesting of {name}", partial(_nested, whole, path), DEEPEST)


def _long(whole: Any, path: Keys, piece: str, n: int, start: int) -> Any:
    return _with(whole, path, _at(whole, path) + piece * n + (str(start) if start else ""))


def _elements(whole: Any, path: Keys, way: str, n: int, start: int) -> Any:
    holder, at = _at(whole, path[:-1]), path[-1]
    more = [WAYS[way](holder[at], start + number) for number in range(n)]
    return _with(whole, path[:-1], [*holder[:at], *more, *holder[at + 1 :]])


def _entries(whole: Any, path: Keys, key: str, value: Any, n: int, start: int) -> Any:
    return _with(whole, path, _at(whole, path) | {_add_number(key, start + at): value for at in range(n)})


def _nested(whole: Any, path: Keys, n: int, start: int) -> Any:
    inner = field = _at(whole, path)
    for at in range(start, start + n):
        inner = WAYS["numbered"](field, at) | {"fields": [inner]}
    return _with(whole, path, inner)


def _at(whole: Any, path: Keys) -> Any:
    return reduce(lambda holder, key: holder[key], path, whole)


def _with(whole: Any, path: Keys, value: Any) -> Any:
    """A copy of a value with another at a path."""
    if not path:
        return value
    key, *rest = path
    new = whole.copy()
    new[key] = _with(whole[key], tuple(rest), value) if rest else value
    return new


def _add_number(text: str, at: int) -> str:
    if len(text) == 32:
        return f"{at:032x}"
    return str(at) if text.rstrip("+").isdigit() else f"{text}{at}"


def _change_case(text: str, at: int) -> str:
    return text + "".join(letter.upper() if at >> bit & 1 else letter for bit, letter in enumerate("abcdefghijklmnop"))


def _rename(element: Any, name: Callable[[str], str], at: int) -> Any:
    if isinstance(element, str):
        return name(element)
    keys = (*_NAMES, "type") if "fields" in element else _NAMES
    new = {key: name(value) if key in keys and isinstance(value, str) else value for key, value in element.items()}
    return new | {key: at for key in ("tag", "api_key") if key in element}


# What has no grammar


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def _toml(table: Any) -> bytes:
    def dump_value(value: Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{json.dumps(key)} = {dump_value(inner)}" for key, inner in value.items()) + " }"
        return f"[{', '.join(map(dump_value, value))}]" if isinstance(value, list) else json.dumps(value)

    return "".join(f"{json.dumps(key)} = {dump_value(value)}\n" for key, value in table.items()).encode()


SEED: Files = {f"{message['name']}.json": _json(message) for message in (REQUEST, RESPONSE, *SEEDS["headers"])}
FIELD = {"name": "F", "type": "int32", "versions": "0+", "about": "The field."}
TEXTS: Mapping[str, Callable[[str, int], str]] = {
    "comments": lambda text, n: "// some words the the end\n" * n + text,
    "comments inside": lambda text, n: text.replace("\n", "\n// Version 1 adds it.\n" * n, 1),
    "block comments": lambda text, n: "/* a */" * n + text,
    "notes in flux": lambda text, n: "// " + "subject to " * n + "incompatibly\n" + text,
    "version notes": lambda text, n: "".join(f"// Version {at} adds Plain.\n" for at in range(n)) + text,
    "blanks": lambda text, n: text.replace("\n", " " * n + "\n", 1) + " " * n,
    "line ends": lambda text, n: text + "\n" * n,
    "ignores": lambda text, n: "// kiplint: ignore[tags] no reason\n" * n + text,
    "ignored files": lambda text, n: "// kiplint: ignore-file[tags] no reason\n" * n + text,
    "ignored rules": lambda text, n: (
        f"// kiplint: ignore-file[{','.join(f'tags/a{at}' for at in range(n))}] no\n{text}"
    ),
    "ignored globs": lambda text, n: f"// kiplint: ignore-file[{','.join(f'*{at}' for at in range(n))}] no\n{text}",
    "single quotes": lambda text, n: text.replace("[", f"[{json.dumps(FIELD)}," * n, 1).replace('"', "'"),
    "text behind": lambda text, n: text + ",,}" * n,
    **{f"signs {sign}": partial(lambda sign, text, n: text[:-3] + sign * n, sign) for sign in '\\[{",:'},
}
"""Text in a definition that its JSON Schema does not describe, such as comments and blanks, n times."""


def _link(types: Sequence[Sequence[str]]) -> bytes:
    """A definition whose common structs have fields of these types."""
    structs = [
        {
            "name": f"S{at}",
            "versions": "0+",
            "fields": [FIELD | {"name": f"F{way}", "type": k} for way, k in enumerate(of)],
        }
        for at, of in enumerate(types)
    ]
    return _json(REQUEST | {"commonStructs": structs, "fields": [FIELD | {"type": "S0"}]})


def _resembling(n: int) -> bytes:
    """A definition of fields whose types resemble its structs, all in letters, so that numbers tell none apart."""
    words = ["".join(chr(97 + int(digit)) for digit in f"{at:06}") for at in range(n)]
    structs = [{"name": f"Topic{word}State", "versions": "0+", "fields": [FIELD]} for word in words]
    fields = [FIELD | {"name": f"Of{word}", "type": f"Topic{word}Stat"} for word in words]
    return _json(REQUEST | {"commonStructs": structs, "fields": fields})


LINKS: Mapping[str, Callable[[int], bytes]] = {
    "a chain of structs": lambda n: _link([*([f"S{at}"] for at in range(1, n)), ["int32"]]),
    "a cycle of structs": lambda n: _link([[f"S{(at + 1) % n}"] for at in range(n)]),
    "a star of structs": lambda n: _link([[f"S{at}" for at in range(1, n)], *([["S0"]] * (n - 1))]),
    "a chain with two branches": lambda n: _link([*([f"S{at}"] * 2 for at in range(1, n.bit_length())), ["int32"]]),
    "types like structs": _resembling,
    "structs that do not exist": lambda n: _link([[f"No{at}" for at in range(n)]]),
    "a version for each field": lambda n: _json(
        REQUEST
        | {"validVersions": f"0-{n}", "fields": [FIELD | {"name": f"F{k}", "versions": f"{k}+"} for k in range(n)]}
    ),
}


def _rpcs(n: int, start: int = 0, key: int = 1, **others: Any) -> Files:
    """Requests and responses, numbered; their keys differ by `key`."""
    pairs = ((at, base) for at in range(n) for base in (REQUEST, RESPONSE))
    messages = (base | {"apiKey": 2 + at * key, "name": f"X{at + start}{base['name'][1:]}"} for at, base in pairs)
    return SEED | {f"{message['name']}.json": _json(message | others) for message in messages}


def _folders(n: int, start: int = 0, **others: Any) -> Files:
    return {f"{at + start}/XRequest.json": _json(REQUEST | others) for at in range(n)}


def _refused_fixes(n: int, about: str) -> Files:
    """Messages whose fix, the default "null" in quotes, would give an absent tagged field another meaning."""
    nullable = {"nullableVersions": "2+", "taggedVersions": "2+", "tag": 0, "default": None}
    field = {"name": "Note", "type": "string", "versions": "2+", **nullable, "about": f"{about} note."}
    message = {"type": "data", "validVersions": "0-2", "flexibleVersions": "0+", "fields": [field]}
    # In one line, which the new description changes: what is wrong on a line that stayed is not fixed.
    return {f"X{at}Data.json": msgspec.json.encode(message | {"name": f"X{at}Data"}) for at in range(n)}


SETS: Mapping[str, Callable[[int], Sequence[Files]]] = {
    "RPCs": lambda n: [_rpcs(n, flexibleVersions="2+"), _rpcs(n)],
    "RPCs replaced": lambda n: [_rpcs(n), _rpcs(n, 100_000)],
    "RPCs of one key": lambda n: [SEED, _rpcs(n, key=0)],
    "refused fixes": lambda n: [_refused_fixes(n, about) for about in ("The", "A")],
    "folders": lambda n: [_folders(n), _folders(n, validVersions="0-3")],
    "folders moved": lambda n: [_folders(n), _folders(n, 100_000)],
    "folders in folders": lambda n: [SEED, {"d/" * min(n, 1_000) + name: data for name, data in SEED.items()}],
    "other files": lambda n: [SEED, SEED | {f"{at}.{kind}": b"{}" for at in range(n) for kind in ("json", "txt")}],
    "revisions": lambda n: [SEED | {"XRequest.json": _json(REQUEST | {"validVersions": f"0-{at}"})} for at in range(n)],
}
"""The trees of a history; the first and the last are compared."""


# Bytes


def _frame(value: Any) -> bytes:
    entry = {"direction": "request", "api_key": 1, "api_version": 1, "header": {"correlationId": 1}, "value": value}
    result = encode_object(_catalog(), entry)
    if result.hex is None:
        raise ValueError(result.problems)
    return bytes.fromhex(result.hex)


@cache
def _catalog() -> Catalog:
    return Catalog([Definitions(list(SEED.items()))])


FRAME = _frame(SEEDS["value"])


def _frames(n: int) -> list[bytes]:
    return [FRAME[:4] + at.to_bytes(4, "big") + FRAME[8:] for at in range(n)]


def _batch(values: Sequence[bytes], headers: int = 0) -> bytes:
    """A record batch (KIP-98), without a checksum."""
    more = _varint(headers) + (_varint(1) + b"h" + _varint(0)) * headers
    heads = (b"\0\0" + _varint(at) + _varint(-1) + _varint(len(value)) for at, value in enumerate(values))
    bodies = (head + value + more for head, value in zip(heads, values, strict=True))
    records = b"".join(_varint(len(body)) + body for body in bodies)
    last = struct.pack(">hiqqqhii", 0, len(values) - 1, 0, 0, -1, -1, -1, len(values))
    return struct.pack(">qiibi", 0, 9 + len(last) + len(records), 0, 2, 0) + last + records


def _varint(number: int) -> bytes:
    rest, out = number * 2 if number >= 0 else -number * 2 - 1, b""
    while rest > 127:
        out, rest = out + bytes((rest & 127 | 128,)), rest >> 7
    return out + bytes((rest,))


def _packet(data: bytes, sequence: int, client: int = 0) -> bytes:
    """A packet of IPv4 and TCP as a record of pcap."""
    tcp = struct.pack(">HHIIBBHHH", 50_000 + client % 9_999, 9092, sequence, 0, 0x50, 0x10, 65_535, 0, 0)
    addresses = struct.pack(">II", 0x0A000002 + client, 0x0A000001)
    whole = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0) + addresses + tcp + data
    return struct.pack("<IIII", 1_700_000_000, sequence % 1_000_000, len(whole), len(whole)) + whole


def _capture(packets: Iterable[bytes]) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101) + b"".join(packets)


def _stream(frames: Iterable[bytes]) -> bytes:
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


def _segments(data: bytes, size: int) -> list[bytes]:
    return [_packet(data[at : at + size], 1 + at) for at in range(0, len(data), size)]


def _hex(frames: Iterable[bytes]) -> bytes:
    return b"".join(frame.hex().encode() + b"\n" for frame in frames)


_ENTRY = b'{"direction": "request", "api_key": 1, "api_version": 1, "hex": "%s"}\n'
FORMS: Mapping[str, Callable[[Sequence[bytes]], bytes]] = {
    "auto": _hex,
    "hex": _hex,
    "base64": lambda frames: b"".join(base64.b64encode(frame) + b"\n" for frame in frames),
    "frame": lambda frames: frames[0],
    "stream": _stream,
    "capture": lambda frames: _capture(_segments(_stream(frames), 1_400)),
    "records": _batch,
    "jsonl": lambda frames: b"".join(_ENTRY % frame.hex().encode() for frame in frames),
}
"""For each value of `decode --input-format`: the function that writes frames in this format."""
_LINE = b'{"message": "XRequest", "version": 1, "value": %s}\n' % json.dumps(SEEDS["value"]).encode()
BYTES: Mapping[tuple[str, str], Callable[[int], bytes]] = {
    ("connections", "capture"): lambda n: _capture(_packet(_stream([FRAME]), 1, at) for at in range(n)),
    ("segments of a byte", "capture"): lambda n: _capture(_segments(_stream(_frames(n // 40 + 1)), 1)),
    ("segments in reverse", "capture"): lambda n: _capture(reversed(_segments(_stream(_frames(n)), 40))),
    ("segments again", "capture"): lambda n: _capture(_segments(_stream(_frames(1)), 40) * n),
    ("gaps", "capture"): lambda n: _capture(_segments(_stream(_frames(n)), 40)[::2]),
    ("not Kafka", "capture"): lambda n: _capture(_segments(bytes(range(256)) * n, 400)),
    ("batches", "records"): lambda n: _batch([b"v"]) * n,
    ("headers", "records"): lambda n: _batch([b"v"], n),
}


def _is_written(growth: Growth) -> bool:
    """Whether a frame can have the value; it cannot have a tag twice."""
    try:
        _frame(growth.grow(3, 0))
    except ValueError:
        return False
    return True


def _bytes() -> Iterator[tuple[str, str, Callable[[int], bytes]]]:
    """Bytes that grow, and their forms: values in a frame, frames in every form, and what only some forms have."""
    frames_by_name: dict[str, Callable[[int], list[bytes]]] = {
        "frames": _frames,
        "frames cut off": lambda n: [frame[:-3] for frame in _frames(n)],
        "frames of a byte": lambda n: [b"\0"] * n,
        "zeros": lambda n: [bytes(n)],
    }
    for growth in growths(SEEDS["value"]):
        if (growth.name.startswith(("equal", "numbered")) or "of 'a'" in growth.name) and _is_written(growth):
            frames_by_name[growth.name] = partial(lambda grow, n: [_frame(grow(n, 0))], growth.grow)
    for name, frames in frames_by_name.items():
        for form, write in FORMS.items():
            yield name, form, partial(lambda frames, write, n: write(frames(n)), frames, write)
    yield from ((*key, data) for key, data in BYTES.items())


# The inputs


class Input(NamedTuple):
    """Something that grows with n: the trees of a history, and the files beside them; n is `most` at most.

    `key` is the name or metavar of the parameter that takes the `file`: the commands that have it read the input.
    Without one, all that take sets do, or two sets where it `is_pair`. With one that `is_wide` go all options.
    """

    name: str
    write: Callable[[int], tuple[Sequence[Files], Files]]
    key: str = ""
    file: str = ""
    words: tuple[str, ...] = ()
    most: int = 1 << 40
    is_pair: bool = False
    is_wide: bool = False


CHANGES = {b'"int32"': b'"int64"', b'"0+"': b'"1+"', b'"2"': b'"1"', b'"The ': b'"A '}
RELATIONS: Mapping[str, Callable[[Callable[[int], bytes]], tuple[bytes, bytes]]] = {
    "added": lambda make: (_json(REQUEST), make(0)),
    "removed": lambda make: (make(0), _json(REQUEST)),
    "replaced": lambda make: (make(0), make(1_000_000)),
    "changed": lambda make: (reduce(lambda text, change: text.replace(*change), CHANGES.items(), make(0)), make(0)),
}
"""For each kind of change: the definition before and after it, which commands compare."""
MOST_FILES = 2_000
WIDE = ("numbered MessageSpec/fields[Rows], changed", "RPCs replaced", "refused fixes")
_SELECT = {"kiplint.toml": b'rule-packs = ["p.json5"]\nselect = ["mine"]\n'}
BESIDE: Sequence[tuple[str, str, str, str, Callable[[Any], bytes], Files]] = (
    ("config", "kiplint.toml", "kiplint.toml", "config", _toml, {"p.json5": _json(SEEDS["pack"])}),
    ("config", "kiplint.toml", "p.json5", "pack", _json, _SELECT),
    ("baseline", "b.json", "b.json", "baseline", _json, {}),
    ("JSON|FILE", "v.json", "v.json", "value", _json, {}),
    ("feature", "f.json", "f.json", "features", _json, {}),
    ("CLIENT", "probe.json", "probe.json", "probe", _json, {}),
    ("BROKER...", "probe.json", "probe.json", "probe", _json, {}),
)
"""Files beside the sets: the parameter, its word, the file that grows, its seed, its writer, and the other files."""


def inputs() -> Iterator[Input]:
    """All inputs."""
    for growth in growths(REQUEST, schema("message")):
        for relation in RELATIONS if growth.name.startswith(("numbered", "entries", "nesting")) else ("changed",):
            write = partial(_definition, partial(_dump, growth.grow), relation)
            name = f"{growth.name}, {relation}"
            yield Input(name, write, most=growth.most, is_pair=relation != "changed", is_wide=name in WIDE)
    for name, text in TEXTS.items():
        make = partial(lambda text, n, _: text(_json(REQUEST).decode(), n).encode(), text)
        yield Input(name, partial(_definition, make, "changed"))
    for name, link in LINKS.items():
        yield Input(name, partial(_definition, partial(lambda link, n, _: link(n), link), "changed"))
    for name, trees in SETS.items():
        write = partial(lambda trees, n: (trees(n), {}), trees)
        yield Input(name, write, most=MOST_FILES, is_wide=name in WIDE)
    for key, word, file, seed, dump, others in BESIDE:
        for growth in growths(SEEDS[seed], schema(seed) if seed in ("config", "pack") else None):
            content = partial(lambda grow, dump, n: dump(grow(n, 0)), growth.grow, dump)
            yield _beside(growth.name, key, word, file, content, others)
    for name, piece in SEEDS["expressions"].items():
        rule = partial(lambda piece, n: _json({"pack": "mine", "rules": [_RULE | {"when": piece * n + "name"}]}), piece)
        yield _beside(name, "config", "kiplint.toml", "p.json5", rule, _SELECT)
    for name, text in SEEDS["pages"].items():
        yield _beside(name, "FILE", "page.md", "page.md", partial(mul, text.encode()))
    for name, form, data in _bytes():
        yield _beside(name, "INPUT", "bytes", "bytes", data, {}, "--input-format", form)
    lines = "[MESSAGE@VERSION|FILE]", "lines.jsonl", "lines.jsonl"
    yield _beside("lines", *lines, partial(mul, _LINE), {}, "--input-format", "jsonl")


_RULE = SEEDS["pack"]["rules"][0]


def _dump(grow: Callable[[int, int], Any], n: int, start: int) -> bytes:
    return _json(grow(n, start))


def _definition(make: Callable[[int, int], bytes], relation: str, n: int) -> tuple[Sequence[Files], Files]:
    return [SEED | {"XRequest.json": data} for data in RELATIONS[relation](partial(make, n))], {}


def _beside(
    name: str, key: str, word: str, file: str, data: Callable[[int], bytes], others: Files | None = None, *words: str
) -> Input:
    def write(n: int) -> tuple[Sequence[Files], Files]:
        return [SEED, SEED], {**(others or {}), file: data(n)}

    return Input(f"{name} ({' '.join(words[1:]) or file})", write, key, word, words)
