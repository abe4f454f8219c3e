"""Migrating sets: reading them, changing their RPCs, and what is to be told of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.fixes.bump import bump
from kiplint.fixes.kip1313 import migrate
from kiplint.fixes.new_field import BadField, NewField
from kiplint.fixes.new_rpc import BadName, new_rpc
from kiplint.fixes.result import FileEdits, Migration, Row
from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.runs.changing import Change
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.suggest import did_you_mean


class Migrated(msgspec.Struct, frozen=True):
    """What a migration of several sets came to; `broken` are the definitions that could not be read."""

    files: tuple[FileEdits, ...]
    rows: tuple[Row, ...]
    broken: tuple[str, ...] = ()

    @property
    def change(self) -> Change:
        """The files before and after."""
        return Change({one.path: one.before for one in self.files}, {one.path: one.after for one in self.files})

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left to a person."""
        return not self.broken and all(row.state != "left" for row in self.rows)


def migrate_sets(
    sets: Iterable[SchemaFiles], only: Sequence[str], *, only_declare: bool = False, tagged: bool = False
) -> Migrated:
    """Bring the sets with RPCs to KIP-1313; of files that were named one by one, the RPCs that they are halves of."""

    def change(schemas: SchemaSet, wanted: Sequence[Rpc]) -> Migration:
        names = {rpc.name for rpc in wanted}
        return migrate(schemas, only=names, only_declare=only_declare, tagged=tagged) if names else Migration()

    return _each(sets, only, change)


def bump_sets(
    sets: Iterable[SchemaFiles],
    names: Sequence[str],
    fields: Sequence[str],
    entities: dict[str, str],
    *,
    unstable: bool = False,
    note: str = "",
) -> Migrated:
    """Give RPCs a new version; the fields go into the only one, or into those that they name."""
    try:
        wanted = [NewField.parse(one) for one in fields]
        if any(not one.message for one in wanted) and len(set(names)) > 1:
            raise BadField(f"{fields[0]!r} does not say which RPC it is for: write FetchRequest.{fields[0]}")

        def change(_: SchemaSet, rpcs: Sequence[Rpc]) -> Migration:
            if not rpcs:
                return Migration()
            halves = {rpc.name: {half.name for half in (rpc.request, rpc.response) if half} for rpc in rpcs}
            known = set().union(*halves.values())
            if strange := next((one.message for one in wanted if one.message and one.message not in known), ""):
                raise BadField(f"{strange} is no half of an RPC to bump{did_you_mean(strange, known)}")
            found = []
            for rpc in rpcs:
                mine = [one for one in wanted if not one.message or one.message in halves[rpc.name]]
                found.append(bump(rpc, fields=mine, unstable=unstable, note=note, entities=entities))
            return Migration(
                tuple(file for one in found for file in one.files), tuple(row for one in found for row in one.rows)
            )

        return _each(sets, names, change)
    except BadField as error:
        raise UsageError(str(error)) from None


def new_files(
    sets: Iterable[SchemaFiles], name: str, *, api_key: int | None, listeners: Sequence[str], unstable: bool
) -> dict[str, bytes]:
    """The request and response of a new RPC, by the paths at which they are to be written.

    They go into the set that has RPCs; raises UsageError when there are several, and for a name or key that is taken.
    """
    found = [(one, _schemas(one)[0]) for one in sets]
    with_rpcs = [(one, schemas) for one, schemas in found if _rpcs(schemas)] or found
    if len(with_rpcs) > 1:
        listed = ", ".join(one.directory or "." for one, _ in with_rpcs)
        raise UsageError(f"several directories have requests ({listed}): name the one that the new RPC is for")
    one, schemas = with_rpcs[0]
    try:
        files = new_rpc(name, schemas, api_key=api_key, listeners=listeners, unstable=unstable)
    except BadName as error:
        raise UsageError(str(error)) from None
    return {os.path.join(one.directory, file): data for file, data in files.items()}


def _each(
    sets: Iterable[SchemaFiles], names: Sequence[str], change: Callable[[SchemaSet, Sequence[Rpc]], Migration]
) -> Migrated:
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
    return Migrated(tuple(files), tuple(rows), tuple(broken))


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
