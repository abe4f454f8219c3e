"""`kiplint migrate`: new versions of RPCs, to KIP-1313 or of chosen ones, written into their definitions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final, Literal, TextIO, get_args

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import replace

from kiplint.cli.options import FormOption
from kiplint.cli.output import present, present_patch
from kiplint.compat.rollout import MESSAGES_WITH_ID, header_text
from kiplint.compat.tree import make_tree, unparsable_files
from kiplint.engine.config import Configurations, StrPath
from kiplint.engine.errors import UsageError
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.migration import FileEdits, Migration, MigrationRow, State, files_of, join, real_rpcs, verify
from kiplint.fixes.migration import bump as bump_rpc
from kiplint.fixes.write import FileChanges, require_files
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.model.message import rpc_of
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.render.formats import Writer
from kiplint.render.report import RunResult, Status
from kiplint.render.table import DIM, SEVERITY, Cell, fold, table, title, width_of
from kiplint.sources.open import open_sets
from kiplint.text.edit import Edit
from kiplint.text.show import encodable
from kiplint.text.words import comma_parts, did_you_mean, join_words, plural

COMMANDS: Final = {
    "kip-1313": "Migrate RPCs to header versions and request header 3 (KIP-1313).",
    "bump": "Add a new version to RPCs, in request and response together.",
}
HELP: Final = "Add new versions to the definitions of RPCs."
EPILOG: Final = "Start with `kiplint migrate kip-1313 --dry-run PATH`, or `kiplint migrate bump RPC --dry-run`."
EPILOGS: Final = {
    "kip-1313": """\b
Examples:
  kiplint migrate kip-1313 --dry-run clients/src/main/resources/common/message
  kiplint migrate kip-1313 --only Fetch,Produce .""",
    "bump": """\b
