"""How far one RPC is in a rollout: what is wrong with it, and if nothing is, what is still missing (KIP-1313)."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from kiplint.compat.changes.messages import released_versions
from kiplint.compat.standing import DIFFERENT, FROZEN, HALVES, IDENTITY, MISSING, MOVED, OFFSETS, Broken, Standing
from kiplint.engine.finding import Severity
from kiplint.model.header_map import header_map, header_of
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.versions import NONE, VersionRange

Adoption = Literal["done", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: tuple[Adoption, ...] = ("done", "missing", "wrong", "new", "exempt", "dead")

INSTANCE_ID: Final = "ClientInstanceId"
WITH_ID: Final = 3
"""The first request header that carries the client instance id."""
CHANGED_BY_KIP: Final = frozenset({"OffsetDelete", "GetTelemetrySubscriptions", "PushTelemetry"})
"""The RPCs whose bodies the KIP changes together with the header."""


class Found(NamedTuple):
    """How far an RPC is, why, by which rule, the message and the JSON pointer to look at, and what else to know."""

    status: Adoption
    said: str
    rule: str = ""
    severity: Severity = "error"
    culprit: Message | None = None
    wanted: str = ""
    note: str = ""


def found_wrong(standing: Standing, rpc: Rpc, base: Rpc | None) -> Found | None:
    """What is wrong with an RPC, by the rule that counts first; None where nothing is."""
    frozen = standing.frozen(rpc)
    if frozen is not None and rpc.is_dead and base and not base.is_dead and standing.asks(FROZEN):
        said = f"{rpc.name} is frozen at versions {frozen} and must stay; it has no valid version any more"
        return Found("wrong", said, FROZEN, standing.severity(FROZEN), rpc.request or rpc.response, "validVersions")
    for broken in standing.of(rpc):
        half, wanted = broken.half, "validVersions"
        if broken.rule == FROZEN and frozen is not None:
            wanted = "validVersions" if half.valid - frozen else "headerVersions"
            bumped = f"is frozen at versions {frozen} and must never be bumped; it has {half.valid}"
            said = f"{half.name} {bumped if half.valid - frozen else 'is frozen with header'}"
            said += "" if half.valid - frozen else f" {1 if half.type == 'request' else 0}"
        elif frozen is not None or rpc.is_dead:
            return None
        elif broken.rule == MISSING:
            continue
        elif broken.rule in HALVES:
            said, wanted = f"there is no {'response' if rpc.request else 'request'}", "apiKey"
        else:
            said, wanted = _told(broken, rpc)
        return Found("wrong", said, broken.rule, broken.severity, half, wanted)
    return None if frozen is not None or rpc.is_dead else _second_header(standing, rpc, base)


def _told(broken: Broken, rpc: Rpc) -> tuple[str, str]:
    """What to say of a broken rule, and where to look; most speak for themselves."""
    if broken.rule in MOVED:
        said = f"{broken.half.name} {broken.versions} is released and was moved to another header"
        return f"{said}; give the header to a new version", "headerVersions"
    if broken.rule == DIFFERENT:
        return f"{_difference(rpc)}; bump the two together", "validVersions"
    return broken.said, broken.pointer


def _difference(rpc: Rpc) -> str:
    request, response = (half.valid if half else NONE for half in (rpc.request, rpc.response))
    if request.highest != response.highest:
        return f"the request ends at version {request.highest}, the response at {response.highest}"
    return f"the request has versions {request}, the response {response}"


def _second_header(standing: Standing, rpc: Rpc, base: Rpc | None) -> Found | None:
    """OffsetDelete with request header 2, declared or derived, where the base does not have it so already."""
    request = rpc.request
    if rpc.name != "OffsetDelete" or request is None or not standing.asks(OFFSETS):
        return None
    released = base.request if base and standing.has_base else None
    versions = _behind(request, 2) - (_behind(released, 2) if released else NONE)
    if not versions:
        return None
    said = f"{rpc.name} {versions} uses request header 2, which it never has: its first flexible version has header 3"
    wanted = "headerVersions" if request.says_headers else "flexibleVersions"
    return Found("wrong", said, OFFSETS, standing.severity(OFFSETS), request, wanted)


def _behind(message: Message, header: int) -> VersionRange:
    found = NONE
    for versions, number in header_map(message):
        found |= versions if number == header else NONE
    return found


def progress(standing: Standing, head: SchemaSet, rpc: Rpc, base: Rpc | None, header: int) -> Found:
    """How far an RPC is that has nothing wrong."""
    request, frozen = rpc.request, standing.frozen(rpc)
    if frozen is not None:
        return Found("exempt", f"frozen at versions {frozen}: it never carries the client instance id")
    if rpc.is_dead:
        return Found("dead", "no valid version is left")
    if request is None or standing.exempt(rpc):
        return Found("exempt", "exempt" if request else "there is no request")
    if standing.has_base and base is None:
        first = header_of(request, request.valid.lowest)
        if first >= header or not standing.asks(MISSING):
            said = f"new, with header {first} from version {request.valid.lowest}"
            return _without_id(standing, head, first) or Found("new", said)
        said = f"is new, but version {request.valid.lowest} uses header {first}; start with header {header}"
        return _missing(standing, request, f"{rpc.name} {said}", "headerVersions")
    latest = request.valid.highest
    uses = header_of(request, latest)
    if not standing.asks(MISSING):
        return Found("done", f"version {latest} uses header {uses}")
    if uses < header:
        return _behind_others(standing, rpc, request, base, header)
    offered = released_versions(request)
    if offered and header_of(request, offered.highest) < header:
        said = f"version {latest} uses header {uses}, but it is unstable, and no broker offers it"
        return _missing(standing, request, said, "latestVersionUnstable")
    note = _note(rpc, header)
    said = f"version {latest} uses header {uses}" + (f"; {note}" if note else "")
    return _without_id(standing, head, uses) or Found("done", said, note=note)


def _behind_others(standing: Standing, rpc: Rpc, request: Message, base: Rpc | None, header: int) -> Found:
    old, latest = base.request if base else None, request.valid.highest
    released = released_versions(old).highest if old is not None and old is not request else -1
    bump = f"bump it to {max(released, latest) + 1} with header {header}"
    said = f"the latest version of {rpc.name} ({latest}) uses header {header_of(request, latest)}; {bump}"
    return _missing(standing, request, said, "headerVersions" if request.says_headers else "validVersions")


def _missing(standing: Standing, request: Message, said: str, wanted: str) -> Found:
    return Found("missing", said, MISSING, standing.severity(MISSING), request, wanted)


def _without_id(standing: Standing, head: SchemaSet, header: int) -> Found | None:
    """What the request header itself lacks, where an RPC uses one that is to carry the client instance id."""
    if header < WITH_ID or not standing.asks(IDENTITY):
        return None
    message, severity, broken = head.request_header, standing.severity(IDENTITY), standing.of_header
    if message is None:
        said = f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}"
        return Found("missing", said, IDENTITY, severity, wanted="headerVersions")
    if not message.valid.covers(header):
        said = f"it uses header {header}, but RequestHeader has versions {message.valid} only"
        return Found("missing", said, IDENTITY, severity, message, "validVersions")
    if broken is None:
        return None
    return Found("wrong", f"it uses header {header}, but {broken.said}", IDENTITY, severity, message, broken.pointer)


def _note(rpc: Rpc, header: int) -> str:
    """What else comes with the first version that has the header, where the KIP changes the header alone."""
    request = rpc.request
    first = next((versions.lowest for versions, number in header_map(request) if number >= header), 0) if request else 0
    if first == 0 or rpc.name in CHANGED_BY_KIP:
        return ""
    parts = []
    for half in (request, rpc.response):
        names = [one.path for one in half.all_fields if one.present and one.versions.lowest == first] if half else []
        if half and names:
            parts.append(f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''} in the {half.type}")
    return f"note: version {first} also brings {' and '.join(parts)}, which KIP-1313 does not" if parts else ""
