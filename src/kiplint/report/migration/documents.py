"""The JSON documents of `kiplint migrate` and `kiplint new`; fields are stable, and only ever added to."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kiplint.fixes.result import State
from kiplint.report.output_schema import EditObject

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
