"""All changes between two trees of schema sets, from the outside in: messages, RPCs, versions, new fields, tags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from kiplint.compat.change import Both, Change, Kind, MessagePair, Status
from kiplint.compat.fields import ContainerPair, container_pairs, version_changes
from kiplint.compat.new_versions import comment_change, later_changes
from kiplint.compat.released import Releases, VersionStatuses
from kiplint.compat.tree import Tree, failure_reason, file_name, pair_sets, require_comparable, require_limits
from kiplint.model.fields import Field
from kiplint.model.layout import layout, tokens
from kiplint.model.message import Message
from kiplint.model.notes import sentences_on
from kiplint.model.schemas import are_related, partner
from kiplint.versions import NONE, VersionRange


def compare_trees(
    base: Tree,
    head: Tree,
    older: Iterable[Tree] = (),
    releases: Releases | None = None,
) -> list[Change]:
    """The changes from one tree to another, message by message; `older` trees only serve to find reused tags.

    Each change has the status of its versions: a version is released when one of the `releases` contains it; if
    `releases` is None, if the base contains it and it is not unstable. A released version is compared with the base
    where that has the bytes of the release or of the head, otherwise with the newest release that has the version.

    A definition that cannot be read on one side is neither new nor removed. The only change of a message that cannot
    be compared is that, with the reason.
    """
    pairs = list(_message_pairs(base, head))
    successors = {id(message): head_message for message, head_message in pairs if message and head_message}
    unparsable_base_files = {file_name(definition.file) for definition in base.unparsable}
    unparsable_head_files = {file_name(definition.file) for definition in head.unparsable}
    older_messages: defaultdict[tuple[str, str], list[Message]] = defaultdict(list)  # by name and type
    for tree in older:
        for message in tree.messages:
            older_messages[message.name, message.type].append(message)
    changes: list[Change] = []
    for base_message, head_message in pairs:
        found: list[Change] = []
        try:
            if base_message and head_message:
                found += _message_changes(base_message, head_message, releases, base.name.removesuffix(":"))
            elif base_message and base_message.valid and file_name(base_message.file) not in unparsable_head_files:
                found.append(_removal(base_message, successors.get(id(partner(base_message))), releases))
            elif head_message and head_message.valid and file_name(head_message.file) not in unparsable_base_files:
                found += _addition(head_message, releases)
            if head_message and b"taggedVersions" in head_message.data:
                found += _older_tags(base_message, head_message, older_messages)
        except Exception as error:
            found = [not_compared((base_message, head_message), error)]
        changes += found
    return [*changes, *_rpc_changes(pairs)]


def not_compared(messages: MessagePair, error: Exception) -> Change:
    """The change of a message whose comparison or proof ended in an error. Raises what `failure_reason` raises."""
    versions = next((message.valid for message in reversed(messages) if message), NONE)
    return Change(Kind.NOT_COMPARED, messages, versions, now=failure_reason(error))


def _message_pairs(base: Tree, head: Tree) -> Iterator[MessagePair]:
    """The messages of all sets in pairs; a message that moved to another set is one pair as well."""
    removed_messages: list[Message] = []
    added_messages: list[Message] = []
    for base_set, head_set in pair_sets(base, head):
        for base_message, head_message in pair_messages(base_set.messages, head_set.messages):
            if base_message and head_message:
                yield base_message, head_message
            elif base_message:
                removed_messages.append(base_message)
            elif head_message:
                added_messages.append(head_message)
    yield from pair_messages(removed_messages, added_messages, are_of_one_set=False)


def pair_messages(
    base: Iterable[Message], head: Iterable[Message], *, are_of_one_set: bool = True
) -> list[MessagePair]:
    """The messages of both sides, paired by name, then by type and API key; unpaired messages are paired with None.

    Each of several messages of the head with one name and API key is paired, so that no copy hides a change of another.
    A message without an API key is recognized by its fields and types in the versions that both have. Without
    `are_of_one_set` only the API keys of RPCs count, as each set numbers its coordinator records by itself.
    """

    def type_and_key(message: Message) -> Hashable:
        counts = message.api_key is not None and (are_of_one_set or message.is_rpc)
        return (message.type, message.api_key) if counts else message

    pairs: list[MessagePair] = []
    removed, added = list(base), list(head)
    for key in (lambda item: (item.name, item.type, item.api_key), lambda item: item.name, type_and_key):
        heads_by_key = _grouped(added, key)
        bases_by_key = _grouped(removed, key)
        removed = []
        for value, bases in bases_by_key.items():
            heads = heads_by_key.pop(value, [])
            pairs += zip(bases, heads, strict=False)
            pairs += ((bases[-1], message) for message in heads[len(bases) :])
            removed += bases[len(heads) :]
        added = [message for heads in heads_by_key.values() for message in heads]
    for message in removed:
        candidates = added if message.api_key is None else ()
        renamed = next((item for item in candidates if _has_same_fields(message, item)), None)
        if renamed:
            added.remove(renamed)
        pairs.append((message, renamed))
    return [*pairs, *((None, message) for message in added)]


def _grouped(messages: Iterable[Message], key: Callable[[Message], Hashable]) -> dict[Hashable, list[Message]]:
    groups: defaultdict[Hashable, list[Message]] = defaultdict(list)
    for message in messages:
        groups[key(message)].append(message)
    return groups


def _has_same_fields(base: Message, head: Message) -> bool:
    """Whether a message of the head has no API key, and the type and fields of one of the base in common versions."""
    if head.type != base.type or head.api_key is not None:
        return False
    common = base.valid & head.valid
    base_fields = {(field.name, field.type) for field in base.fields if field.versions & common}
    head_fields = {(field.name, field.type) for field in head.fields if field.versions & common}
    return bool(base_fields) and base_fields == head_fields


def _removal(message: Message, head_partner: Message | None, releases: Releases | None) -> Change:
    """The change of a message that is gone; `head_partner` is the other message of its RPC in the head."""
    remaining = head_partner.name if head_partner and head_partner.is_rpc and head_partner.valid else ""
    status = VersionStatuses.of(message, None, releases).best(message.valid)
    return Change(Kind.MESSAGE_REMOVED, (message, None), message.valid, now=remaining, status=status)


def _addition(message: Message, releases: Releases | None) -> Iterator[Change]:
    """The changes of a message that the base lacks.

    If a release has another message with its API key, that is the only change. Otherwise the message is new in the
    tree, and its versions are compared with the releases that have them.
    """
    if releases and (holder := releases.key_holder(message)):
        yield from _reused_key(holder.message, message, holder.release)
        return
    require_limits(message)
    yield Change(Kind.NEW_MESSAGE, (None, message), message.valid, status="new")
    yield from _group_changes(None, message, VersionStatuses.of(None, message, releases))


def _took_key(base: Message, head: Message) -> bool:
    """Whether the head of a pair is an unrelated message that took over the API key of the base, not a rename."""
    return base.name != head.name and base.api_key is not None and not are_related(base, head)


def _reused_key(base: Message, head: Message, base_name: str) -> Iterator[Change]:
    """One change for both messages of an RPC, at the request; `base_name` names the tree or release of the base."""
    requests_exist = partner(base) is not None and partner(head) is not None
    if head.type != "response" or not requests_exist:
        was = f"{base.base_name} in {base_name}"
        yield Change(Kind.API_KEY_REUSED, (base, head), head.valid, was=was, now=head.base_name)


def _rpc_changes(pairs: list[MessagePair]) -> Iterator[Change]:
    """Bumps of a request or response without the other, and all new versions, which a rule forbids for frozen RPCs."""
    messages = [Both(base, head) for base, head in pairs if base and head and head.is_rpc and not _took_key(base, head)]
    new_versions = {id(head): head.valid - base.valid for base, head in messages}
    bumped_versions = {
        id(head): new_versions[id(head)] for base, head in messages if head.valid.highest > base.valid.highest
    }
    for both in messages:
        missing_versions = bumped_versions.get(id(partner(both.head)), NONE) - both.head.valid
        if missing_versions:
            yield Change(Kind.RESPONSE_NOT_BUMPED, both, missing_versions, status="new")
        if new_versions[id(both.head)]:
            yield Change(Kind.FROZEN_BUMPED, both, new_versions[id(both.head)], status="new")


# Messages


def _message_changes(base: Message, head: Message, releases: Releases | None, base_name: str) -> Iterator[Change]:
    """The changes of a pair of messages, without tags reused from older trees; `base_name` is the base's name."""
    if _took_key(base, head):
        yield from _reused_key(base, head, base_name)
        return
    if base.data and base.data == head.data and base.unstable_version == head.unstable_version:
        return
    both = Both(base, head)
    require_comparable(*both)
    statuses = VersionStatuses.of(base, head, releases)
    if _has_moved_record_type(base, head):
        yield from _moved_record_type(both, statuses.best(base.valid))
        return
    for change in _property_changes(both):
        status = statuses.best(change.versions & base.valid or base.valid)
        yield replace(change, status=status, highest_released=statuses.highest_released)
    was, now = str(base.valid), str(head.valid)
    new_versions = head.valid - base.valid
    if new_versions:
        words = sentences_on(head, new_versions)
        yield Change(Kind.NEW_VERSION, both, new_versions, was=was, now=now, status="new", note=words)
    yield from comment_change(both, new_versions)
    for status, versions in statuses.versions.items():
        if dropped_versions := versions & (base.valid - head.valid):
            yield Change(Kind.VERSION_DROPPED, both, dropped_versions, status=status, was=was, now=now)
    yield from _group_changes(base, head, statuses)


