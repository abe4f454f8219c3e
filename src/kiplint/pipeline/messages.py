"""The stage `messages`: what each distinct definition defines, with its fields, wire layouts and suppressed rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any

from pyspark.sql import DataFrame

from kiplint.compat.tree import require_limits
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import rule_ids_by_selector
from kiplint.engine.suppression import parse_suppressions
from kiplint.model.headers import header_map
from kiplint.model.layout import Layout, layout, layout_intervals, slot_tokens, tokens
from kiplint.model.layout import describe as describe_slot
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_rows
from kiplint.pipeline.rules import Rules
from kiplint.text.lines import decode_text
from kiplint.versions import VersionRange


def messages(lake: Lake, rules: Rules) -> DataFrame:
    """The new rows of the table `messages`: of the definitions that are not described yet with these rules.

    Reads `files` and `blobs`. The key is (blob).
    """
    definitions = lake.read("files").select("blob").distinct()
    new_definitions = lake.missing(definitions, "messages", "blob", rules_id=rules.id)
    texts = new_definitions.join(lake.read("blobs").select("blob", "data"), "blob")
    return map_rows(texts.repartition("blob"), partial(describe_texts, rules), lake.schemas["messages"])


def describe_texts(rules: Rules, texts: Iterable[Row]) -> Iterator[Row]:
    """The rows of the table `messages` of texts, which have `blob` and `data`.

    The other columns are null for a text that defines no message, and for one with a problem.
    """
    for text in texts:
        columns: Row = {}
        for message in SchemaSet([load("", text["data"])]).messages:
            try:
                require_limits(message)
                columns = _message_columns(message, _suppressed_rules(text["data"], rules))
            except (UsageError, RecursionError) as error:
                columns = {"problem": str(error)}
        yield {**columns, "blob": text["blob"], "rules_id": rules.id}


def int32(value: int | None) -> int | None:
    """An integer if it fits into 32 bits, otherwise None: an API key or tag that is too large is not valid anyway."""
    return value if value is not None and -(1 << 31) <= value < 1 << 31 else None


def _suppressed_rules(data: bytes, rules: Rules) -> list[str]:
    """The ids of the rules that the comments of a definition suppress."""
    suppressions, _ = parse_suppressions(decode_text(data))
    selectors = {selector for suppression in suppressions for selector in suppression.selectors}
    ids_by_selector = rule_ids_by_selector(selectors, rules.scopes.whole.all_rules)
    return sorted(set().union(*ids_by_selector.values()))


def _message_columns(message: Message, suppressed_rules: list[str]) -> Row:
    """The columns of the table `messages` that describe a message. Of the rules that it suppresses, it has the ids."""
    return {
        "message_name": message.name,
        "type": message.type,
        "api_key": int32(message.api_key),
        "valid": str(message.valid),
        **_bounds(message.valid),
        "flexible": str(message.flexible),
        "deprecated": [_bounds(versions) for versions in message.deprecated.parts],
        "unstable": message.unstable,
        "listeners": list(message.listeners) if message.declares_listeners else None,
        "headers": [{**_bounds(versions), "header": header} for versions, header in header_map(message)],
        "declares_headers": message.declares_headers,
        "ignores": suppressed_rules,
        "fields": list(_fields(message)),
        "layouts": [_layout(message, versions) for versions in layout_intervals(message)],
    }


def _bounds(versions: VersionRange) -> Mapping[str, int | None]:
    """The columns `lowest` and `highest` of a range, null for an empty one."""
    return {"lowest": versions.lowest, "highest": versions.highest} if versions else {"lowest": None, "highest": None}


def _fields(message: Message) -> Iterator[Row]:
    """The elements of the column `fields`."""
    for field in message.all_fields:
        yield {
            "path": field.path,
            "type": field.type,
            "versions": str(field.versions),
            **_bounds(field.present),
            "nullable": str(field.nullable),
            "tagged": str(field.tagged),
            "tag": int32(field.tag),
            "ignorable": field.ignorable,
            "map_key": field.map_key,
            "default": str(field.default),
            "entity_type": field.entity_type,
        }


def _layout(message: Message, versions: VersionRange) -> Row:
    """The element of the column `layouts` for versions that all have the same layout."""
    body = layout(message, versions.lowest)
    return {
        **_bounds(versions),
        "layout": _digest(tokens(body)),
        "names": _digest(_nested_names(body)),
        "tags": list(_tags(body, ())),
        "shape": list(_shape(body, "")),
    }


def _shape(body: Layout, prefix: str) -> Iterator[str]:
    """A line for each field, in the order of the wire: `Topics.Name compact string` for the prefix `Topics.`."""
    for slot in body.all_slots:
        tag = f", tag {slot.field.tag}" if body.tags and slot in body.tags else ""
        yield f"{prefix}{slot.field.name} {describe_slot(slot)}{tag}"
        if slot.body:
            yield from _shape(slot.body, f"{prefix}{slot.field.name}.")


def _nested_names(body: Layout) -> tuple[Any, ...]:
    """The names of the untagged fields in order, each with those inside it: `(("Topics", (("Name", ()),)),)`."""
    return tuple((slot.field.name, _nested_names(slot.body) if slot.body else ()) for slot in body.slots)


def _tags(body: Layout, path: tuple[str, ...]) -> Iterator[Row]:
    """The tagged fields of a layout, and of the structs in it; `path` has the names of the fields that lead to it."""
    for slot in body.tags or ():
        yield {"path": ".".join(path), "tag": int32(slot.field.tag), "layout": _digest(slot_tokens(slot))}
    for slot in body.all_slots:
        if slot.body:
            yield from _tags(slot.body, (*path, slot.field.name))


def _digest(value: object) -> str:
    """An id of 16 hexadecimal digits for a value that is made of tuples and texts."""
    return sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
