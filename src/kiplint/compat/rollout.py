"""How far a new request header is rolled out: one row for each RPC (KIP-1313, Kafka Protocol Changes)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from kiplint.compat.changes.messages import released_versions
from kiplint.model.header_map import header_map, header_of
from kiplint.model.message import Message
from kiplint.model.rpc import FROZEN, Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.text.show import printable
from kiplint.versions import NONE, VersionRange, boundaries

Status = Literal["done", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: tuple[Status, ...] = ("done", "missing", "wrong", "new", "exempt", "dead")


class Row(msgspec.Struct, frozen=True):
    """One RPC: its versions in the base and the head, its request headers, and how far it is.

    `rule` is the rule that it breaks, empty when none; `file` and `wanted` say where to look.
    """

    name: str
    api_key: int
    status: Status
    base_versions: str
    versions: str
    header_versions: dict[str, int]
    message: str
    rule: str = ""
    file: str = ""
    wanted: str = ""
    message_name: str = ""


def rollout(head: SchemaSet, base: SchemaSet | None = None, header: int = 3) -> list[Row]:
    """The rows of all RPCs of the head, and of those of the base that are gone, by name."""
    before = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
    rpcs = [rpc for rpc in head.rpcs if not rpc.is_coordinator]
    rows = [_row(rpc, before.get(rpc.api_key) if base else rpc, header, is_new=bool(base)) for rpc in rpcs]
    there = {rpc.api_key for rpc in rpcs}
    rows += [_gone(rpc) for key, rpc in before.items() if key not in there]
    return sorted(rows, key=lambda row: row.name)


def summary(rows: Sequence[Row]) -> dict[Status, int]:
    """How many RPCs there are of each status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


def _row(rpc: Rpc, base: Rpc | None, header: int, *, is_new: bool) -> Row:
    request, response = rpc.request, rpc.response
    old = base.request if base else None
    status, said, rule, culprit, wanted = _judged(rpc, base, header, is_new=is_new and base is None)
    at = culprit or request or response
    return Row(
        name=printable(rpc.name),
        api_key=rpc.api_key,
        status=status,
        base_versions=str(old.valid) if old and is_new else "",
        versions=str(request.valid) if request else "none",
        header_versions={str(versions): number for versions, number in header_map(request)} if request else {},
        message=printable(said),
        rule=rule,
        file=at.file if at else "",
        wanted=wanted,
        message_name=printable(at.name) if at else "",
    )


_Judged = tuple[Status, str, str, Message | None, str]


def _judged(rpc: Rpc, base: Rpc | None, header: int, *, is_new: bool) -> _Judged:
    request, response = rpc.request, rpc.response
    frozen = FROZEN.get(rpc.name)
    if frozen is not None:
        return _frozen(rpc, frozen)
    if rpc.is_dead:
        return "dead", "no valid version is left", "", None, ""
    if request is None or response is None:
        what = "request" if request is None else "response"
        return "wrong", f"there is no {what}", f"rpc/{what}-missing", None, "apiKey"
    for half, before in ((request, base.request if base else None), (response, base.response if base else None)):
        moved = _remapped(before, half) if before is not None else NONE
        if moved:
            said = f"{half.name} {moved} is released and was moved to another header; give the header to a new version"
            return "wrong", said, "kip-1313/v3-on-released", half, "headerVersions"
    if response.valid.highest != request.valid.highest:
        lag = rpc.lagging
        said = f"the request ends at version {request.valid.highest}, the response at {response.valid.highest}"
        return "wrong", f"{said}; bump the two together", "rpc/versions-differ", lag, "validVersions"
    return _progress(rpc, request, base, header, is_new=is_new)


def _progress(rpc: Rpc, request: Message, base: Rpc | None, header: int, *, is_new: bool) -> _Judged:
    latest = request.valid.highest
    if is_new:
        first = min((number for _, number in header_map(request)), default=-1)
        if first >= header:
            return "new", f"new, with header {first} from version {request.valid.lowest}", "", None, ""
        said = f"is new, but version {request.valid.lowest} uses header {first}; start with header {header}"
        return "missing", f"{rpc.name} {said}", "kip-1313/v3-missing", request, "headerVersions"
    old = base.request if base else None
    released = released_versions(old).highest if old is not None and old is not request else -1
    if header_of(request, latest) >= header:  # released or not: it would be wrong if the base had another header
        return "done", f"version {latest} uses header {header_of(request, latest)}", "", None, ""
    bump = f"bump it to {max(released, latest) + 1} with header {header}"
    said = f"the latest version of {rpc.name} ({latest}) uses header {header_of(request, latest)}; {bump}"
    return (
        "missing",
        said,
        "kip-1313/v3-missing",
        request,
        "headerVersions" if request.says_headers else "validVersions",
    )


def _frozen(rpc: Rpc, frozen: VersionRange) -> _Judged:
    for half, header in ((rpc.request, 1), (rpc.response, 0)):
        if half is None:
            continue
        if half.valid - frozen:
            said = f"{half.name} is frozen at versions {frozen} and must never be bumped; it has {half.valid}"
            return "wrong", said, "kip-1313/frozen-rpc", half, "validVersions"
        if any(number != header for _, number in header_map(half)):
            said = f"{half.name} is frozen with header {header}"
            return "wrong", said, "kip-1313/frozen-rpc", half, "headerVersions"
    return "exempt", f"frozen at versions {frozen}: it never carries the client instance id", "", None, ""


def _remapped(old: Message, new: Message) -> VersionRange:
    """The released versions whose header is another one now."""
    if old is new:
        return NONE
    common = released_versions(old) & new.valid
    ranges = [one.versions for side in (old, new) for one in side.header_ranges]
    pieces = boundaries([old.flexible, new.flexible, VersionRange.of(0, 0), *ranges], common)
    moved = NONE
    for piece in pieces:
        now = header_of(new, piece.lowest)
        was = header_of(old, piece.lowest)
        if min(was, now) >= 0 and was != now:
            moved |= piece
    return moved


def _gone(rpc: Rpc) -> Row:
    request = rpc.request
    dead = rpc.is_dead
    return Row(
        name=printable(rpc.name),
        api_key=rpc.api_key,
        status="dead",
        base_versions=str(request.valid) if request else "none",
        versions="none",
        header_versions={},
        message="no valid version was left, and now the file is gone"
        if dead
        else "is in the base, but not in the head",
    )
