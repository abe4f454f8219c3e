"""Migrations of schema sets, to KIP-1313 and to a new version of chosen RPCs; their result, and its JSON document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.rollout import WITH_FIELDS
from kiplint.engine.config import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.fixes.apply import all_rules
from kiplint.fixes.kip_1313 import migrate, unmet
from kiplint.fixes.migration import FileEdits, Goal, Migration, MigrationRow, State, client_rpcs, join, prove
from kiplint.fixes.new_version import bump
from kiplint.fixes.write import FileChanges, require_files
from kiplint.model.load import load
from kiplint.model.message import rpc_of
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.render.report import RunResult, Status, written_by
from kiplint.sources.open import open_sets
from kiplint.text.edit import Edit
from kiplint.text.show import encodable
from kiplint.text.words import comma_parts, did_you_mean


class MigrationSummary(msgspec.Struct, frozen=True):
    """How many files changed, and how many RPCs there are of each state; the request header counts as an RPC."""

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
    rpcs: tuple[MigrationRow, ...]
    edits: Annotated[tuple[Edit, ...], Meta(description="Offsets are in bytes of the files before the migration.")]
    summary: MigrationSummary


class MigrationResult(RunResult, frozen=True):
    """The changed files with their edits, and a row for each RPC.

    `status` is `findings` while a row is left to a person.
    """

    files: tuple[FileEdits, ...] = ()
    """The changed files, with their edits."""
    rows: tuple[MigrationRow, ...] = ()
    """The RPCs, and what changed in each."""
    is_written: bool = True
    """Whether the files were written; else only the result was made."""

    command = "migrate"
    renderers = written_by("migrate", "text")
    unparsable_are = "left as it is"

    @property
    def change(self) -> FileChanges:
        """The files before and after."""
        return FileChanges(
            {file.path: file.before for file in self.files}, {file.path: file.after for file in self.files}
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why RPCs are left to a person: a line for each reason."""
        left_rows = (row for row in self.rows if row.state == "left")
        return tuple(f"left: {row.name}: {reason}" for row in left_rows for reason in row.look)

    @property
    def document(self) -> MigrationDocument:
        """The JSON document."""
        counts = Counter[str](row.state for row in self.rows)
        edits = (
            Edit(encodable(file.path), edit.start, edit.end, edit.text) for file in self.files for edit in file.edits
        )
        return MigrationDocument(
            version=1,
            rpcs=self.rows,
            edits=tuple(edits),
            summary=MigrationSummary(len(self.files), **{state: counts[state] for state in get_args(State)}),
        )


Migrate = Callable[[SchemaSet, Sequence[Rpc]], Migration]
"""Migrates the RPCs of a set."""


def migrate_kip_1313(
    *sets: Path,
    only: Sequence[str] = (),
    except_telemetry: bool = False,
    only_declare: bool = False,
    dry_run: bool = False,
) -> MigrationResult:
    """Migrate the sets that have RPCs to KIP-1313, and write the files unless it is a `dry_run`.

    Without `only`, all RPCs of a directory are changed, and those of which a file is named. The status is `findings`
    while a person has to change something. Raises UsageError for an unknown RPC and for files that cannot be written,
    and SourceError for what cannot be opened.
    """
    if only and not comma_parts(only):
        raise UsageError("--only names no RPC; leave the option out to change all RPCs")
    only = comma_parts(only)

    def change(schemas: SchemaSet, rpcs: Sequence[Rpc]) -> Migration:
        later = {rpc_of(name) for name in WITH_FIELDS} if except_telemetry else set()
        names = {rpc.name for rpc in rpcs} - later
        whole = len(names) == len(client_rpcs(schemas))
        if not names:
            return Migration()
        return migrate(schemas, only=() if whole else names, only_declare=only_declare)

    return _migrate([os.fspath(name) for name in sets], only, change, None if only_declare else unmet, dry_run)


def migrate_bump(
    *rpcs: str,
    schemas: Path = ".",
    unstable: bool = False,
    new_version: bool = False,
    note: str = "",
    dry_run: bool = False,
) -> MigrationResult:
    """Give RPCs a new version of request and response, and write the files, unless it is a `dry_run`.

    What would make the set worse is not written, and its row is `left`. Raises UsageError for an unknown RPC, and for
    files that cannot be written; SourceError for what cannot be opened.
    """
    directories: dict[str, str] = {}

    def change(schema_set: SchemaSet, own_rpcs: Sequence[Rpc]) -> Migration:
        here = schema_set.directory or "."
        for rpc in own_rpcs:
            first = directories.setdefault(rpc.name, here)
            if here != first:
                raise UsageError(f"{rpc.name} is in {first} and in {here}: name the directory to change")
        return join(bump(rpc, unstable=unstable, new_version=new_version, note=note) for rpc in own_rpcs)

    return _migrate([os.fspath(schemas)], rpcs, change, None, dry_run)


def _migrate(
    paths: Sequence[str], names: Sequence[str], change: Migrate, goal: Goal | None, dry_run: bool
) -> MigrationResult:
    """Migrate the named RPCs of the sets, or all, and write the files if that is wanted."""
    if not dry_run:
        require_files(paths)
    configuration = configure(paths[0])
    files: list[FileEdits] = []
    rows: list[MigrationRow] = []
    unread_paths: list[str] = []
    rpc_names: set[str] = set()
    rules = all_rules(configuration)
    for schema_files in open_sets(paths, configuration.keeps):
        directory = encodable(schema_files.directory or ".")
        definitions = [load(file.path, file.data) for file in schema_files.files]
        messages = tuple(definition.message for definition in definitions if definition.message)
        schemas = SchemaSet(messages, schema_files.directory)
        unread_paths += [definition.file for definition in definitions if not definition.message]
        reported_paths = {file.path for file in schema_files.files if file.is_reported}
        rpcs = [
            rpc
            for rpc in client_rpcs(schemas)
            if any(message and message.file in reported_paths for message in (rpc.request, rpc.response))
        ]
        rpc_names |= {rpc.name for rpc in rpcs}
        migration = change(schemas, [rpc for rpc in rpcs if not names or rpc.name in {*names, *map(rpc_of, names)}])
        if migration.rows:
            migration = prove(schema_files, migration, rules, goal)
        files += migration.files
        rows += [replace(row, directory=directory) for row in migration.rows]
    for name in names:
        if not {name, rpc_of(name)} & rpc_names:
            raise UsageError(f"there is no RPC {name}{did_you_mean(rpc_of(name), rpc_names)}")
    if not rpc_names and not unread_paths:
        raise UsageError("there are no RPCs: name the directory that has the requests and responses, or some of them")
    status: Status = "error" if unread_paths else "findings" if any(row.state == "left" for row in rows) else "ok"
    result = MigrationResult(
        files=tuple(files),
        rows=tuple(rows),
        unparsable=tuple(unread_paths),
        status=status,
        is_written=not dry_run,
    )
    if not dry_run:
        result.change.write()
    return result