def _has_moved_record_type(base: Message, head: Message) -> bool:
    """Whether the number of a coordinator's record type was the key's version and is its API key now (KAFKA-17593).

    On disk, the number occupies the same bytes before the key.
    """
    record_type = head.api_key
    return (
        head.type == "coordinator-key" and base.type == "data" and record_type is not None and record_type in base.valid
    )


def _moved_record_type(both: Both, status: Status) -> Iterator[Change]:
    """The changes of a coordinator's key whose record type was its version, and is its API key now."""
    base, head = both
    record_type = head.api_key or 0
    versions = VersionRange.of(record_type, record_type)  # of the base's key
    yield Change(Kind.RECORD_TYPE_MOVED, both, versions, status=status)
    if tokens(layout(base, record_type)) != tokens(layout(head, head.valid.lowest)):
        yield Change(Kind.RECORD_KEY_CHANGED, both, versions, status=status)


def _property_changes(both: Both) -> Iterator[Change]:
    """The changes of a message's own properties, such as its name, API key, versions and listeners.

    Versions and listeners are compared if both sides have versions; listeners only if both also declare them, as Kafka
    does since 2.8. Only valid versions count as deprecated (KIP-896).
    """
    base, head = both
    if base.name != head.name:
        yield Change(Kind.MESSAGE_RENAMED, both, head.valid, was=base.name, now=head.name)
    if base.type != head.type and not (base.is_record and head.is_record):
        yield Change(Kind.MESSAGE_TYPE_CHANGED, both, base.valid, was=base.type, now=head.type)
    if base.api_key is not None and base.api_key != head.api_key:
        now = "" if head.api_key is None else str(head.api_key)
        yield Change(Kind.API_KEY_CHANGED, both, base.valid, was=str(base.api_key), now=now)
    if base.valid and head.valid:
        if gap := VersionRange.of(base.valid.highest + 1, head.valid.lowest - 1):
            yield Change(Kind.GAP_IN_VERSIONS, both, gap, was=str(base.valid), now=str(head.valid))
        if head.declares_unstable and not base.declares_unstable and base.valid.highest >= head.valid.highest:
            yield Change(Kind.RELEASED_UNSTABLE, both, VersionRange.of(head.valid.highest, head.valid.highest))
        if base.declares_listeners and head.declares_listeners:
            if removed_names := [name for name in base.listeners if name not in head.listeners]:
                yield Change(Kind.LISTENER_REMOVED, both, head.valid, was=", ".join(removed_names))
            if added_names := [name for name in head.listeners if name not in base.listeners]:
                yield Change(Kind.LISTENER_ADDED, both, head.valid, now=", ".join(added_names))
    if deprecated_versions := (head.deprecated - base.deprecated) & head.valid:
        yield Change(Kind.DEPRECATED, both, deprecated_versions, now=str(head.deprecated))
    if restored_versions := (base.deprecated - head.deprecated) & base.valid & head.valid:
        yield Change(Kind.UNDEPRECATED, both, restored_versions, was=str(base.deprecated))


