"""All changes between two trees of schema sets, from the outside in: messages, RPCs, versions, new fields, tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kiplint.compat.change import Both, Change, MessagePair, Status
from kiplint.compat.fields import ContainerPair, container_pairs, version_changes
from kiplint.compat.released import Releases, VersionStatuses
from kiplint.compat.tree import TooLargeError, Tree, pair_sets, require_limits
from kiplint.model.fields import Field
from kiplint.model.layout import layout, tokens
from kiplint.model.message import Message
from kiplint.model.schemas import are_related, partner
from kiplint.versions import NONE, VersionRange


def compare_trees(
    old: Tree,
    new: Tree,
    older: Iterable[Tree] = (),
    releases: Releases | None = None,
    too_large: list[TooLargeError] | None = None,
) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only keep their tag numbers reserved.

    Each change has the status of its versions: a version is released when one of the `releases` has it, without
    releases when the old tree has it. A released version is compared with the newest release that has it, where the old
    tree has other bytes than that release and the new tree.

    A definition that cannot be read on one side is neither new nor removed. A message that is too large to be compared
    is left out, and its error added to `too_large`; without such a list the error is raised.
    """
    pairs = list(_message_pairs(old, new))
    unreadable_before, unreadable_after = ({_file_name(item.file) for item in tree.unparsable} for tree in (old, new))
    successors = {id(before): after for before, after in pairs if before and after}
    ancestors: dict[tuple[str, str], list[Message]] = {}
    for tree in older:
        for message in tree.messages:
            ancestors.setdefault((message.name, message.type), []).append(message)
    changes: list[Change] = []
    for before, after in pairs:
        try:
            if before and after and _took_key(before, after):
                changes += _reused_key(before, after, old.name.removesuffix(":"))
            elif before and after and not (before.data and before.data == after.data):
                changes += list(compare_messages(before, after, releases))  # all or none
            elif before and not after and before.valid and _file_name(before.file) not in unreadable_after:
                changes.append(_removal(before, successors.get(id(partner(before))), releases))
            elif after and not before and after.valid and _file_name(after.file) not in unreadable_before:
                changes += list(_addition(after, releases))
            if after and b"taggedVersions" in after.data:
                changes += list(_older_tags(before, after, ancestors))
        except TooLargeError as error:
            if too_large is None:
                raise
            too_large.append(error)
    return [*changes, *_rpc_changes(pairs)]


def _message_pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The messages of all sets, paired; a message that moved from one set to another is paired with itself."""
    lost_messages: list[Message] = []
    gained_messages: list[Message] = []
    for old_set, new_set in pair_sets(old, new):
        for before, after in pair_messages(old_set.messages, new_set.messages):
            if before and after:
                yield before, after
            elif before:
                lost_messages.append(before)
            elif after:
                gained_messages.append(after)
    yield from pair_messages(lost_messages, gained_messages, are_of_one_set=False)


def pair_messages(old: Iterable[Message], new: Iterable[Message], *, are_of_one_set: bool = True) -> list[MessagePair]:
    """The messages of both sides, paired by name, then by type and API key; only RPCs have theirs in all sets alike.

    A message without an API key is recognized by its fields and types in the versions that both have.
    """
    by_name = {message.name: message for message in new}
    pairs = [(message, by_name.pop(message.name, None)) for message in old]
    by_key: dict[tuple[str, int | None], Message] = {
        (message.type, message.api_key): message
        for message in by_name.values()
        if message.api_key is not None and (are_of_one_set or message.is_rpc)
    }

    def successor(message: Message) -> Message | None:
        renamed = by_key.pop((message.type, message.api_key), None)
        if message.api_key is None:
            renamed = next((other for other in by_name.values() if _has_same_fields(message, other)), None)
        return by_name.pop(renamed.name) if renamed else None

    renamed_pairs = [(before, after or successor(before)) for before, after in pairs]
    return [*renamed_pairs, *((None, message) for message in by_name.values())]


def _has_same_fields(old: Message, new: Message) -> bool:
    if (new.type, new.api_key) != (old.type, None):
        return False
    common = old.valid & new.valid
    before, after = (
        {(field.name, field.type) for field in message.fields if field.versions & common} for message in (old, new)
    )
    return bool(before) and before == after


def _removal(message: Message, other: Message | None, releases: Releases | None) -> Change:
    """The change of a message that is gone; `other` is what became of the other message of its RPC."""
    remaining = other.name if other and other.is_rpc and other.valid else ""
    status = VersionStatuses.of(message, None, releases).best(message.valid)
    return Change("message-removed", (message, None), message.valid, left=remaining, status=status)


def _addition(message: Message, releases: Releases | None) -> Iterator[Change]:
    if releases and (holder := releases.key_holder(message)):
        yield from _reused_key(holder.reference, message, holder.release)
        return
    require_limits(message)
    yield Change("new-message", (None, message), message.valid, status="new")
    yield from _group_changes(None, message, VersionStatuses.of(None, message, releases))


def _took_key(old: Message, new: Message) -> bool:
    """Whether a pair by API key are two messages, and no rename."""
    return old.name != new.name and old.api_key is not None and not are_related(old, new)


def _reused_key(old: Message, new: Message, place: str) -> Iterator[Change]:
    """One change for both messages of an RPC, at the request."""
    if new.type != "response" or not (partner(old) and partner(new)):
        yield Change("api-key-reused", (old, new), new.valid, was=f"{old.base_name} in {place}", now=new.base_name)


def _file_name(path: str) -> str:
    return re.split(r"[/\\:]", path)[-1]


def _rpc_changes(pairs: list[MessagePair]) -> Iterator[Change]:
    """Bumps of a request or response without the other, and bumps of RPCs that are frozen."""
    common = [Both(old, new) for old, new in pairs if old and new and new.is_rpc and not _took_key(old, new)]
    bumps = {id(new): new.valid - old.valid for old, new in common if new.valid.highest > old.valid.highest}
    for old, new in common:
        missing = bumps.get(id(partner(new)), NONE) - new.valid
        if missing:
            yield Change("response-not-bumped", (old, new), missing, status="new")
        if new.valid - old.valid:
            yield Change("frozen-bumped", (old, new), new.valid - old.valid, status="new")


# Messages


def compare_messages(old: Message, new: Message, releases: Releases | None = None) -> Iterator[Change]:
    """All changes of a message that both sets have, but for tag numbers of older sets."""
    both = Both(old, new)
    require_limits(*both)
    statuses = VersionStatuses.of(old, new, releases)
    if _was_version(old, new):
        yield from _moved_record_type(both, statuses.best(old.valid))
        return
    for change in _property_changes(both):
        yield replace(change, status=statuses.best(change.versions & old.valid or old.valid))
    if new_versions := new.valid - old.valid:
        yield Change("new-version", both, new_versions, was=str(old.valid), now=str(new.valid), status="new")
    other = partner(new)
    for status, versions in statuses.versions.items():
        if drops := versions & old.valid - new.valid:
            held = drops & other.valid if other else NONE
            yield Change(
                "version-dropped", both, drops, held=held, status=status, was=str(old.valid), now=str(new.valid)
            )
    yield from _group_changes(old, new, statuses)


def _was_version(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number is in the same bytes, in front of the key.
    """
    number = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and number is not None and number in old.valid


