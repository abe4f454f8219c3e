"""All changes between two trees of schema sets, from the outside in: messages, RPCs, versions, new fields, tags."""

from __future__ import annotations

import re
from collections import defaultdict
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
    """The changes from one tree to another, message by message; `older` trees only serve to find reused tags.

    Each change has the status of its versions: a version is released when one of the `releases` has it; if `releases`
    is None, when the old tree has it and it is not unstable. A released version is compared with the old tree where
    that has the bytes of the release or of the new tree, else with the newest release that has the version.

    A definition that cannot be read on one side is neither new nor removed. A message that is too large to be compared
    is left out, and its error added to `too_large`; without such a list the error is raised.
    """
    pairs = list(_message_pairs(old, new))
    successors = {id(before): after for before, after in pairs if before and after}
    unparsable_old_files = {_file_name(definition.file) for definition in old.unparsable}
    unparsable_new_files = {_file_name(definition.file) for definition in new.unparsable}
    older_messages: defaultdict[tuple[str, str], list[Message]] = defaultdict(list)  # by name and type
    for tree in older:
        for message in tree.messages:
            older_messages[message.name, message.type].append(message)
    changes: list[Change] = []
    for before, after in pairs:
        try:  # lists, so that a message that is too large has no changes at all
            if before and after:
                changes += list(_message_changes(before, after, releases, old.name.removesuffix(":")))
            elif before and before.valid and _file_name(before.file) not in unparsable_new_files:
                changes.append(_removal(before, successors.get(id(partner(before))), releases))
            elif after and after.valid and _file_name(after.file) not in unparsable_old_files:
                changes += list(_addition(after, releases))
            if after and b"taggedVersions" in after.data:
                changes += list(_older_tags(before, after, older_messages))
        except TooLargeError as error:
            if too_large is None:
                raise
            too_large.append(error)
    return [*changes, *_rpc_changes(pairs)]


def _message_pairs(old: Tree, new: Tree) -> Iterator[MessagePair]:
    """The old and new messages of all sets in pairs; a message that moved to another set is one pair as well."""
    removed_messages: list[Message] = []
    added_messages: list[Message] = []
    for old_set, new_set in pair_sets(old, new):
        for before, after in pair_messages(old_set.messages, new_set.messages):
            if before and after:
                yield before, after
            elif before:
                removed_messages.append(before)
            elif after:
                added_messages.append(after)
    yield from pair_messages(removed_messages, added_messages, are_of_one_set=False)


def pair_messages(old: Iterable[Message], new: Iterable[Message], *, are_of_one_set: bool = True) -> list[MessagePair]:
    """The messages of both sides, paired by name, then by type and API key; unpaired messages are paired with None.

    A message without an API key is recognized by its fields and types in the versions that both have. Without
    `are_of_one_set` only the API keys of RPCs count, as each set numbers its coordinator records by itself.
    """
    added = {message.name: message for message in new}
    pairs = [(message, added.pop(message.name, None)) for message in old]
    added_by_key = {
        (message.type, message.api_key): message
        for message in added.values()
        if message.api_key is not None and (are_of_one_set or message.is_rpc)
    }
    for index, (before, after) in enumerate(pairs):
        if after:
            continue
        if before.api_key is None:
            renamed = next((message for message in added.values() if _has_same_fields(before, message)), None)
        else:
            renamed = added_by_key.pop((before.type, before.api_key), None)
        if renamed:
            pairs[index] = before, added.pop(renamed.name)
    return [*pairs, *((None, message) for message in added.values())]


def _has_same_fields(old: Message, new: Message) -> bool:
    """Whether a new message without API key has the type and the fields of an old one in the versions of both."""
    if new.type != old.type or new.api_key is not None:
        return False
    common = old.valid & new.valid
    old_fields = {(field.name, field.type) for field in old.fields if field.versions & common}
    new_fields = {(field.name, field.type) for field in new.fields if field.versions & common}
    return bool(old_fields) and old_fields == new_fields


def _removal(message: Message, new_partner: Message | None, releases: Releases | None) -> Change:
    """The change of a message that is gone; `new_partner` is the other message of its RPC in the new tree."""
    remaining = new_partner.name if new_partner and new_partner.is_rpc and new_partner.valid else ""
    status = VersionStatuses.of(message, None, releases).best(message.valid)
    return Change("message-removed", (message, None), message.valid, left=remaining, status=status)


def _addition(message: Message, releases: Releases | None) -> Iterator[Change]:
    """The changes of a message that the old tree lacks.

    If a release has another message with its API key, that is the only change. Else the message is new in the tree,
    and its versions are compared with the releases that have them.
    """
    if releases and (holder := releases.key_holder(message)):
        yield from _reused_key(holder.reference, message, holder.release)
        return
    require_limits(message)
    yield Change("new-message", (None, message), message.valid, status="new")
    yield from _group_changes(None, message, VersionStatuses.of(None, message, releases))


