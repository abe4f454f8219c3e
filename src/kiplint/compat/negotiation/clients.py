"""Released clients: the versions that they send, as their own sources have it, and what they can use of brokers.

`clients.json` has a release on a line: the versions of each RPC; those sent on some path without negotiation
(`fixed`); short lists of which the highest fitting version is taken (`picks`); those of the default settings (`usual`);
and the files that say so. It is read when a client is named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.negotiation.exchange import SOFTWARE
from kiplint.compat.negotiation.negotiate import Named, negotiate
from kiplint.compat.negotiation.result import Loss, Negotiation
from kiplint.compat.negotiation.sides import Habits, Need, Side, ranged_side
from kiplint.compat.roles import Mode
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.text.words import nearest
from kiplint.versions import NONE, VersionRange

Ranges = Annotated[dict[str, str], Meta(description="Versions by RPC.")]


class ClientRelease(msgspec.Struct, frozen=True, omit_defaults=True):
    """A release of a client, and the versions that it sends."""

    client: str
    version: str
    released: Annotated[str | None, Meta(description="Year and month, null where unknown.")]
    apis: Ranges
    source: Annotated[tuple[str, ...], Meta(description="The files of the client that have the versions.")]
    negotiates: Annotated[bool, Meta(description="It chooses by the answer to ApiVersions.")] = True
    ignores_lowest: Annotated[bool, Meta(description="It does not look at a broker's lowest version.")] = False
    setting: Annotated[str, Meta(description="The setting that limits or decides its versions, with the default.")] = ""
    fixed: Annotated[dict[str, str], Meta(description="Versions that some path sends without negotiation.")] = {}
    picks: Annotated[
        dict[str, str], Meta(description="Lists; a path uses the highest that is not above the broker's highest.")
    ] = {}
    usual: Annotated[dict[str, str], Meta(description="The versions that the default settings send.")] = {}
    needs: Annotated[tuple[Need, ...], Meta(description="What it does only where a broker lists a version.")] = ()
    note: str = ""

    @property
    def name(self) -> str:
        """The release as a CLIENT argument names it, such as `librdkafka@2.8.0`."""
        return f"{self.client}@{self.version}"


class _ClientsFile(msgspec.Struct, frozen=True):
    rpcs: dict[str, tuple[int, str]]
    """API key and flexible versions."""
    releases: tuple[ClientRelease, ...]


@cache
def _file() -> _ClientsFile:
    with open(os.path.join(os.path.dirname(__file__), "clients.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=_ClientsFile)


def releases() -> tuple[ClientRelease, ...]:
    """All known releases, by client and version."""
    return _file().releases


def client_names() -> dict[str, None]:
    """The names of the clients."""
    return dict.fromkeys(release.client for release in releases())


def release_named(name: str) -> ClientRelease:
    """The release of that name, such as `librdkafka@2.8.0`. Raises UsageError."""
    by_name = {release.name: release for release in releases()}
    if name in by_name:
        return by_name[name]
    client, _, version = name.partition("@")
    versions = [release.version for release in releases() if release.client == client]
    if versions:
        known = f"{client}@{versions[-1]}; known are {', '.join(versions)}"
        missing = f"no release {version} of {client} is known" if version else f"{client} needs a release"
        raise UsageError(f"{missing}: name one such as {known}")
    close = nearest(client, client_names(), numbered=False)
    same = f"{close}@{version}"
    hint = f"did you mean {same if same in by_name else close}?" if close else f"known are {', '.join(client_names())}"
    raise UsageError(f"no client {client} is known; {hint}")


def releases_named(names: str) -> tuple[ClientRelease, ...]:
    """The releases in a list with commas; `all`, or a client's name for all its releases. Raises UsageError."""
    named = [name.strip() for name in names.split(",") if name.strip()]
    if not named:
        raise UsageError("no client is named: name all, or releases such as librdkafka@2.8.0,sarama@1.42.1")
    chosen: dict[str, ClientRelease] = {}
    for name in named:
        fitting = [release for release in releases() if name in ("all", release.client)] or [release_named(name)]
        chosen |= {release.name: release for release in fitting}
    return tuple(chosen.values())


def known_rpcs() -> SchemaSet:
    """A set of the RPCs that clients send: names, flexible versions, and what ApiVersions tells of the client.

    The fields of other messages are not in it. ClientSoftwareName and -Version come from KIP-511.
    """
    return SchemaSet(tuple(message for name in _file().rpcs for message in _halves(name)))


