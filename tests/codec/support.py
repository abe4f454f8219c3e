"""Random definitions, and random values for them."""

from __future__ import annotations

import math
import random
from typing import Any

from kiplint.codec.codec import Codec
from kiplint.codec.values import UNKNOWN_TAGS, base64_text, float_json, key_of, uuid_text
from kiplint.model.layout import Layout, Slot
from kiplint.model.message import Message
from kiplint.model.types import INTEGERS, WIDTHS
from tools import field, message

KINDS = ["bool", *INTEGERS, "float64", "uuid", "string", "bytes", "records"]
FLOATS = [0.0, -1.5, 1e300, math.inf, -math.inf]


def encode(codec: Codec, value: dict[str, Any]) -> bytes:
    """The bytes of valid values."""
    data = codec.encode(value)
    assert data is not None
    return data


def random_message(rng: random.Random) -> Message:
    """A request with versions 0-5, flexible from 3 on, with structs in structs, arrays, nulls and tags."""
    return message(*_fields(rng, 0, ""), validVersions="0-5", flexibleVersions=rng.choice(["3+", "0+", "none"]))


def _fields(rng: random.Random, depth: int, prefix: str) -> list[dict[str, Any]]:
    fields = [_field(rng, depth, f"{prefix}F{number}") for number in range(rng.randint(1, 5))]
    for tag in range(rng.randint(0, 3)):
        tagged = {"versions": "3+", "tag": tag, "taggedVersions": "3+", "flexibleVersions": "3+"}
        fields.append(_field(rng, depth, f"{prefix}T{tag}") | tagged)
    return fields


def _field(rng: random.Random, depth: int, name: str) -> dict[str, Any]:
    has_fields = depth < 3 and rng.random() < 0.35
    kind = f"{name}Box" if has_fields else rng.choice(KINDS)
    others: dict[str, Any] = {"fields": _fields(rng, depth + 1, f"{name}x")} if has_fields else {}
    kind = f"[]{kind}" if rng.random() < 0.3 else kind
    if has_fields or kind not in WIDTHS:
        others["nullableVersions"] = rng.choice(["none", "0+", "2+"])
        others |= {"default": "null"} if rng.random() < 0.3 else {}
    if kind in ("string", "bytes") and rng.random() < 0.2:
        others["flexibleVersions"] = "none"
    return field(name, kind, rng.choice(["0+", "0+", "1+", "0-3"]), **others)


def random_body(body: Layout, rng: random.Random, size: int = 3) -> dict[str, Any]:
    """Values of every field of a version; tagged ones now and then, and tags that the layout does not know."""
    value = {key_of(slot): random_value(slot, rng, size) for slot in body.slots}
    for slot in body.tags or ():
        if rng.random() < 0.6:
            value[key_of(slot)] = random_value(slot, rng, size)
    if body.tags is not None and rng.random() < 0.1:
        value[UNKNOWN_TAGS] = [{"tag": rng.randint(100, 400), "data": base64_text(rng.randbytes(rng.randint(0, 200)))}]
    return value


def random_value(slot: Slot, rng: random.Random, size: int) -> Any:
    """A value of a field, null where that is allowed."""
    if slot.nullable and rng.random() < 0.25:
        return None
    if slot.array:
        return [_single(slot, rng, size - 1) for _ in range(rng.randint(0, max(size, 0)))]
    return _single(slot, rng, size)


def _single(slot: Slot, rng: random.Random, size: int) -> Any:
    if slot.kind == "struct":
        assert slot.body is not None
        return random_body(slot.body, rng, size - 1)
    if slot.kind in INTEGERS:
        low, high = INTEGERS[slot.kind]
        return rng.choice([low, high, 0, 1, rng.randint(low, high)])
    long = rng.choice([0, 1, 5, 126, 127, 128, 300])
    values = {
        "bool": rng.random() < 0.5,
        "float64": float_json(rng.choice([*FLOATS, rng.uniform(-1e9, 1e9)])),
        "uuid": uuid_text(rng.randbytes(16)),
        "string": "".join(rng.choices("aé€𝄞\0\n", k=long)),
    }
    return values.get(slot.kind, base64_text(rng.randbytes(long)))
