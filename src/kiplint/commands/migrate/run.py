"""Migrations: sets brought to KIP-1313, RPCs with a new version, and RPCs that are new."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from kiplint.engine.configure import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.fixes.bump import bump
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.new_rpc import BadName
from kiplint.fixes.new_rpc import new_rpc as first_version
from kiplint.fixes.new_version import BadField, FieldToAdd
from kiplint.fixes.result import FileEdits, Migration, MigrationRow
from kiplint.fixes.write import FileChanges, create_files, refuse_unwritable
from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.render.report import RunResult, Status
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.words import did_you_mean

ENTITIES: Final = "fields/entity-type-missing"
"""The rule that knows which entity types fields of certain names have."""
LISTENERS: Final = "rpc/listeners-unknown"
"""The rule that knows the listeners."""


class MigrationResult(RunResult, frozen=True):
    """What a migration came to: the files with their edits, and a row for each RPC."""

    files: tuple[FileEdits, ...] = ()
    rows: tuple[MigrationRow, ...] = ()

    command = "migrate"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.migrate.text",
        "json": "kiplint.commands.migrate.result",
        "markdown": "kiplint.commands.migrate.markdown",
    }
    unread = "left as it is"

    @property
    def change(self) -> FileChanges:
        """The files before and after."""
        return FileChanges({one.path: one.before for one in self.files}, {one.path: one.after for one in self.files})


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
        wanted = [FieldToAdd.parse(one) for one in fields]
        halves = [one.message or {*one.path[:1]} & {*map(_base, rpcs)} for one in wanted]
        loose = next((text for half, text in zip(halves, fields, strict=True) if not half), None)
        if loose is not None and len(set(rpcs)) > 1:
            raise BadField(f"{loose!r} does not say which RPC it is for: write '{_base(rpcs[0])}Request.{loose}'")
        entities = {**_params(os.fspath(schemas), ENTITIES, "names")}

        homes: dict[str, str] = {}

        def change(schemas: SchemaSet, found: Sequence[Rpc]) -> Migration:
            for rpc in found:
                here, there = schemas.directory or ".", homes.setdefault(rpc.name, schemas.directory or ".")
                if here != there:
                    raise UsageError(f"{rpc.name} is in {there} and in {here}: say by --schemas which is to change")
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
    refuse_unwritable([where])
    found = [(one, _schemas(one)[0]) for one in open_sets([where], configure(where).keeps)]
    with_rpcs = [(one, known) for one, known in found if _rpcs(known)] or found
    if len(with_rpcs) > 1:
        listed = ", ".join(one.directory or "." for one, _ in with_rpcs)
        raise UsageError(f"several directories have requests ({listed}): name the one that the new RPC is for")
    one, known = with_rpcs[0]
    words = {*_params(where, LISTENERS, "known"), *(("zkBroker",) if known.has_zookeeper else ())}
    if strange := next((word for word in listeners if word not in words), None):
        raise UsageError(f"there is no listener {strange}{did_you_mean(strange, words)}")
    try:
        made = first_version(name, known, api_key=api_key, listeners=listeners or ("broker",), unstable=unstable)
    except BadName as error:
        raise UsageError(str(error)) from None
    files = {os.path.join(one.directory, file): data for file, data in made.items()}
    if not dry_run:
        create_files(files)
    return files


def _bumped(
    rpcs: Sequence[Rpc], fields: Sequence[FieldToAdd], entities: Mapping[str, str], *, unstable: bool, note: str
) -> Migration:
    names = {rpc.name for rpc in rpcs}
    if vague := next((one for one in fields if one.path and not one.message and one.path[0] in names), None):
        name, rest = vague.path[0], ".".join((*vague.path[1:], vague.name))
        raise BadField(f"{name} has two halves: write {name}Request.{rest} or {name}Response.{rest}")
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


def _params(start: str, rule: str, name: str) -> Any:
    """A parameter of a rule, as the configuration has it."""
    return next((one.params.get(name, {}) for one in configure(start).known() if one.id == rule), {})


def _written(
    sets: Sequence[Path],
    names: Sequence[str],
    change: Callable[[SchemaSet, Sequence[Rpc]], Migration],
    *,
    dry_run: bool,
) -> MigrationResult:
    places = [os.fspath(one) for one in sets]
    if not dry_run:
        refuse_unwritable(places)
    result = _each(open_sets(places, configure(places[0]).keeps), names, change)
    if not dry_run:
        result.change.write(places)
    return result


def _each(
    sets: Iterable[SchemaFiles], names: Sequence[str], change: Callable[[SchemaSet, Sequence[Rpc]], Migration]
) -> MigrationResult:
    files: list[FileEdits] = []
    rows: list[MigrationRow] = []
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
        rows += [replace(row, directory=one.directory or ".") for row in found.rows]
    for name in names:
        if not {name, _base(name)} & known:
            raise UsageError(f"there is no RPC {name}{_meant(name, known)}")
    if not known and not broken:
        raise UsageError("there are no RPCs: name the directory that has the requests and responses, or some of them")
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


def _meant(name: str, known: Collection[str]) -> str:
    """What to write instead of a name that no RPC has."""
    file = os.path.basename(name)
    if file.endswith(".json") and _base(file.removesuffix(".json")) in known:
        return f": write {_base(file.removesuffix('.json'))}, and the directory as the set"
    return did_you_mean(_base(name), known)


def _is_named(rpc: Rpc, names: Sequence[str]) -> bool:
    return rpc.name in names or rpc.name in map(_base, names)


def _base(name: str) -> str:
    return name.removesuffix("Request").removesuffix("Response")
