"""A new version of a request and of its response, the everyday change."""

from __future__ import annotations

from kiplint.fixes.draft import Draft
from kiplint.fixes.migration import FileEdits, Migration, finished, migration_row
from kiplint.fixes.new_version import add_version, declared_map, obstacle
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc


def bump(rpc: Rpc, *, unstable: bool = False, new_version: bool = False, note: str = "") -> Migration:
    """A new version of both halves of an RPC; only a row where a new version is not possible.

    Of halves that end at different versions the lower one is brought to the higher one.
    After an unstable version, which may still change, there is only a `new_version` if it is asked for.
    `note` is the text of the comment on the version.
    """
    request, response = rpc.request, rpc.response
    if problem := _obstacle(rpc):
        return Migration(rows=(migration_row(rpc, "left", look=(problem,)),))
    assert request is not None
    assert response is not None
    highest = max(request.valid.highest, response.valid.highest)
    lags = request.valid.highest != response.valid.highest
    version = highest if lags or (request.unstable and not new_version) else highest + 1
    if version == highest and not lags:
        problem = f"version {version} is unstable, and may still change: edit it, or remove latestVersionUnstable first"
        return Migration(rows=(migration_row(rpc, "left", look=(problem,)),))
    files: list[FileEdits] = []
    look: list[str] = []
    for half in (request, response):
        if half.valid.highest == version:
            continue
        draft = Draft(half)
        comment = _note(version, half, note)
        look += [f"{half.name}: {item}" for item in add_version(draft, version, comment, unstable=unstable)]
        _carry_map(draft, version)
        files += finished(draft)
    actions = ["the new version is unstable"] if unstable and version > highest else []
    actions += [f"version {version} stays unstable"] if version == highest and request.unstable else []
    return Migration(tuple(files), (migration_row(rpc, "migrated", actions, look),))


def _obstacle(rpc: Rpc) -> str:
    if rpc.rpc_name in FROZEN:
        return f"it is frozen at versions {FROZEN[rpc.rpc_name]}, and must never be bumped (KIP-1313)"
    return obstacle(rpc)


def _carry_map(draft: Draft, version: int) -> None:
    """Extend the last range of a header map that ends before the version."""
    entries = draft.message.header_ranges
    if not entries or declared_map(draft.message) is not None:
        return
    last = entries[-1]
    if last.versions and last.header >= 0 and version not in last.versions:
        draft.rename(last.pointer, f"{last.versions.lowest}+")


def _note(version: int, half: Message, note: str) -> str:
    if note:
        return f"Version {version} {' '.join(note.split())}"  # a line end would end the comment
    return f"Version {version} is the same as version {half.valid.highest}."
