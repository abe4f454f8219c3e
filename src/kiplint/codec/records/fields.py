"""The record batches inside a message's values."""

from __future__ import annotations

import binascii
from typing import Any

from kiplint.codec.catalog import Catalog
from kiplint.codec.problems import Problem
from kiplint.codec.records.batch import read_batches
from kiplint.codec.records.topics import Meaning
from kiplint.codec.shape import key_of
from kiplint.codec.span import Span
from kiplint.model.layout import Body

TOPIC_NAMES = ("topic", "name", "topicId", "topicName")


def with_records(
    catalog: Catalog, body: Body, value: dict[str, Any], spans: tuple[Span, ...]
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """The value with each `records` field, where it is not null, as a list of batches, and what is wrong in them.

    `spans` say where the fields stand.
    """
    places = {span.path: span.offset + span.length for span in spans if "records" in span.type.split()}
    problems: list[Problem] = []
    return _body(Meaning(catalog), body, value, "", "", places, problems), tuple(problems)


def _body(
    meaning: Meaning,
    body: Body,
    value: dict[str, Any],
    path: str,
    topic: str,
    places: dict[str, int],
    problems: list[Problem],
) -> dict[str, Any]:
    topic = next((value[name] for name in TOPIC_NAMES if isinstance(value.get(name), str)), topic)
    found = dict(value)
    for slot in (*body.slots, *(body.tags or ())):
        key = key_of(slot)
        inner = value.get(key)
        where = f"{path}.{key}" if path else key
        if inner is None:
            continue
        if slot.kind == "records" and not slot.array:
            data = binascii.a2b_base64(inner)
            found[key], wrong = read_batches(data, places.get(where, len(data)) - len(data))
            meaning.explain(topic, found[key])
            problems += [Problem(one.rule, one.offset, one.message, where) for one in wrong]
        elif slot.body is not None and slot.array:
            found[key] = [
                _body(meaning, slot.body, one, f"{where}[{number}]", topic, places, problems)
                for number, one in enumerate(inner)
            ]
        elif slot.body is not None:
            found[key] = _body(meaning, slot.body, inner, where, topic, places, problems)
    return found
