"""Describing: each distinct definition once as a message, its fields, and its wire layouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from kiplint.compat.tree import FieldBudget
from kiplint.engine.errors import UsageError
from kiplint.model.headers import header_map
from kiplint.model.layout import Layout, intervals, layout, ranges_of, slot_tokens, tokens
from kiplint.model.layout import describe as describe_slot
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.pipeline.lake.delta import Batches, rows_in
from kiplint.pipeline.lake.schema import Columns, array, batch, ddl, number, struct
from kiplint.pipeline.stage import Context
from kiplint.pipeline.tables import Blobs, Fields, Layouts, Messages
from kiplint.pipeline.work import Work
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    import pyarrow as pa


def _without(columns: Columns, *names: str) -> Columns:
    return {name: kind for name, kind in columns.items() if name not in names}


DESCRIPTIONS: Columns = {
    "blob": "string",
    "message": struct(_without(Messages.COLUMNS, "blob")),
    "fields": array(_without(Fields.COLUMNS, "blob", "message_name")),
    "layouts": array(_without(Layouts.COLUMNS, "blob", "message_name", "type")),
    "problem": "string",
}


def run(work: Work, _: Context) -> None:
    """Describe the definitions that are new, or all when the model has changed."""
    parts, anew = work.unprocessed("describe", Blobs)
    if anew:
        work.clear(Messages, Fields, Layouts)
    texts = work.table(Blobs, "blob", "data", parts=parts).where("data IS NOT NULL")
    descriptions = work.stage(work.spread(texts, rows_in(parts)).mapInArrow(describe_in_arrow, ddl(DESCRIPTIONS)))
    messages = descriptions.where("problem IS NULL")
    work.append(Messages, messages.select("blob", "message.*"))
    work.append(Fields, messages.selectExpr("blob", "message.message_name", "inline(fields)"))
    work.append(Layouts, messages.selectExpr("blob", "message.message_name", "message.type", "inline(layouts)"))
    problems = descriptions.where("problem IS NOT NULL").select("blob", "problem").collect()
    work.note({"describe": [(row["blob"], row["problem"]) for row in problems]}, anew=anew)


def describe_in_arrow(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Turn batches of (blob, data) into rows of `DESCRIPTIONS`; a definition without a message has none."""
    for rows in batches:
        descriptions: list[tuple[object, ...]] = []
        for blob, data in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            message = load("", data).message
            if message is None:
                continue
            try:
                descriptions.append((blob, *describe(message), None))
            except (UsageError, RecursionError) as error:
                descriptions.append((blob, None, None, None, str(error)))
        yield batch(DESCRIPTIONS, descriptions)


def describe(message: Message) -> tuple[Mapping[str, Any], list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """A message, its fields and its layouts as rows; raises UsageError when its structs unfold without end."""
    FieldBudget(message).spend(message, 1 + len(list(ranges_of(message))))
    return _message(message), list(_fields(message)), [_layout(message, versions) for versions in intervals(message)]


def _message(message: Message) -> Mapping[str, Any]:
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
        "fields": len(message.all_fields),
    }


def _ends(versions: VersionRange) -> Mapping[str, int | None]:
    return {"lowest": versions.lowest, "highest": versions.highest} if versions else {"lowest": None, "highest": None}


def _fields(message: Message) -> Iterator[Mapping[str, Any]]:
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


def _layout(message: Message, versions: VersionRange) -> Mapping[str, Any]:
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


def _tags(body: Layout, path: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    for slot in body.tags or ():
        yield {"path": ".".join(path), "tag": number(slot.field.tag), "layout": _digest(slot_tokens(slot))}
    for slot in body.all_slots:
        if slot.body:
            yield from _tags(slot.body, (*path, slot.field.name))


def _digest(value: object) -> str:
    return sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]
