"""What each distinct definition defines: its message, fields and wire layouts, and the rules that it suppresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from kiplint.compat.tree import require_limits
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matching
from kiplint.engine.suppression import parse_suppressions
from kiplint.model.headers import header_map
from kiplint.model.layout import Layout, intervals, layout, slot_tokens, tokens
from kiplint.model.layout import describe as describe_slot
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.pipeline.rows import Row, map_rows, spread
from kiplint.text.lines import decode_text
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.rules import Rules


def messages(lake: Lake, rules: Rules) -> DataFrame:
    """The messages of the definitions that are not described yet."""
    definitions = lake.read("files").select("blob").distinct()
    texts = lake.missing(definitions, "messages", "blob", rules_id=rules.id).join(
        lake.read("blobs").select("blob", "data"), "blob"
    )
    return map_rows(spread(texts), partial(describe_texts, rules), lake.schemas["messages"], 200)


def describe_texts(rules: Rules, texts: Iterable[Row]) -> Iterator[Row]:
    """The messages of definitions."""
    for text in texts:
        yield {**describe(text["data"], rules), "blob": text["blob"], "rules_id": rules.id}


def describe(data: bytes, rules: Rules) -> Row:
    """The row of a definition without its key; empty where it defines no message."""
    message = load("", data).message
    if message is None:
        return {}
    try:
        require_limits(message)
        return {
            **_message(message),
            "ignores": _suppressed_rules(data, rules),
            "fields": list(_fields(message)),
            "layouts": [_layout(message, versions) for versions in intervals(message)],
        }
    except (UsageError, RecursionError) as error:
        return {"problem": str(error)}


def number(value: int | None) -> int | None:
    """An integer that fits into 32 bits, as keys and tags of definitions need not."""
    return value if value is not None and -(1 << 31) <= value < 1 << 31 else None


def _suppressed_rules(data: bytes, rules: Rules) -> list[str]:
    suppressions, _ = parse_suppressions(decode_text(data))
    selectors = {selector for suppression in suppressions for selector in suppression.selectors}
    ids = matching(selectors, [rule.id for rule in rules.scopes.whole.all_rules]) if selectors else {}
    return sorted(set().union(*ids.values()))


def _message(message: Message) -> Row:
    return {
        "message_name": message.name,
        "type": message.type,
        "api_key": number(message.api_key),
        "valid": str(message.valid),
        **_ends(message.valid),
        "flexible": str(message.flexible),
        "deprecated": [_ends(versions) for versions in message.deprecated.parts],
        "unstable": message.unstable,
        "listeners": list(message.listeners) if message.declares_listeners else None,
        "headers": [{**_ends(versions), "header": header} for versions, header in header_map(message)],
        "declares_headers": message.declares_headers,
    }


def _ends(versions: VersionRange) -> Mapping[str, int | None]:
    return {"lowest": versions.lowest, "highest": versions.highest} if versions else {"lowest": None, "highest": None}


def _fields(message: Message) -> Iterator[Row]:
    for field in message.all_fields:
        yield {
            "path": field.path,
            "type": field.type,
            "versions": str(field.versions),
            **_ends(field.present),
            "nullable": str(field.nullable),
            "tagged": str(field.tagged),
            "tag": number(field.tag),
            "ignorable": field.ignorable,
            "map_key": field.map_key,
            "default": str(field.default),
            "entity_type": field.entity_type,
        }


def _layout(message: Message, versions: VersionRange) -> Row:
    body = layout(message, versions.lowest)
    return {
        **_ends(versions),
        "layout": _digest(tokens(body)),
        "names": _digest(_names(body)),
        "tags": list(_tags(body, ())),
        "shape": list(_shape(body, "")),
    }


def _shape(body: Layout, path: str) -> Iterator[str]:
    for slot in body.all_slots:
        tag = f", tag {slot.field.tag}" if body.tags and slot in body.tags else ""
        yield f"{path}{slot.field.name} {describe_slot(slot)}{tag}"
        if slot.body:
            yield from _shape(slot.body, f"{path}{slot.field.name}.")


def _names(body: Layout) -> tuple[Any, ...]:
    return tuple((slot.field.name, _names(slot.body) if slot.body else ()) for slot in body.slots)


def _tags(body: Layout, path: tuple[str, ...]) -> Iterator[Row]:
    for slot in body.tags or ():
        yield {"path": ".".join(path), "tag": number(slot.field.tag), "layout": _digest(slot_tokens(slot))}
    for slot in body.all_slots:
        if slot.body:
            yield from _tags(slot.body, (*path, slot.field.name))


def _digest(value: object) -> str:
    return sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
