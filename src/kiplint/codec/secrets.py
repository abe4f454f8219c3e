"""Secrets in bytes: SASL tokens, the keys of SCRAM and of delegation tokens, passwords in configurations.

They are overwritten in the bytes, so that no value, dump or JSON that is made of the bytes has them.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from kiplint.codec.explain import MOST_SPANS
from kiplint.codec.frames import Frame
from kiplint.codec.values import key_of
from kiplint.codec.wire import ValueSpan, base64_text
from kiplint.model.layout import Layout

FIELDS = frozenset(("authBytes", "hmac", "salt", "saltedPassword", "storedKey", "serverKey"))
CONFIGS = re.compile(r"password|secret|jaas|credential|token|private|\.key$", re.IGNORECASE)
"""The names of configurations whose values are secrets."""
API_KEYS = frozenset((36, 38, 39, 40, 41, 51))
"""The RPCs whose bytes are secrets where they cannot be read: SaslAuthenticate, delegation tokens, SCRAM."""
MASK = b"*"

Read = Callable[[bytes], Frame]


def has_secrets(layout: Layout) -> bool:
    """Whether a message may have secrets."""
    keys = {key_of(slot): slot for slot in layout.all_slots}
    return not FIELDS.isdisjoint(keys) or keys.keys() >= {"name", "value"} or any(
        slot.body is not None and has_secrets(slot.body) for slot in keys.values()
    )  # fmt: skip


def without_secrets(frame: Frame, data: bytes, read: Read, front: int) -> tuple[Frame, bytes]:
    """A frame and its bytes with secrets overwritten; `read` decodes the bytes again.

    `frame` has spans. What could not be read of it may be a secret too, except the first `front` bytes.
    """
    safe_data = bytearray(data)
    values = {span.path: span.value for span in frame.spans}
    paths = []
    for span in frame.spans:
        parent, dot, key = span.path.rpartition(".")
        if span.value and is_secret(key, values.get(f"{parent}{dot}name")):
            end, size = span.offset + span.length, _size(span)
            safe_data[end - size : end] = MASK * size
            paths.append(span.path)
    is_unread = any(problem.rule.startswith("codec/") for problem in frame.problems)
    if is_unread or len(frame.spans) >= MOST_SPANS:
        end = max((span.offset + span.length for span in frame.spans), default=front)
        safe_data[end:] = MASK * (len(safe_data) - end)
    if safe_data == data:
        return frame, data
    again = replace(read(bytes(safe_data)), problems=frame.problems, redacted=tuple(paths))
    return again, bytes(safe_data)


def is_secret(key: str, name: object = None) -> bool:
    """Whether a field has a secret; `name` is the name of a configuration whose value it may be."""
    return key in FIELDS or (key == "value" and isinstance(name, str) and bool(CONFIGS.search(name)))


def _size(span: ValueSpan) -> int:
    """The bytes of a value without its length."""
    return len(binascii.a2b_base64(span.value)) if "bytes" in span.type.split() else len(str(span.value).encode())


def masked_record(meaning: dict[str, Any]) -> dict[str, Any]:
    """What a record of Kafka's own topics means, with secrets overwritten, also in the bytes of its value."""
    value = meaning.get("valueMessage")
    safe_value = _mask(value)
    return meaning if safe_value == value else {**meaning, "valueMessage": safe_value, "value": base64_text(MASK * 8)}


def _mask(value: Any) -> Any:
    if isinstance(value, list):
        return [_mask(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64_text(MASK * 8) if isinstance(inner, str) and is_secret(key, value.get("name")) else _mask(inner)
        for key, inner in value.items()
    }
