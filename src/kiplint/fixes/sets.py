"""What migrations read from schema sets, and what they come to: the edits of files, and a row for each RPC."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kiplint.engine.config import configure
from kiplint.fixes.draft import Draft
from kiplint.model.load import Definition, load
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.edit import Edit

State = Literal["migrated", "declared", "unchanged", "exempt", "dead", "left"]
"""`left` is an RPC that a person has to change; `unchanged` is one that needs no change."""


class FileEdits(msgspec.Struct, frozen=True):
    """The edits of one file, and its bytes before and after them."""

    path: str
    edits: tuple[Edit, ...]
    before: bytes
    after: bytes


Versions = Annotated[str, Meta(description="Of the request; `none` for no version, empty where there is no header.")]


class MigrationRow(msgspec.Struct, frozen=True):
    """What a migration did to one RPC, or to the request header, whose API key is -1."""

    name: str
    api_key: int
    state: Annotated[State, Meta(description="`left` is for a person to do; `unchanged` needs no change.")]
    base_versions: Versions
    versions: Versions
    header_versions: Annotated[
        dict[str, int], Meta(description="The request header version by range of the request's versions.")
    ] = {}
    done: Annotated[tuple[str, ...], Meta(description="What was done beyond the new version.")] = ()
    look: Annotated[tuple[str, ...], Meta(description="What a person has to review.")] = ()
    directory: Annotated[str, Meta(description="The directory of the definitions.")] = ""


class Migration(msgspec.Struct, frozen=True):
    """The files that change, in the order of writing, and the rows of the summary."""

    files: tuple[FileEdits, ...] = ()
    rows: tuple[MigrationRow, ...] = ()


def finished(draft: Draft) -> list[FileEdits]:
    """The file of a draft, if it has edits."""
    edits = draft.edits
    data = draft.message.data
    return [FileEdits(draft.message.file, edits, data, draft.result())] if edits else []


def load_set(files: SchemaFiles) -> tuple[SchemaSet, list[Definition]]:
    """The schema set of some files, and the definitions that could not be read."""
    definitions = [load(file.path, file.data) for file in files.files]
    messages = tuple(definition.message for definition in definitions if definition.message)
    return SchemaSet(messages, files.directory), [definition for definition in definitions if not definition.message]


def client_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set without the coordinators' pairs of key and value."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def rule_parameter(start: str, rule_id: str, name: str) -> Mapping[str, Any] | Collection[str]:
    """A parameter of a rule, as the configuration for the path `start` states it; empty without the rule."""
    rules = configure(start).known()
    value: Mapping[str, Any] | Collection[str] = next((r.params.get(name, {}) for r in rules if r.id == rule_id), {})
    return value