def _took_key(old: Message, new: Message) -> bool:
    """Whether the new message of a pair is an unrelated one that took over the API key of the old one, not a rename."""
    return old.name != new.name and old.api_key is not None and not are_related(old, new)


def _reused_key(old: Message, new: Message, old_tree: str) -> Iterator[Change]:
    """One change for both messages of an RPC, at the request; `old_tree` names the tree or release of the old one."""
    requests_exist = partner(old) is not None and partner(new) is not None
    if new.type != "response" or not requests_exist:
        was = f"{old.base_name} in {old_tree}"
        yield Change("api-key-reused", (old, new), new.valid, was=was, now=new.base_name)


def _file_name(path: str) -> str:
    """The last part of a path, which may also be of Windows or of `REV:path`."""
    return re.split(r"[/\\:]", path)[-1]


def _rpc_changes(pairs: list[MessagePair]) -> Iterator[Change]:
    """Bumps of a request or response without the other, and all new versions, which a rule forbids for frozen RPCs."""
    kept = [Both(old, new) for old, new in pairs if old and new and new.is_rpc and not _took_key(old, new)]
    new_versions = {id(new): new.valid - old.valid for old, new in kept}
    bumped_versions = {id(new): new_versions[id(new)] for old, new in kept if new.valid.highest > old.valid.highest}
    for both in kept:
        missing_versions = bumped_versions.get(id(partner(both.new)), NONE) - both.new.valid
        if missing_versions:
            yield Change("response-not-bumped", both, missing_versions, status="new")
        if new_versions[id(both.new)]:
            yield Change("frozen-bumped", both, new_versions[id(both.new)], status="new")


# Messages


def _message_changes(old: Message, new: Message, releases: Releases | None, old_tree: str) -> Iterator[Change]:
    """The changes of a pair of messages, without tags reused from older trees; `old_tree` is the old tree's name."""
    if _took_key(old, new):
        yield from _reused_key(old, new, old_tree)
        return
    if old.data and old.data == new.data:
        return
    both = Both(old, new)
    require_limits(*both)
    statuses = VersionStatuses.of(old, new, releases)
    if _has_moved_record_type(old, new):
        yield from _moved_record_type(both, statuses.best(old.valid))
        return
    for change in _property_changes(both):
        yield replace(change, status=statuses.best(change.versions & old.valid or old.valid))
    was, now = str(old.valid), str(new.valid)
    if new_versions := new.valid - old.valid:
        yield Change("new-version", both, new_versions, was=was, now=now, status="new")
    other = partner(new)
    for status, versions in statuses.versions.items():
        if dropped_versions := versions & (old.valid - new.valid):
            held = dropped_versions & other.valid if other else NONE
            yield Change("version-dropped", both, dropped_versions, held=held, status=status, was=was, now=now)
    yield from _group_changes(old, new, statuses)


