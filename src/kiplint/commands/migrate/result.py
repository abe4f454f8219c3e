"""The JSON documents of `kiplint migrate` and `kiplint new`; fields are stable, and only ever added to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kiplint.commands.migrate.run import MigrationResult
from kiplint.commands.migrate.text import STATES
from kiplint.fixes.result import MigrationRow, State
from kiplint.render.findings.json import EditObject
from kiplint.text.show import encodable

Versions = Annotated[str, Meta(description="Of the request; `none` for no version, empty where there is no header.")]


class RpcObject(msgspec.Struct, frozen=True):
    """What was done to one RPC, or to the request header, whose key is -1."""

    name: str
    api_key: int
    state: Annotated[State, Meta(description="`left` is for a person to do; `unchanged` is as it should be.")]
    base_versions: Versions
    versions: Versions
    header_versions: Annotated[dict[str, int], Meta(description="The request's header by range of its versions.")]
    done: Annotated[tuple[str, ...], Meta(description="What was done beyond the new version.")]
    look: Annotated[tuple[str, ...], Meta(description="What a person has to look at.")]
    directory: Annotated[str, Meta(description="The directory that it is in.")]


class MigrationSummary(msgspec.Struct, frozen=True):
    """How many files changed, and how many RPCs there are of each state, the request header counted as one."""

    files: int
    migrated: int
    declared: int
    unchanged: int
    exempt: int
    dead: int
    left: int


class MigrationDocument(msgspec.Struct, frozen=True):
    """What `kiplint migrate ... --output-format json` writes."""

    version: Literal[1]
    rpcs: tuple[RpcObject, ...]
    edits: tuple[EditObject, ...]
    summary: MigrationSummary


class FileObject(msgspec.Struct, frozen=True):
    """One new file."""

    path: str
    text: str


class NewDocument(msgspec.Struct, frozen=True):
    """What `kiplint new ... --output-format json` writes."""

    version: Literal[1]
    files: tuple[FileObject, ...]


DOCUMENTS = {"migrate": MigrationDocument, "new": NewDocument}


def document(result: MigrationResult) -> MigrationDocument:
    """What `kiplint migrate ... --output-format json` writes; offsets of edits are in bytes of the files before."""
    counts: Counter[Any] = Counter(row.state for row in result.rows)
    edits = (
        EditObject(encodable(one.path), edit.start, edit.end, edit.text) for one in result.files for edit in one.edits
    )
    numbers = {state: counts[state] for state in STATES}
    return MigrationDocument(
        1, tuple(map(_rpc, result.rows)), tuple(edits), MigrationSummary(len(result.files), **numbers)
    )


def _rpc(row: MigrationRow) -> RpcObject:
    return RpcObject(
        name=row.name,
        api_key=row.api_key,
        state=row.state,
        base_versions=row.base_versions,
        versions=row.versions,
        header_versions=row.header_versions,
        done=row.done,
        look=row.look,
        directory=encodable(row.directory),
    )


def new_document(files: Mapping[str, bytes]) -> NewDocument:
    """What `kiplint new ... --output-format json` writes of the new files, by path."""
    return NewDocument(1, tuple(FileObject(encodable(path), data.decode()) for path, data in files.items()))