def _group_changes(base: Message | None, head: Message, statuses: VersionStatuses) -> Iterator[Change]:
    """The changes of versions that are not new, against the message of their group; also new fields and reused tags.

    A change of a field that versions of several statuses have is reported only for the first of them.
    """
    containers: dict[int, Sequence[ContainerPair]] = {}  # by the id of the message that the head is compared with
    for message in (base, *(group.message for group in statuses.groups)):
        if message and id(message) not in containers:
            both = Both(message, head)
            containers[id(message)] = container_pairs(both)
            yield from _reused_tags(both, containers[id(message)], statuses)
    first_statuses: dict[tuple[str, str], Status] = {}  # by the name of the change and its field
    collected_versions: dict[Status, VersionRange] = {}
    collected_names: defaultdict[Status, dict[str, None]] = defaultdict(dict)  # of fields, else of properties
    for status, message, versions, release in statuses.groups:
        changes = version_changes(Both(message, head), containers[id(message)], versions)
        if base and message is not base:
            changes = _without_earlier(changes, Both(message, base), versions)
        for change in changes:
            reported_change = replace(
                change, status=status, release=release, highest_released=statuses.highest_released
            )
            if reported_change.policy == "collect":
                collected_versions[status] = collected_versions.get(status, NONE) | change.versions
                collected_names[status][change.subject or change.row.key] = None
            elif first_statuses.setdefault((change.name, change.field), status) == status:
                yield reported_change
    if base is None:
        return
    both = Both(base, head)
    for status, versions in collected_versions.items():
        yield Change(Kind.UNSTABLE_CHANGED, both, versions, status=status, now=", ".join(collected_names[status]))
    changed_fields = {field for name, field in first_statuses if name == "layout-changed"}
    for change in _additions(both, containers[id(base)], statuses):
        if change.name != "new-field" or change.field not in changed_fields:
            yield change


