"""All changes between two trees of schema sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kiplint.compat.changes import message_kinds as kinds
from kiplint.compat.changes.change import Change
from kiplint.compat.changes.messages import compare_messages
from kiplint.compat.changes.pairing import MessagePair, pair_messages, partner
from kiplint.compat.changes.tags import reused_tags
from kiplint.compat.tree import Tree, pair_sets
from kiplint.model.message import Message

RPCS = ("request", "response")


def compare_trees(old: Tree, new: Tree, older: Iterable[Tree] = ()) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only keep their tag numbers burned.

    A definition that cannot be read on one side is neither new nor gone.
    """
    pairs = list(_pairs(old, new))
    unknown = [{_file_name(one.file) for one in side.broken} for side in (old, new)]
    changes: list[Change] = []
    for before, after in pairs:
        if before and after and before.data == after.data and before.data:
            continue
        if before and after:
            changes += compare_messages(before, after, old_unstable=_request_is_unstable(before))
        elif before and before.valid and _file_name(before.file) not in unknown[1]:
            changes.append(kinds.MessageRemoved((before, None), before.valid, _left_alone(before, pairs)))
        elif after and after.valid and _file_name(after.file) not in unknown[0]:
            changes.append(kinds.NewMessage((None, after), after.valid))
    changes += _of_rpcs(pairs)
    changes += _of_tags(pairs, older)
    return changes


def _file_name(path: str) -> str:
    return re.split(r"[/\\:]", path)[-1]


def _of_tags(pairs: list[MessagePair], older: Iterable[Tree]) -> Iterator[Change]:
    ancestors: dict[tuple[str, str], list[Message]] = {}
    for tree in older:
        for message in tree.messages:
            ancestors.setdefault((message.name, message.type), []).append(message)
    for before, after in pairs:
        if after is None or b"taggedVersions" not in after.data:
            continue
        names = {one.name for one in (after, before) if one}
        known = [one for name in sorted(names) for one in ancestors.get((name, after.type), [])]
        if known or (before and before.data != after.data):
            yield from reused_tags(after, before, known)


def _pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The messages of all sets, paired; one that moved from one set to another is paired with itself."""
    lost: list[Message] = []
    gained: list[Message] = []
    for before, after in pair_sets(old, new):
        for one in pair_messages(before.messages, after.messages):
            if one[0] and one[1]:
                yield one
            elif one[0]:
                lost.append(one[0])
            elif one[1]:
                gained.append(one[1])
    yield from pair_messages(lost, gained, RPCS)


def _left_alone(gone: Message, pairs: list[MessagePair]) -> str:
    """The name of the other half of an RPC, where it is still live without the one that is gone; else empty."""
    if not gone.is_rpc or gone.api_key is None:
        return ""
    halves = (
        after
        for before, after in pairs
        if before and after and before.schemas is gone.schemas and before.api_key == gone.api_key and after.is_rpc
    )
    return next((one.name for one in halves if one.valid and one.type != gone.type), "")


def _request_is_unstable(message: Message) -> bool:
    if message.type != "response":
        return False
    request = partner(message)
    return request is not None and request.unstable and request.valid.highest == message.valid.highest


def _of_rpcs(pairs: list[MessagePair]) -> Iterator[Change]:
    """What the two halves of an RPC do not do together, and RPCs that must never be bumped."""
    bumped = {
        id(new): new.valid - old.valid
        for old, new in pairs
        if old and new and new.is_rpc and new.valid.highest > old.valid.highest
    }
    for old, new in pairs:
        if not old or not new or not new.is_rpc:
            continue
        missing = bumped.get(id(partner(new))) if bumped else None
        if missing and missing - new.valid:
            yield kinds.ResponseNotBumped((old, new), missing - new.valid)
        if new.valid - old.valid:
            yield kinds.FrozenBumped((old, new), new.valid - old.valid)
