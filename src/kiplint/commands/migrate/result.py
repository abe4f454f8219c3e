"""The result of `kiplint migrate`, and its JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from kiplint.compat.rollout import RolloutRow
from kiplint.fixes.migration import FileEdits, MigrationRow, State
from kiplint.fixes.write import FileChanges
from kiplint.render.report import RunResult, written_by
from kiplint.text.edit import Edit
from kiplint.text.show import encodable


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


DOCUMENTS: Final = {"migrate": MigrationDocument}


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
    rollouts: Mapping[str, tuple[RolloutRow, ...]] = {}
    """By directory: the rollout of KIP-1313's request header from the files before to those after."""

    command = "migrate"
    renderers = written_by("migrate", "text", "markdown")
    unread = "left as it is"

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
