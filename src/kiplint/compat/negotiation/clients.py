"""Released clients: the versions that they send, as their own sources have it, and what they can use of brokers.

`clients.json` has a release on a line: the versions of each RPC; those sent on some path without negotiation
(`fixed`); short lists of which the highest fitting version is taken (`picks`); those of the default settings (`usual`);
those of a path where the paths differ (`paths`, measured at the release where it can be installed); and the files that
say so. It is read when a client is named.
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
from kiplint.compat.negotiation.negotiate import NamedSet, negotiate
from kiplint.compat.negotiation.result import Loss, Negotiation
from kiplint.compat.negotiation.sides import Habits, Need, Side, ranged_side
from kiplint.compat.roles import Mode
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.text.words import nearest
from kiplint.versions import VersionRange

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
    paths: Annotated[
        dict[str, dict[str, str]],
        Meta(description="By RPC: the versions on each path (producer, consumer, admin ...), where they differ."),
    ] = {}
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


JAVA = ("java", "kafka-clients", "apache-kafka-java", "kafka")
"""The usual name of Kafka's own client."""


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
        examples = f"{client}@{versions[-1]}; known are {', '.join(versions)}"
        missing = f"no release {version} of {client} is known" if version else f"{client} needs a release"
        raise UsageError(f"{missing}: name one such as {examples}")
    if client in JAVA:
        example = f"{version or '3.9.0'}:"
        raise UsageError(f"a Java client has the schemas of its Kafka release: name the set, such as {example}")
    close = nearest(client, client_names(), numbered=False)
    same = f"{close}@{version}"
    hint = f"did you mean {same if same in by_name else close}?" if close else f"known are {', '.join(client_names())}"
    raise UsageError(f"no client {client} is known; {hint}")


def releases_named(names: str) -> tuple[ClientRelease, ...]:
    """The releases in a list with commas, by client and version; `all`, or a client's name for all its releases.

    Raises UsageError.
    """
    words = [name.strip() for name in names.split(",") if name.strip()]
    if not words:
        raise UsageError("no client is named: name all, or releases such as librdkafka@2.8.0,sarama@1.42.1")
    for word in words:
        if word != "all" and word not in client_names():
            release_named(word)
    return tuple(release for release in releases() if not {"all", release.client, release.name}.isdisjoint(words))


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
    side = ranged_side(
        release.name, {keys[name]: VersionRange.of_text(text) for name, text in release.apis.items()}, known_rpcs()
    )
    offers = {
        key: offer._replace(
            fixed=VersionRange.of_text(release.fixed.get(offer.name, "")),
            picks=VersionRange.of_text(release.picks.get(offer.name, "")),
            usual=VersionRange.of_text(release.usual.get(offer.name, "")),
            paths={path: VersionRange.of_text(text) for path, text in release.paths.get(offer.name, {}).items()},
        )
        for key, offer in side.rpcs.items()
    }
    habits = Habits(release.note, release.negotiates, release.setting, release.ignores_lowest, release.needs)
    return Side(side.name, side.schemas, offers, habits=habits)


CORE = frozenset((
    "ApiVersions", "Metadata", "Produce", "Fetch", "ListOffsets", "FindCoordinator", "JoinGroup", "SyncGroup",
    "Heartbeat", "LeaveGroup", "OffsetCommit", "OffsetFetch",
))  # fmt: skip
"""The RPCs without which a client cannot produce, fetch, or use groups."""


class LostRpc(msgspec.Struct, frozen=True):
    """An RPC that a client cannot use with a broker that has it too, at least on some path."""

    name: str
    core: Annotated[bool, Meta(description="Without it a client cannot produce, fetch, or use groups.")]
    client: Annotated[str, Meta(description="The client's versions.")]
    unserved: Annotated[str, Meta(description="Only these versions are lost, which some path sends; else empty.")]
    message: str


class ClientUse(msgspec.Struct, frozen=True):
    """What a release of a client can do with a broker."""

    client: str
    version: str
    released: str | None
    status: Annotated[
        Literal["works", "core", "fails"],
        Meta(description="core: only RPCs are lost that are not core. fails: a core RPC is lost."),
    ]
    lost: tuple[LostRpc, ...]
    losses: Annotated[tuple[Loss, ...], Meta(description="What else it does not do; this does not change the status.")]

    @property
    def name(self) -> str:
        """The release, such as `librdkafka@2.8.0`."""
        return f"{self.client}@{self.version}"


class ClientCell(msgspec.Struct, frozen=True):
    """The releases of a client with a broker, oldest first."""

    broker: str
    lowest: Annotated[str | None, Meta(description="The lowest release that loses no core RPC; null without any.")]
    newest: Annotated[str | None, Meta(description="The newest such release.")]
    releases: tuple[ClientUse, ...]

    @property
    def failing_between(self) -> list[str]:
        """The releases between the lowest and the newest that lose a core RPC."""
        versions = [use.version for use in self.releases]
        if self.lowest is None or self.newest is None:
            return []
        between = self.releases[versions.index(self.lowest) : versions.index(self.newest)]
        return [use.version for use in between if use.status == "fails"]


class ClientRow(msgspec.Struct, frozen=True):
    """A client with each broker, in the order of the brokers."""

    client: str
    brokers: tuple[ClientCell, ...]


def use_of_clients(
    named_releases: Sequence[ClientRelease],
    brokers: Sequence[NamedSet],
    *,
    unstable: bool = False,
    mode: Mode | None = None,
) -> tuple[ClientRow, ...]:
    """What releases of clients can do with each broker. Raises UsageError for a mode that a broker lacks."""
    sides = [(release, released_side(release)) for release in named_releases]
    return tuple(
        ClientRow(client, tuple(_cell(broker, list(group), unstable, mode) for broker in brokers))
        for client, group in (
            (client, list(pairs)) for client, pairs in groupby(sides, key=lambda pair: pair[0].client)
        )
    )


def _cell(
    broker: NamedSet, sides: Sequence[tuple[ClientRelease, Side]], unstable: bool, mode: Mode | None
) -> ClientCell:
    uses = tuple(
        client_use(release, negotiate(side, [broker], unstable=unstable, mode=mode)) for release, side in sides
    )
    working = [use.version for use in uses if use.status != "fails"]
    return ClientCell(broker[0], working[0] if working else None, working[-1] if working else None, uses)


def client_use(release: ClientRelease, negotiation: Negotiation) -> ClientUse:
    """What a release can do with the brokers that it negotiates with."""
    lost_rpcs = tuple(
        LostRpc(
            row.name,
            row.name in CORE,
            row.client or "none",
            "" if row.usable == "none" else row.unserved,
            row.message,
        )
        for row in negotiation.rpcs
        if row.in_trouble
    )
    status: Literal["works", "core", "fails"] = (
        "fails" if any(rpc.core for rpc in lost_rpcs) else "core" if lost_rpcs else "works"
    )
    return ClientUse(release.client, release.version, release.released, status, lost_rpcs, negotiation.losses)
