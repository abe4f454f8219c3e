"""The client instance id in the request header (KIP-1313, Request Header)."""

from __future__ import annotations

from kiplint.fixes.draft import Draft
from kiplint.fixes.result import FileEdits, Row
from kiplint.fixes.version_notes import note_edit
from kiplint.model.message import Message
from kiplint.text.edit_document import Document, start_of
from kiplint.versions import VersionRange

_FIELD = '{{ "name": "ClientInstanceId", "type": "uuid", "versions": "{versions}",{tagged}\n  "about": "{about}" }}'
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
    if "ClientInstanceId" not in message.by_name:
        draft.append("/fields", _field(draft.document, version, tagged=tagged))
        done.append("ClientInstanceId")
    after = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    edits = draft.edits
    files = [FileEdits(message.file, edits, message.data, draft.result())] if edits else []
    return files, Row("RequestHeader", -1, "migrated" if files else "unchanged", before, after, {}, tuple(done))


def _field(document: Document, version: int, *, tagged: bool) -> str:
    """The field, on as many lines as the one before it has."""
    versions = VersionRange.of(version)
    extra = f' "taggedVersions": "{versions}", "tag": 0, "ignorable": true,' if tagged else ""
    text = _FIELD.format(versions=versions, tagged=extra, about=_ABOUT)
    array = document.find("/fields")
    last = array.children[-1] if array and array.children else None
    if last is not None and document.same_line(start_of(last), last.end):
        return text.replace("\n ", "")
    return text
