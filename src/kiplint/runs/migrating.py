"""Migrations: sets brought to KIP-1313, RPCs with a new version, and RPCs that are new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.fixes.bump import bump
from kiplint.fixes.kip1313 import migrate
from kiplint.fixes.new_field import BadField, NewField
from kiplint.fixes.new_rpc import BadName
from kiplint.fixes.new_rpc import new_rpc as first_version
from kiplint.fixes.result import FileEdits, Migration, Row
from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.runs.changing import Change, create_files, refuse_what_is_fixed
from kiplint.runs.configuration import Path, configure
from kiplint.runs.result import RunResult, Status
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.suggest import did_you_mean

ENTITIES: Final = "fields/entity-type-missing"
"""The rule that knows which entity types fields of certain names have."""


class MigrationResult(RunResult, frozen=True):
    """What a migration came to: the files with their edits, and a row for each RPC."""

    files: tuple[FileEdits, ...] = ()
    rows: tuple[Row, ...] = ()

    command = "migrate"

    @property
    def change(self) -> Change:
        """The files before and after."""
        return Change({one.path: one.before for one in self.files}, {one.path: one.after for one in self.files})


def migrate_kip_1313(
    *sets: Path, only: Sequence[str] = (), only_declare: bool = False, tagged: bool = False, dry_run: bool = False
) -> MigrationResult:
    """Bring the sets with RPCs to KIP-1313: directories, or files with their siblings; written unless `dry_run`.

    `only` are the RPCs to change; of files that are named one by one, those that they are halves of. `only_declare`
    declares the headers that versions have, and adds no version; `tagged` makes the id in the header a tagged field.
    The status is `findings` while something is left to a person. Raises UsageError for an RPC that is not there, and
    for files that cannot be written; SourceError for what cannot be opened.
    """

    def change(schemas: SchemaSet, wanted: Sequence[Rpc]) -> Migration:
        names = {rpc.name for rpc in wanted}
        return migrate(schemas, only=names, only_declare=only_declare, tagged=tagged) if names else Migration()

    return _written(sets, only, change, dry_run=dry_run)


def migrate_bump(
    *rpcs: str,
    schemas: Path = ".",
    fields: Sequence[str] = (),
    unstable: bool = False,
    note: str = "",
    dry_run: bool = False,
) -> MigrationResult:
    """Give RPCs a new version, of request and response, with the fields (`Name:type:about`) in it.

    Raises UsageError for a field or RPC that cannot be, and for files that cannot be written.
    """
    try:
        wanted = [NewField.parse(one) for one in fields]
        if any(not one.message for one in wanted) and len(set(rpcs)) > 1:
            raise BadField(f"{fields[0]!r} does not say which RPC it is for: write {rpcs[0]}Request.{fields[0]}")
        entities = _entities(os.fspath(schemas))

        def change(_: SchemaSet, found: Sequence[Rpc]) -> Migration:
            return _bumped(found, wanted, entities, unstable=unstable, note=note) if found else Migration()

        return _written((schemas,), rpcs, change, dry_run=dry_run)
    except BadField as error:
        raise UsageError(str(error)) from None


def new_rpc(
    name: str,
    schemas: Path = ".",
    *,
    api_key: int | None = None,
    listeners: Sequence[str] = (),
    unstable: bool = False,
    dry_run: bool = False,
) -> dict[str, bytes]:
    """The request and response of a new RPC, by their paths, written unless `dry_run`.

    Raises UsageError when several directories have RPCs, for a name or key that is taken, and for a file that is there.
    """
    where = os.fspath(schemas)
    refuse_what_is_fixed([where])
    found = [(one, _schemas(one)[0]) for one in open_sets([where], configure(where).keeps)]
    with_rpcs = [(one, known) for one, known in found if _rpcs(known)] or found
    if len(with_rpcs) > 1:
        listed = ", ".join(one.directory or "." for one, _ in with_rpcs)
        raise UsageError(f"several directories have requests ({listed}): name the one that the new RPC is for")
    one, known = with_rpcs[0]
    try:
        made = first_version(name, known, api_key=api_key, listeners=listeners or ("broker",), unstable=unstable)
    except BadName as error:
        raise UsageError(str(error)) from None
    files = {os.path.join(one.directory, file): data for file, data in made.items()}
    if not dry_run:
        create_files(files)
    return files


def _bumped(
    rpcs: Sequence[Rpc], fields: Sequence[NewField], entities: Mapping[str, str], *, unstable: bool, note: str
) -> Migration:
    halves = {rpc.name: {half.name for half in (rpc.request, rpc.response) if half} for rpc in rpcs}
    known = set().union(*halves.values())
    if strange := next((one.message for one in fields if one.message and one.message not in known), ""):
        raise BadField(f"{strange} is no half of an RPC to bump{did_you_mean(strange, known)}")
    found = []
    for rpc in rpcs:
        mine = [one for one in fields if not one.message or one.message in halves[rpc.name]]
        found.append(bump(rpc, fields=mine, unstable=unstable, note=note, entities=entities))
    files = tuple(file for one in found for file in one.files)
    return Migration(files, tuple(row for one in found for row in one.rows))


def _entities(start: str) -> dict[str, str]:
    """The entity types that fields of certain names are to have, as the rule about them says."""
    rules = {rule.id: rule for rule in configure(start).known()}
    names = rules[ENTITIES].params.get("names", {}) if ENTITIES in rules else {}
    return {str(name): str(kind) for name, kind in names.items()}


def _written(
    sets: Sequence[Path],
    names: Sequence[str],
    change: Callable[[SchemaSet, Sequence[Rpc]], Migration],
    *,
    dry_run: bool,
) -> MigrationResult:
    places = [os.fspath(one) for one in sets]
    if not dry_run:
        refuse_what_is_fixed(places)
    result = _each(open_sets(places, configure(places[0]).keeps), names, change)
    if not dry_run:
        result.change.write(places)
    return result


def _each(
    sets: Iterable[SchemaFiles], names: Sequence[str], change: Callable[[SchemaSet, Sequence[Rpc]], Migration]
) -> MigrationResult:
    files: list[FileEdits] = []
    rows: list[Row] = []
    broken: list[str] = []
    known: set[str] = set()
    for one in sets:
        schemas, unread = _schemas(one)
        broken += [definition.file for definition in unread]
        rpcs = _asked(one, _rpcs(schemas))
        known |= {rpc.name for rpc in rpcs}
        wanted = [rpc for rpc in rpcs if not names or _is_named(rpc, names)]
        found = change(schemas, wanted)
        files += found.files
        rows += found.rows
    for name in names:
        if not {name, _base(name)} & known:
            raise UsageError(f"there is no RPC {name}{did_you_mean(name, known)}")
    status: Status = "error" if broken else "findings" if any(row.state == "left" for row in rows) else "ok"
    return MigrationResult(files=tuple(files), rows=tuple(rows), broken=tuple(broken), status=status)


def _schemas(one: SchemaFiles) -> tuple[SchemaSet, list[Definition]]:
    definitions = [load(file.path, file.data) for file in one.files]
    messages: list[Message] = [found.message for found in definitions if found.message]
    return SchemaSet(tuple(messages), one.directory), [found for found in definitions if found.message is None]


def _rpcs(schemas: SchemaSet) -> list[Rpc]:
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def _asked(one: SchemaFiles, rpcs: Sequence[Rpc]) -> list[Rpc]:
    """The RPCs of which a half was asked for."""
    wanted = {file.path for file in one.files if file.wanted}
    return [rpc for rpc in rpcs if any(half and half.file in wanted for half in (rpc.request, rpc.response))]


def _is_named(rpc: Rpc, names: Sequence[str]) -> bool:
    return rpc.name in names or rpc.name in map(_base, names)


def _base(name: str) -> str:
    return name.removesuffix("Request").removesuffix("Response")
