"""What a migration comes to: files with their edits, and a row for each RPC."""

from __future__ import annotations

from typing import Literal

import msgspec

from kiplint.fixes.draft import Draft
from kiplint.text.edit import Edit

State = Literal["migrated", "declared", "unchanged", "exempt", "dead", "left"]
"""`left` is an RPC that a person has to see to; `unchanged` one that is as it should be already."""


class FileEdits(msgspec.Struct, frozen=True):
    """The edits of one file, and its bytes before and after them."""

    path: str
    edits: tuple[Edit, ...]
    before: bytes
    after: bytes


class MigrationRow(msgspec.Struct, frozen=True):
    """What was done to one RPC of a directory (or to the request header), and what a person has to look at."""

    name: str
    api_key: int
    state: State
    base_versions: str
    versions: str
    header_versions: dict[str, int] = {}
    done: tuple[str, ...] = ()
    look: tuple[str, ...] = ()
    directory: str = ""


class Migration(msgspec.Struct, frozen=True):
    """The files that change, in the order in which they are to be written, and the rows of the summary."""

    files: tuple[FileEdits, ...] = ()
    rows: tuple[MigrationRow, ...] = ()


def finished(draft: Draft) -> list[FileEdits]:
    """The file of a draft, when there is anything to change in it."""
    edits = draft.edits
    data = draft.message.data
    return [FileEdits(draft.message.file, edits, data, draft.result())] if edits else []