def _halves(name: str) -> Iterable[Message]:
    key, flexible = _file().rpcs[name]
    software = [FieldSpec(name=field, type="string", versions="3+") for field in SOFTWARE]
    fields = software if name == "ApiVersions" else []
    common: dict[str, Any] = {"valid_versions": "0+", "api_key": key, "flexible_versions": flexible}
    yield Message(MessageSpec(name=f"{name}Request", type="request", fields=fields, **common))
    yield Message(MessageSpec(name=f"{name}Response", type="response", fields=[], **common))


def released_side(release: ClientRelease) -> Side:
    """A released client as a side of a connection; header versions come from `known_rpcs`."""
    keys = {name: key for name, (key, _) in _file().rpcs.items()}
    side = ranged_side(release.name, {keys[name]: _versions(text) for name, text in release.apis.items()}, known_rpcs())
    offers = {
        key: offer._replace(
            fixed=_versions(release.fixed.get(offer.name, "")),
            picks=_versions(release.picks.get(offer.name, "")),
            usual=_versions(release.usual.get(offer.name, "")),
        )
        for key, offer in side.rpcs.items()
    }
    habits = Habits(release.note, release.negotiates, release.setting, release.ignores_lowest, release.needs)
    return Side(side.name, side.schemas, offers, habits=habits)


def _versions(text: str) -> VersionRange:
    parts = (VersionRange.parse(part) for part in text.split(", ") if part)
    return VersionRange(interval for part in parts for interval in part.intervals) if text else NONE


class LostRpc(msgspec.Struct, frozen=True):
    """An RPC that a client cannot use with brokers that have it too, at least on some path."""

    name: str
    client: Annotated[str, Meta(description="The client's versions.")]
    unserved: Annotated[str, Meta(description="Only these versions are lost, which some path sends; else empty.")]
    message: str


class ClientUse(msgspec.Struct, frozen=True):
    """What a release of a client can do with brokers."""

    client: str
    version: str
    released: str | None
    status: Annotated[
        Literal["works", "limited", "refused"],
        Meta(description="limited: RPCs are lost. refused: without Metadata, or with neither Produce nor Fetch."),
    ]
    lost: tuple[LostRpc, ...]
    losses: Annotated[tuple[Loss, ...], Meta(description="What else it does not do; this does not change the status.")]

    @property
    def brief(self) -> list[str]:
        """What is lost, in a few words each; an asterisk marks RPCs that lose only one path."""
        rpcs = [f"{rpc.name} {rpc.unserved}*" if rpc.unserved else f"{rpc.name} {rpc.client}" for rpc in self.lost]
        return [*rpcs, *(loss.what for loss in self.losses)]


class ClientRow(msgspec.Struct, frozen=True):
    """A client, and the first of the known releases from which on all work."""

    client: str
    works_from: str | None
    releases: tuple[ClientUse, ...]


def use_of_clients(
    chosen: Sequence[ClientRelease], brokers: Sequence[Named], *, unstable: bool = False, mode: Mode | None = None
) -> tuple[ClientRow, ...]:
    """What releases of clients can do with all of the brokers. Raises UsageError for a mode that a broker lacks."""
    uses = [
        client_use(release, negotiate(released_side(release), brokers, unstable=unstable, mode=mode))
        for release in chosen
    ]
    groups = groupby(sorted(uses, key=lambda use: use.client), key=lambda use: use.client)
    return tuple(_row(client, tuple(group)) for client, group in groups)


def _row(client: str, uses: tuple[ClientUse, ...]) -> ClientRow:
    last = max((number for number, use in enumerate(uses) if use.status != "works"), default=-1)
    return ClientRow(client, uses[last + 1].version if last + 1 < len(uses) else None, uses)


def client_use(release: ClientRelease, negotiation: Negotiation) -> ClientUse:
    """What a release can do with all of the brokers that it negotiates with."""
    rows = [row for row in negotiation.rpcs if row.in_trouble]
    lost = tuple(
        LostRpc(row.name, row.client or "none", "" if row.usable == "none" else row.unserved, row.message)
        for row in rows
    )
    gone = {rpc.name for rpc in lost if not rpc.unserved}
    refused = "Metadata" in gone or gone >= {"Produce", "Fetch"}
    status: Literal["works", "limited", "refused"] = "refused" if refused else "limited" if lost else "works"
    return ClientUse(release.client, release.version, release.released, status, lost, negotiation.losses)