def _has_moved_record_type(old: Message, new: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk the number is in the same bytes, in front of the key.
    """
    record_type = new.api_key
    return new.type == "coordinator-key" and old.type == "data" and record_type is not None and record_type in old.valid


def _moved_record_type(both: Both, status: Status) -> Iterator[Change]:
    """The changes of a coordinator's key whose record type was its version, and is its API key now."""
    old, new = both
    record_type = new.api_key or 0
    versions = VersionRange.of(record_type, record_type)  # of the old key
    yield Change("record-type-moved", both, versions, status=status)
    if tokens(layout(old, record_type)) != tokens(layout(new, new.valid.lowest)):
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
    """The changes of versions that are not new, against the message of their group; also new fields and reused tags.

    A change of a field that versions of several statuses have is reported only for the first of them.
    """
    references = {id(message): message for message in (old, *(group.reference for group in statuses.groups)) if message}
    containers: dict[int, Sequence[ContainerPair]] = {}  # by the id of the reference
    for key, message in references.items():
        both = Both(message, new)
        containers[key] = container_pairs(both)
        yield from _reused_tags(both, containers[key], statuses)
    first_statuses: dict[tuple[str, str], Status] = {}  # by the name of the change and its field
    collected_versions: dict[Status, VersionRange] = {}
    for status, reference, versions, release in statuses.groups:
        changes = version_changes(Both(reference, new), containers[id(reference)], versions)
        if old and reference is not old:
            changes = _without_earlier(changes, Both(reference, old), versions)
        for change in changes:
            reported_change = replace(change, status=status, release=release)
            if reported_change.policy == "collect":
                collected_versions[status] = collected_versions.get(status, NONE) | change.versions
            elif first_statuses.setdefault((change.name, change.field), status) == status:
                yield reported_change
    if old is None:
        return
    both = Both(old, new)
    for status, versions in collected_versions.items():
        yield Change("unstable-changed", both, versions, status=status)
    changed_fields = {field for name, field in first_statuses if name == "layout-changed"}
    for change in _new_fields(both, containers[id(old)], statuses):
        if change.field not in changed_fields:
            yield change


def _without_earlier(changes: Iterable[Change], both: Both, versions: VersionRange) -> Iterator[Change]:
    """The changes from a release to the new message, without those that the old message made since the release.

    `both` are the message of the release and the old message; `versions` are the versions to compare these two in.
    """
    earlier_versions: dict[tuple[object, ...], VersionRange] = {}
    for change in version_changes(both, container_pairs(both), versions & both.new.valid):
        outcome = _outcome(change)
        earlier_versions[outcome] = earlier_versions.get(outcome, NONE) | change.versions
    for change in changes:
        if own_versions := change.versions - earlier_versions.get(_outcome(change), NONE):
            yield replace(change, versions=own_versions)


def _outcome(change: Change) -> tuple[object, ...]:
    """A key that is equal for changes of the same field with the same result, whether old or new made the change."""
    return change.name, change.kind, change.field, change.now, change.new_tag


def _new_fields(both: Both, containers: Iterable[ContainerPair], statuses: VersionStatuses) -> Iterator[Change]:
    """The fields added outside of released versions; a version that the old message lacks is new, even if released."""
    old, new = both
    released_versions = statuses.versions["released"] & old.valid
    for container in containers:
        for before, after in container.fields:
            if before or not after:
                continue
            versions = after.versions & container.new_versions & new.valid
            if not versions or versions & released_versions:
                continue
            status = statuses.best(versions) if versions & old.valid else "new"
            yield Change("new-field", both, versions, (None, after), status=status)
            versions_without_field = old.valid & (new.valid - versions)
            if versions_without_field and new.is_rpc and not after.ignorable:
                yield Change("new-field-not-ignorable", both, versions, (None, after), status=status)


# Tag numbers that are used again


def _older_tags(
    old: Message | None, new: Message, older_messages: Mapping[tuple[str, str], Sequence[Message]]
) -> Iterator[Change]:
    """The tags of the new message that mean another field in an older tree, whose messages are by name and type.

    A field that has the tag under another name is a rename only if the old message has this field with the tag, too: a
    tag that the old message no longer has stays reserved.
    """
    ids_with_kept_tag = _ids_with_kept_tag(old, new) if old else set()
    reported_fields: set[str] = set()
    for name in sorted({message.name for message in (new, old) if message}):
        for older_message in older_messages.get((name, new.type), ()):
            require_limits(older_message, new)
            both = Both(older_message, new)
            statuses = VersionStatuses.of(older_message, new, None)
            for change in _reused_tags(both, container_pairs(both), statuses, ids_with_kept_tag):
                if change.field not in reported_fields:
                    reported_fields.add(change.field)
                    yield change


def _reused_tags(
    both: Both,
    containers: Iterable[ContainerPair],
    statuses: VersionStatuses,
    ids_with_kept_tag: set[int] | None = None,
) -> Iterator[Change]:
    """The tags of the new message that mean another field in the old one.

    Between the old and the new message there may be a third one, in a later tree than the old. `ids_with_kept_tag` are
    then the ids of the new fields that have the same tag there; the other fields took a tag that was free meanwhile.
    """
    old, new = both
    for container in containers:
        holders = {
            holder.tag: (former, holder) for former, holder in container.fields if holder and holder.tag is not None
        }
        for before, after in container.fields:
            if before is None or before.tag not in holders:
                continue
            if after and after.tag == before.tag:  # it has its tag still, even if `holders` has another field with it
                holder = after
                was_given_up = ids_with_kept_tag is not None and id(after) not in ids_with_kept_tag
                is_reused = was_given_up and not _is_restored(before, after)
            else:
                former, holder = holders[before.tag]  # `former` is the old state of the field that has the tag now
                is_reused = former is None or former.tag != holder.tag
            if not is_reused:
                continue
            old_versions = before.tagged & before.versions & container.old_versions & old.valid & old.flexible
            versions = holder.tagged & holder.versions & container.new_versions & new.valid & new.flexible
            if old_versions and versions:
                common = versions & old_versions
                status = statuses.best(old_versions)
                yield Change("tag-reused", both, common or versions, (before, holder), status=status)


def _ids_with_kept_tag(old: Message, new: Message) -> set[int]:
    """The ids of the new message's tagged fields that had the same tag in the old message."""
    pairs = [fields for container in container_pairs(Both(old, new)) for fields in container.fields]
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _is_restored(old: Field, new: Field) -> bool:
    """Whether a field is the same as one that was removed before: it has its name and type."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)
