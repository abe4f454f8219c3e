"""A new version of a request and of its response, the everyday change; and its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kiplint.fixes.draft import Draft
from kiplint.fixes.new_version import (
    BadField,
    FieldToAdd,
    add_field,
    add_version,
    declared_map,
    note_edit,
    obstacle,
    refuse_duplicates,
)
from kiplint.fixes.sets import FileEdits, Migration, finished, migration_row
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc
from kiplint.text.edit import delete_items


def bump(
    rpc: Rpc,
    *,
    fields: Sequence[FieldToAdd] = (),
    unstable: bool = False,
    new_version: bool = False,
    note: str = "",
    entities: Mapping[str, str] | None = None,
) -> Migration:
    """A new version of both halves of an RPC, with new fields; only a row where a new version is not possible.

    Of halves that end at different versions the lower one is brought to the higher one.
    An unstable version takes the fields itself, and stays unstable, unless it is to have a `new_version` after it.
    `note` is the text of the comment on the version, instead of the names of the fields. Raises BadField.
    """
    request, response = rpc.request, rpc.response
    if problem := _obstacle(rpc):
        return Migration(rows=(migration_row(rpc, "left", look=(problem,)),))
    assert request is not None
    assert response is not None
    highest = max(request.valid.highest, response.valid.highest)
    lags = request.valid.highest != response.valid.highest
    version = highest if lags or (request.unstable and not new_version) else highest + 1
    if lags and fields and not request.unstable:
        problem = (
            f"{request.name} ends at version {request.valid.highest}, {response.name} at {response.valid.highest}: "
        )
        problem += f"bump it without fields first, which brings both to version {highest}"
        return Migration(rows=(migration_row(rpc, "left", look=(problem,)),))
    if version == highest and not fields and not lags:
        problem = f"version {version} is unstable, and may still change: name the fields that it gets, or release it"
        return Migration(rows=(migration_row(rpc, "left", look=(problem,)),))
    additions = {
        half.name: [field for field in fields if (field.message or request.name) == half.name]
        for half in (request, response)
    }
    refuse_duplicates(fields)
    if unknown := next((field.message for field in fields if (field.message or request.name) not in additions), None):
        raise BadField(f"{unknown} is neither {request.name} nor {response.name}")
    files: list[FileEdits] = []
    look: list[str] = []
    for half in (request, response):
        draft = Draft(half)
        names = [".".join((*field.path, field.name)) for field in additions[half.name]]
        if half.valid.highest < version:
            comment = _note(version, half, names, note)
            look += [f"{half.name}: {item}" for item in add_version(draft, version, comment, unstable=unstable)]
            _carry_map(draft, version)
        elif names:
            draft.add(note_edit(draft.document, _note(version, half, names, note)))
        struct_names = {struct.name for struct in half.structs}
        for field in additions[half.name]:
            add_field(draft, field, version, entities or {}, struct_names)
        files += finished(draft)
    actions = [f"{half}: {', '.join(field.name for field in fields)}" for half, fields in additions.items() if fields]
    actions += ["the new version is unstable"] if unstable and version > highest else []
    actions += [f"version {version} stays unstable"] if version == highest and request.unstable else []
    return Migration(tuple(files), (migration_row(rpc, "migrated", actions, look),))


def release(rpc: Rpc) -> Migration:
    """The latest version of an RPC without the mark that it is unstable: brokers offer it, and it may not change."""
    request = rpc.request
    if request is None or not request.unstable:
        return Migration(rows=(migration_row(rpc, "unchanged"),))
    draft = Draft(request)
    draft.add(delete_items(draft.document, draft.document.root, [draft.node("/latestVersionUnstable")]))
    actions = (f"version {request.valid.highest} is released",)
    return Migration(tuple(finished(draft)), (migration_row(rpc, "migrated", actions),))


def _obstacle(rpc: Rpc) -> str:
    if rpc.rpc_name in FROZEN:
        return f"it is frozen at versions {FROZEN[rpc.rpc_name]}, and must never be bumped (KIP-1313)"
    return obstacle(rpc)


def _carry_map(draft: Draft, version: int) -> None:
    """Extend the last range of a header map that ends before the version."""
    entries = draft.message.header_ranges
    if not entries or declared_map(draft.message) is not None:
        return
    last = entries[-1]
    if last.versions and last.header >= 0 and version not in last.versions:
        draft.rename(last.pointer, f"{last.versions.lowest}+")


def _note(version: int, half: Message, names: Sequence[str], note: str) -> str:
    if note:
        return f"Version {version} {' '.join(note.split())}"  # a line end would end the comment
    if names:
        text = ", ".join(names[:-1]) + (" and " if names[1:] else "") + names[-1]
        return f"Version {version} adds {text}."
    return f"Version {version} is the same as version {half.valid.highest}."
