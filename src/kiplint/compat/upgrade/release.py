"""When two releases can run in one cluster, as they do during a rolling upgrade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kiplint.compat.negotiation.sides import stable_versions
from kiplint.compat.roles import Mode, is_served, modes_of
from kiplint.compat.upgrade.result import Blocker, Direct
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.versions import VersionRange

DEFINITION = (
    "Two sets interoperate when, in a mode that both can run in (ZooKeeper or KRaft), the newer one still serves every "
    "RPC that the older one serves, in a version that both have; unstable versions do not count. A set with both modes "
    "can be migrated from ZooKeeper to KRaft where BrokerRegistration knows IsMigratingZkBroker (KIP-866)."
)

_BROKER_REGISTRATION: Final = 62

Served = Mapping[int, tuple[str, VersionRange]]
"""By API key: the name of an RPC and its stable versions."""


class Release(NamedTuple):
    """One schema set as a release: what it serves in each mode, everything live, and whether it can be migrated."""

    name: str
    served: Mapping[Mode, Served]
    live: Served
    says_listeners: bool
    migrates: bool


def make_release(name: str, schemas: SchemaSet) -> Release:
    """What a set serves, by mode.

    Where it says listeners, ZooKeeper mode is what `zkBroker` serves, and KRaft mode what `broker` and `controller`
    serve. A set without them (before 2.8) has one mode, in which it serves all that it enables: ZooKeeper when it has
    UpdateMetadata, else KRaft (see `compat.roles`).
    """
    rpcs = [rpc for rpc in schemas.rpcs if not rpc.is_coordinator and stable_versions(rpc)]
    live = {rpc.api_key: (rpc.name, stable_versions(rpc)) for rpc in rpcs}
    if not schemas.declares_listeners:
        return Release(name, dict.fromkeys(modes_of(schemas), live), live, says_listeners=False, migrates=False)
    served: dict[Mode, Served] = {
        mode: {rpc.api_key: live[rpc.api_key] for rpc in rpcs if is_served(rpc, schemas, mode, nodes=True)}
        for mode in modes_of(schemas)
    }
    return Release(name, served, live, says_listeners=True, migrates=len(served) == 2 and _migrates(rpcs))


def interoperate(old: Release, new: Release, mode: Mode) -> bool:
    """Whether brokers of both can run in one cluster of that mode: see `DEFINITION`."""
    if mode not in old.served or mode not in new.served:
        return False
    return next(blockers(old, new, mode, mode), None) is None


def blockers(old: Release, new: Release, old_mode: Mode, new_mode: Mode) -> Iterator[Blocker]:
    """The RPCs that the older set serves and the newer one does not, or in no common version.

    What a set serves that says no listeners is not known exactly: 2.7 has the RPCs of KRaft, and serves none of them.
    So from such a set, an RPC that the newer one has for another mode is not missed, as long as a version is common.
    """
    served = new.served[new_mode]
    for key, (name, versions) in sorted(old.served[old_mode].items()):
        there = served.get(key)
        if there is None and not old.says_listeners:
            there = new.live.get(key)
        if there is None:
            yield Blocker(name, key, "gone", str(versions), None)
        elif not versions & there[1]:
            yield Blocker(name, key, "no-common-version", str(versions), str(there[1]))


def direct(old: Release, new: Release) -> Direct:
    """The jump from one release to the other: in the mode where least is in the way.

    Without a common mode, the older one's last mode is held against the newer one's, so that the RPCs are named.
    """
    modes: tuple[Mode, ...] = tuple(mode for mode in old.served if mode in new.served)
    pairs: list[tuple[Mode, Mode]] = [(mode, mode) for mode in modes]
    if not pairs and old.served and new.served:
        pairs = [(list(old.served)[-1], list(new.served)[-1])]
    found = [tuple(blockers(old, new, *pair)) for pair in pairs]
    least = min(found, key=len, default=())
    return Direct(bool(modes) and not least, modes, least)


def in_mode(release: Release, mode: Mode | None) -> Release:
    """The release as it is in one mode, or as it is."""
    return release._replace(served={mode: release.served[mode]}) if mode else release


def _migrates(rpcs: list[Rpc]) -> bool:
    requests = (rpc.request for rpc in rpcs if rpc.api_key == _BROKER_REGISTRATION and rpc.request)
    return any(field.name == "IsMigratingZkBroker" and field.present for one in requests for field in one.fields)