def _additions(both: Both, containers: Iterable[ContainerPair], statuses: VersionStatuses) -> Iterator[Change]:
    """A version that is no longer unstable, the new fields, and what else begins or ends in versions new to clients."""
    base, head = both
    stable_versions = statuses.versions["unstable"] & head.valid - head.unstable_version
    if stable_versions:
        words = sentences_on(head, stable_versions)
        yield Change(Kind.VERSION_STABLE, both, stable_versions, status="unstable", was="true", note=words)
    new_fields = set()
    for change in _new_fields(both, containers, statuses):
        new_fields.add(change.field)
        yield change
    for change in later_changes(both, head.valid - base.valid | stable_versions):
        if change.name != "new-field" or change.field not in new_fields:
            yield change


def _without_earlier(changes: Iterable[Change], both: Both, versions: VersionRange) -> Iterator[Change]:
    """The changes from a release to the head, without those from the release to the base.

    `both` are the message of the release and the base's; `versions` are the versions to compare these two in.
    """
    earlier_versions: dict[tuple[object, ...], VersionRange] = {}
    for change in version_changes(both, container_pairs(both), versions & both.head.valid):
        outcome = _outcome(change)
        earlier_versions[outcome] = earlier_versions.get(outcome, NONE) | change.versions
    for change in changes:
        if own_versions := change.versions - earlier_versions.get(_outcome(change), NONE):
            yield replace(change, versions=own_versions)