Examples:
  kiplint migrate bump Fetch
  kiplint migrate bump Fetch --note 'adds Epoch.' --unstable""",
}
COLUMNS: Final = ("RPC", "", "versions", "request headers", "")

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Report the changes without writing them.")]
DiffOption = Annotated[bool, typer.Option("--diff", help="Print the changes as a patch without writing them.")]


def kip_1313(
    sets: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Directories (searched recursively) or files; the request and response of an RPC change together.",
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="RPC", help="Change only these RPCs, such as Fetch,Produce. Repeatable."),
    ] = None,
    except_telemetry: Annotated[
        bool,
        typer.Option(
            "--except-telemetry", help="Leave GetTelemetrySubscriptions and PushTelemetry for a later change."
        ),
    ] = False,
    only_declare: Annotated[
        bool,
        typer.Option(
            "--only-declare", help="Only add headerVersions, derived from flexibleVersions, without new versions."
        ),
    ] = False,
    dry_run: DryRunOption = False,
    diff: DiffOption = False,
    output_format: FormOption = "text",
) -> int:
    """Migrate RPCs to header versions and request header 3 (KIP-1313).

    Requests and responses get headerVersions and a new version with request header 3; RequestHeader gets version 3 with
    ClientInstanceId. SaslHandshake keeps its versions, OffsetDelete becomes flexible, and the telemetry RPCs lose the
    id that the header now has. A later run continues what an earlier one or a person left. The exit code is 1 while a
    person has to change something.
    """
    result = migrate_kip_1313(
        *sets,
        only=only or (),
        except_telemetry=except_telemetry,
        only_declare=only_declare,
        dry_run=dry_run or diff,
    )
    return _present(result, diff, output_format)


def bump(
    rpcs: Annotated[
        list[str],
        typer.Argument(metavar="RPC", help="The RPCs to give a new version."),
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="The directory of their definitions. Repeatable.",
            show_default="the working directory",
        ),
    ] = None,
    unstable: Annotated[
        bool, typer.Option("--unstable", help="Mark the new version as unstable: it may still change.")
    ] = False,
    new_version: Annotated[
        bool, typer.Option("--new-version", help="Add a version even if the latest version is unstable.")
    ] = False,
    note: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="The comment on the new version, without its number.",
            show_default="what begins in it, or that it is the same as version N",
        ),
    ] = "",
    dry_run: DryRunOption = False,
    diff: DiffOption = False,
    output_format: FormOption = "text",
) -> int:
    """Add a new version to RPCs, in request and response together.

    validVersions, headerVersions and the comment get the new version, and ranges that end with the latest version
    include it. After an unstable version, which may still change, a new one is added only with --new-version. What
    would make the set worse is not written.
    """
    result = migrate_bump(
        *rpcs, sets=sets or ["."], unstable=unstable, new_version=new_version, note=note, dry_run=dry_run or diff
    )
    return _present(result, diff, output_format)


def _present(result: MigrationResult, diff: bool, output_format: FormOption) -> int:
    """Print the result, or with `diff` the patch and why RPCs are left to a person; return the exit code."""
    if not diff:
        return present(result, output_format)
    left_rows = (row for row in result.rows if row.state == "left")
    reasons = [f"left: {row.name}: {reason}" for row in left_rows for reason in row.look]
    return present_patch(result, result.change.patch(), reasons)


class MigrationDocument(msgspec.Struct, frozen=True):
    """What `kiplint migrate ... --output-format json` writes."""

    version: Literal[1]
    rpcs: tuple[MigrationRow, ...]
    edits: Annotated[tuple[Edit, ...], Meta(description="Offsets are in bytes of the files before the migration.")]
    summary: Annotated[dict[str, int], Meta(description="The changed files, and the RPCs by state.")]


class MigrationResult(RunResult, frozen=True):
    """The changed files with their edits, and a row for each RPC.

    `status` is `findings` while a row is left to a person.
    """

    files: tuple[FileEdits, ...] = ()
    """The changed files, with their edits."""
    rows: tuple[MigrationRow, ...] = ()
    """The RPCs, and what changed in each."""
    is_written: bool = True
    """Whether the files were written."""

    command = "migrate"
    unparsable_are = "left as it is"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write}

    @property
    def change(self) -> FileChanges:
        """The files before and after."""
        return FileChanges(
            {file.path: file.before for file in self.files}, {file.path: file.after for file in self.files}
        )

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
            summary={"files": len(self.files), **{state: counts[state] for state in get_args(State)}},
        )


MigrateSet = Callable[[SchemaSet, Sequence[Rpc]], Migration]
"""Migrates some RPCs of a set, and whatever else of the set has to change with them."""


def migrate_kip_1313(
    *sets: StrPath,
    only: Sequence[str] = (),
    except_telemetry: bool = False,
    only_declare: bool = False,
    dry_run: bool = False,
) -> MigrationResult:
    """Migrate the sets that have RPCs to KIP-1313, and write the files unless `dry_run` is set.

    `sets` are directories and files: their RPCs are changed, or the RPCs among them that `only` names. The status is
    `findings` while a person has to change something. Raises UsageError for an unknown RPC and for files that cannot be
    written, and SourceError for what cannot be opened.
    """
    if only and not comma_parts(only):
        raise UsageError("--only names no RPC; omit the option to change all RPCs")
    only = comma_parts(only)
    telemetry_names = {rpc_of(message_name) for message_name in MESSAGES_WITH_ID}

    def migrate_set(schemas: SchemaSet, rpcs: Sequence[Rpc]) -> Migration:
        names = {rpc.name for rpc in rpcs}
        if except_telemetry:
            names -= telemetry_names
        return migrate(schemas, only=names, only_declare=only_declare) if names else Migration()

    header = None if only_declare else HEADER_WITH_ID
    return _migrate([os.fspath(name) for name in sets], only, migrate_set, header, dry_run)


def migrate_bump(
    *rpcs: str,
    sets: Sequence[StrPath] = (".",),
    unstable: bool = False,
    new_version: bool = False,
    note: str = "",
    dry_run: bool = False,
) -> MigrationResult:
    """Add a new version to the request and the response of RPCs, and write the files unless `dry_run` is set.

    What would make the set worse is not written, and its row is `left`. Raises UsageError for an unknown RPC, and for
    files that cannot be written; SourceError for what cannot be opened.
    """
    directories: dict[str, str] = {}  # by name of an RPC

    def bump_rpcs(schema_set: SchemaSet, selected_rpcs: Sequence[Rpc]) -> Migration:
        directory = schema_set.directory or "."
        for rpc in selected_rpcs:
            first_directory = directories.setdefault(rpc.name, directory)
            if first_directory != directory:
                raise UsageError(f"{rpc.name} is in {first_directory} and in {directory}: name the directory to change")
        return join(bump_rpc(rpc, unstable=unstable, new_version=new_version, comment=note) for rpc in selected_rpcs)

    return _migrate([os.fspath(name) for name in sets], rpcs, bump_rpcs, None, dry_run)


def _migrate(
    paths: Sequence[str], names: Sequence[str], migrate_set: MigrateSet, header: int | None, dry_run: bool
) -> MigrationResult:
    """Migrate the named RPCs, or all without `names`, in the sets at the paths, and write the files unless `dry_run`.

    A name is that of an RPC or of one of its messages. `migrate_set` makes the edits for some RPCs of a set. An RPC is
    only migrated if one of its files is at the paths: a set also has the other files of the directory as context. RPCs
    that do not get the request `header`, if there is one, are left to a person.
    """
    if not dry_run:
        require_files(paths)
    configurations = Configurations(paths[0])
    files: list[FileEdits] = []
    rows: list[MigrationRow] = []
    unparsable: list[str] = []
    found_rpc_names: set[str] = set()
    wanted_rpc_names = {rpc_of(name) for name in names}
    for schema_files in open_sets(paths, configurations.keeps).sets:
        pairs = [(file.path, file.data) for file in schema_files.files]
        tree = make_tree("", [(schema_files.directory, pairs)])
        unparsable += unparsable_files(tree)
        schemas = tree.sets[schema_files.directory]

        reported_paths = {file.path for file in schema_files.files if file.is_reported}
        rpcs = [rpc for rpc in real_rpcs(schemas) if not reported_paths.isdisjoint(files_of(rpc))]
        found_rpc_names |= {rpc.name for rpc in rpcs}

        migration = migrate_set(schemas, [rpc for rpc in rpcs if not names or rpc.name in wanted_rpc_names])
        if migration.rows:
            rules = configurations.of(schema_files.directory).default_and_selected_rules()
            migration = verify(schema_files, migration, rules, header)
        files += migration.files
        directory = encodable(schema_files.directory or ".")
        rows += [replace(row, directory=directory) for row in migration.rows]

    for name in names:
        if rpc_of(name) not in found_rpc_names:
            raise UsageError(f"there is no RPC {name}{did_you_mean(rpc_of(name), found_rpc_names)}")
    if not found_rpc_names and not unparsable:
        raise UsageError(
            "there are no RPCs; name the directory with the requests and responses, or some of these files"
        )
    status: Status = "findings" if any(row.state == "left" for row in rows) else "ok"
    result = MigrationResult(
        files=tuple(files),
        rows=tuple(rows),
        unparsable=tuple(unparsable),
        status="error" if unparsable else status,
        is_written=not dry_run,
    )
    if not dry_run:
        result.change.write()
    return result


def write(result: MigrationResult, out: TextIO, *, color: bool) -> None:
    """Write a table of the RPCs that concern a person, the notes on them, and a line with the counts of all RPCs."""
    width = width_of(out)
    has_several_sets = len({row.directory for row in result.rows}) > 1
    table_rows: list[list[Cell]] = []
    note_lines: list[str] = []
    for row in result.rows:
        name = f"{row.directory}: {row.name}" if has_several_sets else row.name
        if row.look or row.state not in ("unchanged", "dead"):
            table_rows.append(_cells(name, row))
        for note in row.look:
            note_lines += fold(f"  {name}: {note}", width)

    lines = table(COLUMNS, table_rows, color, width)
    if note_lines:
        lines += ["", title("To review", color), *note_lines]
    if lines:
        lines.append("")
    counts = Counter(row.state for row in result.rows)
    parts = [f"{counts[state]} {state}" for state in get_args(State) if counts[state]]
    verb = "changed" if result.is_written else "would change"
    lines.append(f"{join_words(parts) if parts else 'No RPCs'}; {plural(len(result.files), 'file')} {verb}.")
    out.write("\n".join(lines) + "\n")


def _cells(name: str, row: MigrationRow) -> list[Cell]:
    versions = row.versions if row.versions == row.base_versions else f"{row.base_versions} -> {row.versions}"
    headers = header_text(row.header_versions)
    color = SEVERITY["error"] if row.state == "left" else DIM
    return [(name, ""), (row.state, color), (versions, ""), (headers, ""), (", ".join(row.done), "")]