def _moved_record_type(both: Both, status: Status) -> Iterator[Change]:
    old, new = both
    number = new.api_key or 0
    versions = VersionRange.of(number, number)
    yield Change("record-type-moved", both, versions, status=status)
    if tokens(layout(old, number)) != tokens(layout(new, new.valid.lowest)):
        yield Change("layout-changed", both, versions, status=status)


def _property_changes(both: Both) -> Iterator[Change]:
    """The changes of a message's own properties, such as its name, API key, versions and listeners.

    Versions and listeners are compared if both sides have versions; listeners only if both also declare them, as Kafka
    does since 2.8. Only valid versions count as deprecated (KIP-896).
    """
    old, new = both
    if old.name != new.name:
        yield Change("message-renamed", both, new.valid, was=old.name, now=new.name)
    if old.type != new.type and not (old.is_record and new.is_record):
        yield Change("type-changed", both, old.valid, was=old.type, now=new.type)
    if old.api_key is not None and old.api_key != new.api_key:
        now = "" if new.api_key is None else str(new.api_key)
        yield Change("api-key-changed", both, old.valid, was=str(old.api_key), now=now)
    if old.valid and new.valid:
        if gap := VersionRange.of(old.valid.highest + 1, new.valid.lowest - 1):
            yield Change("gap-in-versions", both, gap, was=str(old.valid), now=str(new.valid))
        if new.unstable and not old.unstable and old.valid.highest >= new.valid.highest:
            yield Change("released-unstable", both, VersionRange.of(new.valid.highest, new.valid.highest))
        if old.declares_listeners and new.declares_listeners:
            if removed_names := [name for name in old.listeners if name not in new.listeners]:
                yield Change("listener-removed", both, new.valid, was=", ".join(removed_names))
            if added_names := [name for name in new.listeners if name not in old.listeners]:
                yield Change("listener-added", both, new.valid, now=", ".join(added_names))
    if deprecated_versions := (new.deprecated - old.deprecated) & new.valid:
        yield Change("deprecated", both, deprecated_versions, now=str(new.deprecated))
    if restored_versions := (old.deprecated - new.deprecated) & old.valid & new.valid:
        yield Change("undeprecated", both, restored_versions, was=str(old.deprecated))


