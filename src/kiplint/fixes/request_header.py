"""The client instance id in the request header (KIP-1313, Request Header)."""

from __future__ import annotations

from typing import Any

from kiplint.fixes.draft import Draft
from kiplint.fixes.new_field import field_like
from kiplint.fixes.result import FileEdits, Row, finished
from kiplint.fixes.version_notes import note_edit
from kiplint.model.message import Message
from kiplint.versions import VersionRange

_ABOUT = "The client instance ID, which tells this client from all other instances of its application."


def add_instance_id(message: Message | None, version: int, *, tagged: bool) -> tuple[list[FileEdits], Row]:
    """RequestHeader with the version and the field in it; nothing when it has both."""
    if message is None:
        look = ("RequestHeader is not among the files: give it version 3 with ClientInstanceId",)
        return [], Row("RequestHeader", -1, "left", "", "", {}, (), look)
    before = str(message.valid)
    if not message.valid or message.valid.highest < version - 1:
        look = (f"RequestHeader has versions {message.valid}: version {version} does not follow them",)
        return [], Row("RequestHeader", -1, "left", before, before, {}, (), look)
    draft = Draft(message)
    done: list[str] = []
    if not message.valid.covers(version):
        draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
        edit = note_edit(draft.document, f"Version {version} adds ClientInstanceId (KIP-1313).")
        draft.add([edit] if edit else [])
        done.append(f"version {version}")
    if "ClientInstanceId" not in message.by_name and draft.document.find("/fields") is not None:
        draft.append("/fields", field_like(draft.document, draft.node("/fields"), _field(version, tagged=tagged)))
        done.append("ClientInstanceId")
    after = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    files = finished(draft)
    return files, Row("RequestHeader", -1, "migrated" if files else "unchanged", before, after, {}, tuple(done))


def _field(version: int, *, tagged: bool) -> dict[str, Any]:
    versions = str(VersionRange.of(version))
    extra = {"taggedVersions": versions, "tag": 0, "ignorable": True} if tagged else {}
    return {"name": "ClientInstanceId", "type": "uuid", "versions": versions, **extra, "about": _ABOUT}
