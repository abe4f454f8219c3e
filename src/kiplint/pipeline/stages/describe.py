"""Describing: each distinct definition once as a message, its fields, and its wire layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import pyarrow as pa

from kiplint.compat.tree import FieldBudget
from kiplint.engine.errors import UsageError
from kiplint.engine.run import take_apart
from kiplint.model.headers import header_map
from kiplint.model.layout import Layout, intervals, layout, ranges_of, slot_tokens, tokens
from kiplint.model.layout import describe as describe_slot
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.pipeline.columns import Columns, array, batch, ddl, number, struct
from kiplint.pipeline.delta import rows_in
from kiplint.pipeline.late import f
from kiplint.pipeline.stage import Context, Stage
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.fields import Fields
from kiplint.pipeline.tables.layouts import Layouts
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.work import Work
from kiplint.pipeline.worker import settle
from kiplint.versions import VersionRange

NAME = "describe"
OWN = ("blob", "message_name")


def _inner(columns: Columns, known: tuple[str, ...]) -> Columns:
    return {name: kind for name, kind in columns.items() if name not in known}


DESCRIBED: Columns = {
    "blob": "string",
    "message": struct(_inner(Messages.COLUMNS, ("blob",))),
    "fields": array(_inner(Fields.COLUMNS, OWN)),
    "layouts": array(_inner(Layouts.COLUMNS, (*OWN, "type"))),
    "problem": "string",
}
Batches = Iterable[pa.RecordBatch]


def run(work: Work, context: Context) -> None:
    """Describe the definitions that are new, or all when the model has changed."""
    parts, anew = work.unseen(NAME, STAGE.ids(context)[NAME], Blobs.NAME)
    blobs = work.read(Blobs.COLUMNS, parts).where("data is not null").select("blob", "data")
    staged = work.stage("described", work.spread(blobs, rows_in(parts)).mapInArrow(describe_in_arrow, ddl(DESCRIBED)))
    described = work.read(DESCRIBED, staged)
    told = described.where("message is not null")
    own = ["blob", "message.message_name"]
    frames = (
        Messages(told.select("blob", "message.*")),
        Fields(told.select(*own, f.explode("fields").alias("one")).select(*OWN, "one.*")),
        Layouts(told.select(*own, "message.type", f.explode("layouts").alias("one")).select(*OWN, "type", "one.*")),
    )
    for frame in frames:
        (work.replace if anew else work.append)(frame)
    work.note(NAME, work.problems_in(staged, "blob"), anew=anew)


def describe_in_arrow(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Batches of (blob, data) to batches of what they define; definitions without a message give none."""
    settle()
    for one in batches:
        rows: list[tuple[object, ...]] = []
        for blob, data in zip(*(column.to_pylist() for column in one.columns), strict=True):
            message = load("", data).message
            if message is None:
                continue
            try:
                rows.append((blob, *describe(message), None))
            except (UsageError, RecursionError) as error:
                rows.append((blob, None, None, None, str(error)))
            take_apart(SchemaSet((message,)))
        if rows:
            yield batch(DESCRIBED, rows)


def describe(message: Message) -> tuple[Mapping[str, Any], list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """A message, its fields and its layouts as rows; raises UsageError when its structs unfold without end."""
    FieldBudget(message).spend(message, 1 + len(list(ranges_of(message))))
    return _message(message), list(_fields(message)), [_layout(message, one) for one in intervals(message)]


def _message(message: Message) -> Mapping[str, Any]:
    return {
        "message_name": message.name,
        "type": message.type,
        "api_key": number(message.api_key),
        "valid": str(message.valid),
        **_ends(message.valid),
        "flexible": str(message.flexible),
        "deprecated": [_ends(one) for one in message.deprecated.parts],
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
    for one in (*body.slots, *(body.tags or ())):
        tag = f", tag {one.field.tag}" if body.tags and one in body.tags else ""
        yield f"{path}{one.field.name} {describe_slot(one)}{tag}"
        if one.body:
            yield from _shape(one.body, f"{path}{one.field.name}.")


def _names(body: Layout) -> tuple[Any, ...]:
    return tuple((one.field.name, _names(one.body) if one.body else ()) for one in body.slots)


def _tags(body: Layout, path: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    for one in body.tags or ():
        yield {"path": ".".join(path), "tag": number(one.field.tag), "layout": _digest(slot_tokens(one))}
    for one in (*body.slots, *(body.tags or ())):
        if one.body:
            yield from _tags(one.body, (*path, one.field.name))


def _digest(value: object) -> str:
    return sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


STAGE = Stage(
    NAME,
    (Blobs.NAME,),
    (Messages.NAME, Fields.NAME, Layouts.NAME),
    run,
)