def _outcome(change: Change) -> tuple[object, ...]:
    """A key that is equal for changes of the same field with the same result, whether base or head made the change."""
    return change.name, change.kind, change.field, change.now, change.new_tag


def _new_fields(both: Both, containers: Iterable[ContainerPair], statuses: VersionStatuses) -> Iterator[Change]:
    """The fields added outside of released versions; a version that the base lacks is new, even if released."""
    base, head = both
    released_versions = statuses.versions["released"] & base.valid
    for container in containers:
        for base_field, head_field in container.fields:
            if base_field or not head_field:
                continue
            versions = head_field.versions & container.head_versions & head.valid
            if not versions or versions & released_versions:
                continue
            status = statuses.best(versions) if versions & base.valid else "new"
            kind = Kind.NEW_FIELD if head_field.tag is None else Kind.NEW_TAGGED_FIELD
            yield Change(kind, both, versions, (None, head_field), status=status)


# Tag numbers that are used again


def _older_tags(
    base: Message | None, head: Message, older_messages: Mapping[tuple[str, str], Sequence[Message]]
) -> Iterator[Change]:
    """The tags of the head that mean another field in an older tree, whose messages are by name and type.

    A field that has the tag under another name is a rename only if the base has this field with the tag, too: a tag
    that the base no longer has stays reserved.
    """
    ids_with_kept_tag = _ids_with_kept_tag(base, head) if base else set()
    reported_fields: set[str] = set()
    for name in sorted({message.name for message in (head, base) if message}):
        for older_message in older_messages.get((name, head.type), ()):
            require_comparable(older_message, head)
            both = Both(older_message, head)
            statuses = VersionStatuses.of(older_message, head, None)
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
    """The tags of the head that mean another field in the base.

    Between them there may be a third message, in a later tree than the base. `ids_with_kept_tag` are then the ids of
    the fields of the head that have the same tag there; the other fields took a tag that was free meanwhile.
    """
    base, head = both
    for container in containers:
        holders = {
            holder.tag: (holder_in_base, holder)
            for holder_in_base, holder in container.fields
            if holder and holder.tag is not None
        }
        for base_field, head_field in container.fields:
            if base_field is None or base_field.tag not in holders:
                continue
            if head_field and head_field.tag == base_field.tag:  # even if `holders` has another field with the tag
                holder = head_field
                was_given_up = ids_with_kept_tag is not None and id(head_field) not in ids_with_kept_tag
                is_reused = was_given_up and not _is_restored(base_field, head_field)
            else:
                holder_in_base, holder = holders[base_field.tag]
                is_reused = holder_in_base is None or holder_in_base.tag != holder.tag
            if not is_reused:
                continue
            base_versions = (
                base_field.tagged & base_field.versions & container.base_versions & base.valid & base.flexible
            )
            stable_versions = head.valid & head.flexible - head.unstable_version
            versions = holder.tagged & holder.versions & container.head_versions & stable_versions
            if base_versions and versions:
                common = versions & base_versions
                status = statuses.best(base_versions)
                yield Change(Kind.TAG_REUSED, both, common or versions, (base_field, holder), status=status)


def _ids_with_kept_tag(base: Message, head: Message) -> set[int]:
    """The ids of the fields of the head that have the same tag in the base."""
    pairs = [fields for container in container_pairs(Both(base, head)) for fields in container.fields]
    return {
        id(head_field)
        for base_field, head_field in pairs
        if base_field and head_field and base_field.tag == head_field.tag is not None
    }


def _is_restored(base: Field, head: Field) -> bool:
    """Whether a field is the same as one that was removed before: it has its name and type."""
    return (base.name, base.element_type, base.is_array) == (head.name, head.element_type, head.is_array)