def _group_changes(old: Message | None, new: Message, statuses: VersionStatuses) -> Iterator[Change]:
    """The changes of versions that are not new, status by status; also new fields, and tags that are reused."""
    references = {id(message): message for message in (old, *(group.reference for group in statuses.groups)) if message}
    containers: dict[int, Sequence[ContainerPair]] = {}
    for key, message in references.items():
        both = Both(message, new)
        containers[key] = container_pairs(both)
        yield from _reused_tags(both, containers[key], statuses)
    status_by_change: dict[tuple[str, str], Status] = {}
    collected_versions: dict[Status, VersionRange] = {}
    for status, reference, versions, release in statuses.groups:
        changes = version_changes(Both(reference, new), containers[id(reference)], versions)
        if old and reference is not old:
            changes = _without_earlier(changes, Both(reference, old), versions)
        for change in (replace(change, status=status, release=release) for change in changes):
            if change.policy == "collect":
                collected_versions[status] = collected_versions.get(status, NONE) | change.versions
            elif status_by_change.setdefault((change.name, change.field), status) == status:
                yield change
    if old is None:
        return
    both = Both(old, new)
    for status, versions in collected_versions.items():
        yield Change("unstable-changed", both, versions, status=status)
    changed_fields = {field for name, field in status_by_change if name == "layout-changed"}
    additions = _new_fields(both, containers[id(old)], statuses)
    yield from (change for change in additions if change.field not in changed_fields)


def _without_earlier(changes: Iterable[Change], both: Both, versions: VersionRange) -> Iterator[Change]:
    """The changes since a release without those that the old message had made already: `both` are these two."""
    earlier: dict[tuple[object, ...], VersionRange] = {}
    for change in version_changes(both, container_pairs(both), versions & both.new.valid):
        earlier[_outcome(change)] = earlier.get(_outcome(change), NONE) | change.versions
    for change in changes:
        if own_versions := change.versions - earlier.get(_outcome(change), NONE):
            yield replace(change, versions=own_versions)


def _outcome(change: Change) -> tuple[object, ...]:
    return change.name, change.kind, change.field, change.now, change.new_tag


def _new_fields(messages: Both, containers: Iterable[ContainerPair], statuses: VersionStatuses) -> Iterator[Change]:
    """The fields that no released version of the old message has; what a release between the two has is new as well."""
    old, new = messages
    released_versions = statuses.versions["released"] & old.valid
    for container in containers:
        for before, after in container.fields:
            if before or not after:
                continue
            versions = after.versions & container.new_versions & new.valid
            if not versions or versions & released_versions:
                continue
            status = statuses.best(versions) if versions & old.valid else "new"
            yield Change("new-field", messages, versions, (None, after), status=status)
            versions_without_field = old.valid & (new.valid - versions)
            if versions_without_field and new.is_rpc and not after.ignorable:
                yield Change("new-field-not-ignorable", messages, versions, (None, after), status=status)


# Tag numbers that are used again


def _older_tags(
    before: Message | None, after: Message, ancestors: Mapping[tuple[str, str], Sequence[Message]]
) -> Iterator[Change]:
    """The tags that mean another field than they meant in an older tree.

    What looks like a rename since then is a rename only if the old message has the field too: a number that was given
    up in between stays reserved.
    """
    with_same_tag = _fields_with_kept_tag(before, after) if before else set()
    reported_fields: set[str] = set()
    for name in sorted({message.name for message in (after, before) if message}):
        for ancestor in ancestors.get((name, after.type), ()):
            require_limits(ancestor, after)
            both = Both(ancestor, after)
            statuses = VersionStatuses.of(ancestor, after, None)
            for change in _reused_tags(both, container_pairs(both), statuses, with_same_tag):
                if change.field not in reported_fields:
                    reported_fields.add(change.field)
                    yield change


def _reused_tags(
    messages: Both,
    containers: Iterable[ContainerPair],
    statuses: VersionStatuses,
    with_same_tag: set[int] | None = None,
) -> Iterator[Change]:
    """The tags that mean another field than in the old message.

    `with_same_tag` are the ids of the fields that had their tag before, too, where the old message is an older one.
    """
    old, new = messages
    for _, _, pairs, container_old_versions, container_new_versions in containers:
        by_tag = {after.tag: (before, after) for before, after in pairs if after and after.tag is not None}
        for before, after in pairs:
            if before is None or before.tag not in by_tag:
                continue
            keeps_tag = after and after.tag == before.tag  # also where another field has that tag now
            former, holder = (before, after) if after and keeps_tag else by_tag[before.tag]
            is_kept = former is not before or with_same_tag is None or id(holder) in with_same_tag
            if former and former.tag == holder.tag and (is_kept or _is_restored(before, holder)):
                continue
            old_versions = before.tagged & before.versions & container_old_versions & old.valid & old.flexible
            versions = holder.tagged & holder.versions & container_new_versions & new.valid & new.flexible
            if old_versions and versions:
                versions = versions & old_versions or versions
                yield Change("tag-reused", messages, versions, (before, holder), status=statuses.best(old_versions))


def _fields_with_kept_tag(old: Message, new: Message) -> set[int]:
    """The ids of the new message's fields that had their tag in the old message."""
    pairs = (pair for container in container_pairs(Both(old, new)) for pair in container.fields)
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _is_restored(old: Field, new: Field) -> bool:
    """Whether a field that was gone for a while is the same as before."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)
