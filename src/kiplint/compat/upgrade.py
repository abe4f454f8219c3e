"""The shortest rolling upgrade from one release to another, as `kiplint upgrade-path` reports it.

In the result, which is the JSON output, version ranges are text in Kafka's notation; fields are only ever added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from kiplint.compat.change import Both
from kiplint.compat.compare import deprecation_changes, listener_changes
from kiplint.compat.kinds import ListenerRemoved
from kiplint.compat.negotiation.sides import stable_versions
from kiplint.compat.roles import Mode, is_between_nodes, is_served, modes_of
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.versions import VersionRange


class Blocker(msgspec.Struct, frozen=True):
    """An RPC that keeps two sets from running in one cluster."""

    name: str
    api_key: int
    kind: Annotated[
        Literal["no-common-version", "gone"], Meta(description="gone: the newer set no longer serves the RPC.")
    ]
    old: Annotated[str, Meta(description="The versions that the older set serves.")]
    new: Annotated[str | None, Meta(description="The versions that the newer set serves, null when it serves none.")]
    listeners: Annotated[
        tuple[str, ...],
        Meta(description="The listeners that no longer serve the RPC in the newer set, if it keeps the RPC."),
    ] = ()


class Direct(msgspec.Struct, frozen=True):
    """Whether one roll between two sets is `possible`, and the RPCs that prevent it."""

    possible: bool
    modes: Annotated[tuple[Mode, ...], Meta(description="The modes that both sets can run in.")]
    blockers: tuple[Blocker, ...]


class StepChange(msgspec.Struct, frozen=True):
    """What an upgrade changes for those who send an RPC: its listeners in the mode of the step, deprecated versions."""

    name: str
    api_key: int
    kind: Annotated[
        str,
        Meta(description="listener-removed, listener-added, deprecated or undeprecated, as in `kiplint diff`."),
    ]
    breaks: Annotated[Literal["support", "none"], Meta(description="support: a listener no longer answers the RPC.")]
    versions: Annotated[str, Meta(description="The versions that the change is about.")]
    listeners: Annotated[tuple[str, ...], Meta(description="The listeners that were added or removed.")] = ()


class Step(msgspec.Struct, frozen=True):
    """One roll through the cluster: an upgrade of the software, or a migration from ZooKeeper to KRaft."""

    kind: Literal["upgrade", "migrate"]
    source: Annotated[str, Meta(description="The set before the step.")]
    target: Annotated[str, Meta(description="The set after the step; the same for a migration.")]
    mode: Annotated[Mode, Meta(description="The mode the cluster runs in, after a migration the new one.")]
    changes: Annotated[tuple[StepChange, ...], Meta(description="What the step changes for clients, by API key.")] = ()


class LeftBehind(msgspec.Struct, frozen=True):
    """A released client on the path: from which step on it loses RPCs that it could use before."""

    client: Annotated[str, Meta(description="The release, such as librdkafka@2.8.0.")]
    step: Annotated[int | None, Meta(description="The number of the step, from 1; null where it is never left behind.")]
    release: Annotated[str, Meta(description="The set after that step, or empty.")] = ""
    status: Annotated[
        Literal["works", "limited", "refused"], Meta(description="What it can do at the end of the path.")
    ] = "works"
    lost: Annotated[tuple[str, ...], Meta(description="The RPCs that it loses with that step.")] = ()


class UpgradePath(msgspec.Struct, frozen=True):
    """What `kiplint upgrade-path --output-format json` writes."""

    version: Literal[1]
    source: str
    target: str
    found: Annotated[bool, Meta(description="Whether there is a path.")]
    path: Annotated[tuple[str, ...], Meta(description="The sets on the way, both ends included; empty without one.")]
    steps: tuple[Step, ...]
    direct: Annotated[Direct, Meta(description="The jump from one end to the other.")]
    furthest: Annotated[str, Meta(description="Without a path: the last set that can be reached.")] = ""
    mode: Annotated[
        Mode | None, Meta(description="The mode at first; null without a path, or if no mode was given.")
    ] = None
    assumed: Annotated[bool, Meta(description="FROM can run in both modes; `mode` is the mode of the path.")] = False
    clients: Annotated[tuple[LeftBehind, ...], Meta(description="The released clients of --clients.")] = ()


DEFINITION = (
    "Two sets interoperate when, in a mode that both can run in (ZooKeeper or KRaft), the newer one still serves every "
    "RPC that the older one serves, in a version that both have; unstable versions do not count. A set with both modes "
    "can be migrated from ZooKeeper to KRaft where BrokerRegistration knows IsMigratingZkBroker (KIP-866)."
)

_BROKER_REGISTRATION: Final = 62

Served = Mapping[int, tuple[str, VersionRange]]
"""The name of an RPC and its stable versions, by API key."""


class UpgradeRelease(NamedTuple):
    """A schema set as a release: the RPCs that it serves by mode, all live RPCs, and whether it can be migrated.

    `requests` are the requests of the live RPCs, by API key.
    """

    name: str
    served: Mapping[Mode, Served]
    live: Served
    declares_listeners: bool
    migrates: bool
    requests: Mapping[int, Message] = {}


def make_release(name: str, schemas: SchemaSet) -> UpgradeRelease:
    """A release from a schema set.

    With listeners, `zkBroker` serves in ZooKeeper mode, `broker` and `controller` in KRaft mode. A set without
    listeners (before 2.8) has a single mode, in which it serves all that it enables: ZooKeeper if it has
    UpdateMetadata, else KRaft (see `compat.roles`).
    """
    rpcs = [rpc for rpc in schemas.rpcs if not rpc.is_coordinator and stable_versions(rpc)]
    served: dict[Mode, Served]
    live = {rpc.api_key: (rpc.name, stable_versions(rpc)) for rpc in rpcs}
    requests = {rpc.api_key: rpc.request for rpc in rpcs if rpc.request}
    if not schemas.declares_listeners:
        served = dict.fromkeys(modes_of(schemas), live)
        return UpgradeRelease(name, served, live, declares_listeners=False, migrates=False, requests=requests)
    served = {
        mode: {rpc.api_key: live[rpc.api_key] for rpc in rpcs if is_served(rpc, schemas, mode, nodes=True)}
        for mode in modes_of(schemas)
    }
    migrates = len(served) == 2 and _migrates(rpcs)
    return UpgradeRelease(name, served, live, declares_listeners=True, migrates=migrates, requests=requests)


def interoperate(old: UpgradeRelease, new: UpgradeRelease, mode: Mode) -> bool:
    """Whether brokers of both can run in one cluster of the mode: see `DEFINITION`."""
    if mode not in old.served or mode not in new.served:
        return False
    return next(blockers(old, new, mode, mode), None) is None


def blockers(old: UpgradeRelease, new: UpgradeRelease, old_mode: Mode, new_mode: Mode) -> Iterator[Blocker]:
    """The RPCs that the older set serves, and the newer set does not serve, or in no common version.

    What a set without listeners serves is not known exactly: 2.7 has the RPCs of KRaft, and serves none of them. An RPC
    of such a set may therefore be served in any mode of the newer set, if a version is common.
    """
    served = new.served[new_mode]
    for key, (name, versions) in sorted(old.served[old_mode].items()):
        there = served.get(key)
        if there is None and not old.declares_listeners:
            there = new.live.get(key)
        if there is None:
            yield Blocker(name, key, "gone", str(versions), None, _lost_listeners(old, new, key))
        elif not versions & there[1]:
            yield Blocker(name, key, "no-common-version", str(versions), str(there[1]))


def _lost_listeners(old: UpgradeRelease, new: UpgradeRelease, key: int) -> tuple[str, ...]:
    """The listeners that no longer serve an RPC, where both sets have it and declare listeners."""
    if key not in old.requests or key not in new.requests:
        return ()
    changes = listener_changes(Both(old.requests[key], new.requests[key]))
    return next((change.listeners for change in changes if isinstance(change, ListenerRemoved)), ())


def step_changes(old: UpgradeRelease, new: UpgradeRelease, mode: Mode) -> Iterator[StepChange]:
    """What an upgrade in one mode changes for clients: see `StepChange`.

    A listener counts in the mode that it belongs to, for an RPC that is served there. Deprecated versions of RPCs
    between brokers and controllers concern no client.
    """
    for key, before in sorted(old.requests.items()):
        after = new.requests.get(key)
        if after is None:
            continue
        both, name = Both(before, after), after.rpc_name
        for change in listener_changes(both) if key in old.served[mode] or key in new.served[mode] else ():
            if listeners := tuple(word for word in change.listeners if (word == "zkBroker") == (mode == "zookeeper")):
                removed = isinstance(change, ListenerRemoved)
                breaks: Literal["support", "none"] = "support" if removed else "none"
                yield StepChange(name, key, change.name, breaks, str(change.versions), listeners)
        for deprecation in () if is_between_nodes(key, name) else deprecation_changes(both):
            yield StepChange(name, key, deprecation.name, "none", str(deprecation.versions))


def direct(old: UpgradeRelease, new: UpgradeRelease) -> Direct:
    """The direct jump from one release to the other, in the mode with the fewest blockers.

    Without a common mode, the last modes of both are compared, so that the RPCs are named.
    """
    modes: tuple[Mode, ...] = tuple(mode for mode in old.served if mode in new.served)
    pairs: list[tuple[Mode, Mode]] = [(mode, mode) for mode in modes]
    if not pairs and old.served and new.served:
        pairs = [(list(old.served)[-1], list(new.served)[-1])]
    least = min((tuple(blockers(old, new, *pair)) for pair in pairs), key=len, default=())
    return Direct(bool(modes) and not least, modes, least)


def in_mode(release: UpgradeRelease, mode: Mode | None) -> UpgradeRelease:
    """The release with one mode alone; unchanged without a mode."""
    return release._replace(served={mode: release.served[mode]}) if mode else release


def _migrates(rpcs: list[Rpc]) -> bool:
    requests = (rpc.request for rpc in rpcs if rpc.api_key == _BROKER_REGISTRATION and rpc.request)
    return any(
        field.name == "IsMigratingZkBroker" and field.present for request in requests for field in request.fields
    )


Stop = tuple[int, Mode]
"""A state of the cluster on the way: the position of its release in the list, and its mode."""


def upgrade_path(releases: Sequence[UpgradeRelease], mode: Mode | None = None) -> UpgradePath:
    """The path from the first release to the last, through the releases between them, oldest first.

    It has the fewest steps; of several such paths, each step goes as far ahead as possible. `mode` is the mode of the
    cluster at first, by default any that the first release can run in.
    """
    graph = make_graph(releases)
    distances: dict[Stop, int] = {}
    for stop in reversed(graph):  # what leads on from a state comes after it
        steps = [distances[place] + 1 for place in graph[stop] if place in distances]
        if stop[0] == len(releases) - 1:
            distances[stop] = 0
        elif steps:
            distances[stop] = min(steps)
    starts: list[Stop] = [(0, start) for start in releases[0].served if mode in (None, start)]
    reached = [place for place in starts if place in distances]
    places = _walk(graph, distances, min(reached, key=lambda place: distances[place])) if reached else []
    furthest = -1 if places else max(_reachable(graph, starts), default=0)
    return UpgradePath(
        version=1,
        source=releases[0].name,
        target=releases[-1].name,
        found=bool(places),
        path=tuple(dict.fromkeys(releases[index].name for index, _ in places)),
        steps=tuple(_step(releases, *pair) for pair in pairwise(places)),
        direct=direct(in_mode(releases[0], mode), releases[-1]),
        furthest=releases[furthest].name if furthest >= 0 else "",
        mode=places[0][1] if places else mode,
        assumed=mode is None and len(starts) > 1,
    )


def make_graph(releases: Sequence[UpgradeRelease]) -> dict[Stop, list[Stop]]:
    """By state, in the order of releases and modes: where one upgrade that is possible, or a migration, leads."""
    known: dict[str, UpgradeRelease] = {}
    alike = [known.setdefault(repr(release[1:-1]), release) for release in releases]  # patch releases are mostly equal

    @cache
    def fit(old: int, new: int, mode: Mode) -> bool:
        return interoperate(*pair[old, new], mode)

    pair = {(id(old), id(new)): (old, new) for old in alike for new in alike}
    graph: dict[Stop, list[Stop]] = {}
    for index, mode in [(index, mode) for index, release in enumerate(releases) for mode in release.served]:
        later = range(index + 1, len(releases))
        graph[index, mode] = [(other, mode) for other in later if fit(id(alike[index]), id(alike[other]), mode)]
        if mode == "zookeeper" and releases[index].migrates:
            graph[index, mode].append((index, "kraft"))
    return graph


def _walk(graph: Mapping[Stop, Sequence[Stop]], distances: Mapping[Stop, int], start: Stop) -> list[Stop]:
    places = [start]
    while distances[places[-1]]:
        here = places[-1]
        nearer = [place for place in graph[here] if distances.get(place, -1) == distances[here] - 1]
        places.append(max(nearer))
    return places


def _reachable(graph: Mapping[Stop, Sequence[Stop]], starts: Sequence[Stop]) -> set[int]:
    reached = {*starts}
    for stop in graph:
        reached.update(graph[stop] if stop in reached else ())
    return {index for index, _ in reached}


def _step(releases: Sequence[UpgradeRelease], before: Stop, after: Stop) -> Step:
    old, new, mode = releases[before[0]], releases[after[0]], after[1]
    if before[1] != mode:
        return Step("migrate", old.name, new.name, mode)
    return Step("upgrade", old.name, new.name, mode, tuple(step_changes(old, new, mode)))
