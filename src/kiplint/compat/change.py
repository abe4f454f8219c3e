"""A change: what it is by a table of all kinds, where it is, how its sides are shown, and the finding about it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from kiplint.compat.proof import Proof
from kiplint.compat.restoration import dependents, postponement, restoration
from kiplint.engine.finding import Finding, Location, Violation, fingerprint
from kiplint.engine.language import register
from kiplint.engine.rule import Breaks, Rule
from kiplint.engine.run import located_finding
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot, cached_layout, describe, layout, lines, slot
from kiplint.model.message import Message, rpc_of
from kiplint.model.schemas import partner
from kiplint.text.show import printable
from kiplint.text.tree import Locator
from kiplint.versions import NONE, VersionRange

Status = Literal["released", "base", "unstable", "new"]
"""Of a version: in a release (without any release: stable in the base); only in the base; in the base, but unstable
(`latestVersionUnstable`); only in the head.
"""

STATUSES: Final[tuple[Status, ...]] = ("released", "base", "unstable", "new")
"""In order of precedence: a change of several versions has the first status that one of them has."""

Policy = Literal["rule", "info", "collect", "none"]
"""A change is reported as its rule says; as an info that breaks nothing; with all others that are collected, as one
`unstable-changed`; or not at all.
"""
Policies = tuple[Policy, Policy, Policy, Policy]
"""The policy for versions of each of `STATUSES`."""


FieldPair = tuple[Field | None, Field | None]
MessagePair = tuple[Message | None, Message | None]


class Both(NamedTuple):
    """A message that both sets have, as it is in each of them."""

    base: Message
    head: Message


# How the two sides of a change are shown: `side` is 0 for the base, 1 for the head.


def _property(change: Change, side: int) -> dict[str, str]:
    """The property that changed, as in `{"tag": "3"}`; empty where that side has none."""
    text = change.now if side else change.was
    return {change.row.key: text} if text else {}


def _comment(change: Change, side: int) -> dict[str, str]:
    """The sentences of the comments that the other side lacks."""
    text = change.now if side else change.was
    return {"comment": text} if text else {}


def _declaration(change: Change, side: int) -> dict[str, str]:
    """How the field is declared, in the first of the versions: what somebody needs who has to write or read it.

    `before` is the field that follows it there, omitted for the last one and for a tagged one; `fields` are those of
    its structs.
    """
    field, version = change.fields[side], change.versions.lowest
    if field is None:
        return {}
    texts = {"versions": str(field.versions), "type": field.type}
    if version not in field.versions:  # it ended
        return texts
    is_flexible = version in field.message.flexible
    if version in field.tagged:
        if field.tag is not None and is_flexible:
            texts |= {"tag": str(field.tag), "taggedVersions": str(field.tagged)}
    else:
        following_fields = islice(field.owner.fields, field.position + 1, None)
        valid_fields = (following for following in following_fields if version in following.versions)
        names = (following.name for following in valid_fields if version not in following.tagged)
        if name := next(names, ""):
            texts["before"] = name
    if version in field.nullable:
        texts["nullableVersions"] = str(field.nullable)
    if field.has_default:
        texts["default"] = field.default
    if body := slot(field, version, is_flexible).body:
        texts["fields"] = shown_layout(body)
    if field.message.is_rpc:
        texts["ignorable"] = str(field.ignorable).lower()
    return texts


def _container_layout(change: Change, side: int) -> dict[str, str]:
    """The layout of the message or struct that the field is in, as in `{"layout": "Topics array of string"}`."""
    version, message = change.versions.lowest, change.messages[side]
    is_flexible = message is not None and version in message.flexible
    return {"layout": _shown_near(change.fields[side], change.containers[side], version, is_flexible=is_flexible)}


def _tag_layout(change: Change, side: int) -> dict[str, str]:
    """The layout of the message or struct that the tagged field is in."""
    field = change.fields[side]
    if field is None:
        return {}
    return {"layout": _shown_near(field, field.owner, change.versions.lowest, is_flexible=True)}


def _message_layout(change: Change, side: int, *, empty_tags: bool = False) -> dict[str, str]:
    """The layout of the whole message in the first version that changes."""
    message = change.messages[side]
    return {"layout": shown_layout(layout(message, change.versions.lowest), empty_tags=empty_tags)} if message else {}


def _key_layout(change: Change, side: int) -> dict[str, str]:
    """The layout of a coordinator's key. In the base the record type is the version, the head has other versions."""
    message = change.messages[side]
    if message is None:
        return {}
    return {"layout": shown_layout(layout(message, message.valid.lowest if side else change.versions.lowest))}


def _nothing(change: Change, side: int) -> dict[str, str]:
    """Nothing, for what is not about a property."""
    return {}


_ALWAYS: Final[Policies] = ("rule", "rule", "rule", "rule")
_BYTES: Final[Policies] = ("rule", "collect", "collect", "none")
_PROPERTY: Final[Policies] = ("rule", "info", "info", "none")
_ADDITION: Final[Policies] = ("none", "rule", "rule", "rule")
_NEW: Final[Policies] = ("none", "none", "none", "rule")
_NEW_TO_CLIENTS: Final[Policies] = ("none", "none", "rule", "rule")
_UNLESS_NEW: Final[Policies] = ("rule", "rule", "rule", "none")
_RELEASED: Final[Policies] = ("rule", "none", "none", "none")


class Kind(Enum):
    """The kinds of changes. A row is all that there is to say of a kind; the detector that finds it makes the change.

    The columns: `label`, the `kind` in JSON; the `policies`, what it means by status; the `key`, the JSON property that
    it points to, empty for the whole message; `shows`, how each side is shown; the `rule` of the compat pack, by
    default that of the label. Kinds share a label where users see the same: a field is new, in a released version
    (FIELD_ADDED) or not (NEW_FIELD); a name is another, of the field (FIELD_RENAMED) or of its bytes.
    """

    NOT_COMPARED = "not-compared", _ALWAYS, "name", _nothing
    MESSAGE_REMOVED = "message-removed", _PROPERTY
    NEW_MESSAGE = "new-message", _NEW
    MESSAGE_RENAMED = "message-renamed", _PROPERTY, "name"
    MESSAGE_TYPE_CHANGED = "message-type-changed", _PROPERTY, "type", _property, "type-changed"
    API_KEY_CHANGED = "api-key-changed", _PROPERTY, "apiKey"
    API_KEY_REUSED = "api-key-reused", _UNLESS_NEW, "apiKey"
    RECORD_TYPE_MOVED = "record-type-moved", _PROPERTY, "apiKey", _key_layout
    RECORD_KEY_CHANGED = "layout-changed", _PROPERTY, "versions", _key_layout
    VERSION_DROPPED = "version-dropped", _PROPERTY, "validVersions"
    NEW_VERSION = "new-version", _NEW, "validVersions"
    GAP_IN_VERSIONS = "gap-in-versions", _PROPERTY, "validVersions"
    RELEASED_UNSTABLE = "released-unstable", _RELEASED, "latestVersionUnstable"
    LISTENER_REMOVED = "listener-removed", _PROPERTY, "listeners"
    LISTENER_ADDED = "listener-added", _PROPERTY, "listeners"
    DEPRECATED = "deprecated", _PROPERTY, "deprecatedVersions"
    UNDEPRECATED = "undeprecated", _PROPERTY, "deprecatedVersions"
    VERSION_STABLE = (
        "version-stable",
        ("none", "none", "rule", "none"),
        "latestVersionUnstable",
        _property,
        "new-version",
    )
    FLEXIBLE_LATER = "flexible-later", _NEW_TO_CLIENTS, "flexibleVersions"
    HEADER_LATER = "header-later", _NEW_TO_CLIENTS, "headerVersions"
    COMMENT_CHANGED = "comment-changed", _UNLESS_NEW, "", _comment
    FROZEN_BUMPED = "frozen-bumped", _NEW, "validVersions"
    RESPONSE_NOT_BUMPED = "response-not-bumped", _NEW, "validVersions"
    UNSTABLE_CHANGED = "unstable-changed", ("none", "rule", "rule", "none"), "validVersions", _message_layout
    HEADER_CHANGED = "header-changed", _BYTES, "headerVersions"
    FLEXIBLE_CHANGED = "flexible-changed", _BYTES, "flexibleVersions", partial(_message_layout, empty_tags=True)
    FIELD_FLEXIBLE_CHANGED = (
        "field-flexible-changed",
        _BYTES,
        "flexibleVersions",
        _container_layout,
        "flexible-changed",
    )
    FIELD_ADDED = "field-added", _BYTES, "versions", _container_layout, "layout-changed"
    FIELD_REMOVED = "field-removed", _BYTES, "versions", _container_layout, "layout-changed"
    TYPE_CHANGED = "type-changed", _BYTES, "type", _container_layout, "layout-changed"
    MEANING_CHANGED = "meaning-changed", _BYTES, "type", _container_layout, "layout-changed"
    TYPE_RETYPED = "type-retyped", _PROPERTY, "type", _container_layout
    NULLABILITY_WIDENED = "nullability-widened", _BYTES, "nullableVersions", _container_layout
    NULLABILITY_NARROWED = "nullability-narrowed", _BYTES, "nullableVersions", _container_layout
    FIELDS_REORDERED = "fields-reordered", _BYTES, "versions", _container_layout
    FIELD_RENAMED = "field-renamed", _PROPERTY, "name"
    FIELD_REPLACED = "field-renamed", _PROPERTY, "name", _container_layout
    STRUCT_RENAMED = "struct-renamed", _PROPERTY, "type"
    DEFAULT_CHANGED = "default-changed", _PROPERTY, "default"
    ENTITY_TYPE_CHANGED = "entity-type-changed", _PROPERTY, "entityType"
    MAP_KEY_CHANGED = "map-key-changed", _PROPERTY, "mapKey"
    IGNORABLE_CHANGED = "ignorable-changed", _PROPERTY, "ignorable"
    NEW_FIELD = "field-added", _ADDITION, "versions", _declaration, "new-field"
    NEW_TAGGED_FIELD = "tag-added", _ADDITION, "versions", _declaration, "new-field"
    FIELD_ENDED = "field-ended", _NEW_TO_CLIENTS, "versions", _declaration
    NULLABLE_LATER = "nullable-later", _NEW_TO_CLIENTS, "nullableVersions"
    NULLABLE_NO_LONGER = "nullable-no-longer", _NEW_TO_CLIENTS, "nullableVersions", _property, "nullable-later"
    TAGGED_LATER = "tagged-later", _NEW_TO_CLIENTS, "taggedVersions", _declaration
    TAG_CHANGED = "tag-changed", _BYTES, "tag", _container_layout
    TAGGED_MOVED = "tagged-moved", _BYTES, "taggedVersions", _container_layout
    TAG_REMOVED = "tag-removed", _BYTES, "versions", _container_layout
    NEW_TAG = "tag-added", _BYTES, "tag", _container_layout, "new-tag"
    TAG_REUSED = "tag-reused", _RELEASED, "tag", _tag_layout

    def __init__(
        self,
        label: str,
        policies: Policies,
        key: str = "",
        shows: Callable[[Change, int], dict[str, str]] = _property,
        rule: str = "",
    ) -> None:
        """Take the columns of a row."""
        self.label = label
        self.policies = policies
        self.key = key
        self.shows = shows
        self.rule = rule or label


class ChangeFinding(Finding, frozen=True, kw_only=True, omit_defaults=True):
    """One change as it is reported; it is also a line of the jsonl output of `diff`.

    The location is in the head; of a removed message, in the base.
    """

    breaks: Annotated[Breaks, Meta(description="What the change breaks.")]
    kind: Annotated[str, Meta(description="The kind of change, such as `field-removed`.")]
    message_type: str
    versions: Annotated[str, Meta(description="The versions that change; empty for none.")]
    field: Annotated[str, Meta(description="The path of the field; empty for a change of the whole message.")]
    old: Annotated[dict[str, Any], Meta(description="What the old set has, by property.")]
    new: Annotated[dict[str, Any], Meta(description="What the new set has, by property.")]
    proof: tuple[Proof, ...]
    accepted: Annotated[str, Meta(description="The reason why it is accepted; omitted if it is not.")] = ""
    unstable: Annotated[
        bool,
        Meta(description="Whether brokers do not offer the highest of the versions by default; otherwise omitted."),
    ] = False
    note: Annotated[
        str, Meta(description="What comments say about new versions, one sentence per line; omitted if there are none.")
    ] = ""

    @property
    def rpc(self) -> str:
        """The name of the RPC; of other messages their own."""
        return rpc_of(self.message_name)

    @property
    def below_heading(self) -> str:
        """The text of the finding without the name of the Kafka message, which a heading above the finding has."""
        return self.message.removeprefix(self.message_name)

    @property
    def direction(self) -> str:
        """`only what old writes and new reads`; empty where both directions break, or none by the proofs.

        A key with other bytes breaks both: when the log is compacted, it is another key.
        """
        breaking_proofs = [proof for proof in self.proof if proof.outcome != "dropped"]
        if len(breaking_proofs) != 1 or self.message_type == "coordinator-key":
            return ""
        return f"only what {breaking_proofs[0].writer} writes and {breaking_proofs[0].reader} reads"

    @property
    def remark(self) -> str:
        """What it breaks; for a change that breaks nothing, where its rule comes from."""
        return super().remark if self.breaks == "none" else f"note: breaks {self.breaks}"


class Change(msgspec.Struct, frozen=True, dict=True):
    """One difference between two sets."""

    row: Kind
    """What there is to say of all changes of its kind."""
    messages: MessagePair
    """The message in the base and in the head; None where the set does not have it."""
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    fields: FieldPair = (None, None)
    """The field in the base and in the head; both None for a change of the whole message."""
    containers: tuple[Container, ...] = ()
    """The messages or structs that the field is in, in the base and in the head, where a side shows their layout."""
    status: Status = "released"
    """The status of `versions`."""
    release: str = ""
    """The release that the versions are compared with, where that is not the base."""
    highest_released: int = -1
    """The highest version of the message in the newest release; -1 where there is none."""
    was: Annotated[str, "The property, the encoding or the owner in the base; empty for none."] = ""
    now: Annotated[
        str,
        "The property or the encoding in the head, empty if it was removed; for a removed message, the other message "
        "of its RPC that remains.",
    ] = ""
    note: Annotated[str, "What the comments of the head say of new versions, a line a sentence."] = ""

    @cached_property
    def name(self) -> str:
        """The rule of the compat pack about such changes, such as `layout-changed`."""
        return self.row.rule

    @cached_property
    def kind(self) -> str:
        """The kind in JSON, which may be more exact than the rule, such as `field-removed` for `layout-changed`."""
        return self.row.label

    @property
    def policy(self) -> Policy:
        """How it is reported, by the status of its versions."""
        return self.row.policies[STATUSES.index(self.status)]

    @cached_property
    def message(self) -> Message:
        """The message in the head; in the base where it was removed."""
        base, head = self.messages
        message = head or base
        assert message is not None
        return message

    @cached_property
    def base(self) -> Message | None:
        """The message in the base; None where it is new."""
        return self.messages[0]

    @cached_property
    def message_name(self) -> str:
        """The message's name."""
        return self.message.name

    @cached_property
    def other(self) -> str:
        """The type of the other message of the RPC: request or response."""
        return "request" if self.message.type == "response" else "response"

    @cached_property
    def other_versions(self) -> VersionRange:
        """The versions that the other message of the RPC also has."""
        other = partner(self.message)
        return self.versions & other.valid if other else NONE

    @cached_property
    def unstable(self) -> VersionRange:
        """Those of the versions that are unstable in the head: brokers do not offer them by default."""
        head = self.messages[1]
        return self.versions & head.unstable_version if head else NONE

    @cached_property
    def stable(self) -> VersionRange:
        """Those of the versions that are unstable in the base, and no longer in the head."""
        return self.versions & self.base.unstable_version - self.unstable if self.base else NONE

    @cached_property
    def is_early(self) -> bool:
        """Whether a comment of the base's file says that the message may still change incompatibly."""
        return self.base is not None and self.base.is_in_flux

    @cached_property
    def _highest_elsewhere(self) -> int:
        """The highest version in the base and the newest release."""
        return max(self.base.valid.highest if self.base else -1, self.highest_released)

    @cached_property
    def is_backport(self) -> bool:
        """Whether the base or a release has higher versions than the head: the next number has another meaning."""
        return self.base is not None and self._highest_elsewhere > self.message.valid.highest

    @cached_property
    def can_bump(self) -> bool:
        """Whether the change may wait for the next version: not in a backport.

        A new version of a header or a coordinator's record breaks others itself, so the head must have it already.
        """
        is_bumpable = self.message.type not in ("header", "coordinator-key", "coordinator-value")
        return not self.is_backport and (is_bumpable or self.next_version in self.message.valid)

    @cached_property
    def next_version(self) -> int:
        """The first version that may change: the highest if it is new, otherwise the one after the highest."""
        highest = self.message.valid.highest
        return highest if self.base and highest > self._highest_elsewhere else highest + 1

    @cached_property
    def bump(self) -> str:
        """The beginning of a help text, up to `, then `: how to add `next_version`; empty if it exists."""
        return f"{self._way_to_bump}, then " if self._way_to_bump else ""

    @cached_property
    def later_bump(self) -> str:
        """The end of a help text, such as `, then run ...`: the new version's comment names what begins in it."""
        return f", then {self._way_to_bump}" if self._way_to_bump else ""

    @cached_property
    def _way_to_bump(self) -> str:
        message = self.message
        if self.next_version in message.valid:
            return ""
        if message.is_rpc:
            return f"run `kiplint migrate bump {message.base_name}`"
        return f'set "validVersions": "{message.valid | VersionRange.of(self.next_version, self.next_version)}"'

    @cached_property
    def base_field(self) -> Field | None:
        """The field in the base; None where it is new."""
        return self.fields[0]

    @cached_property
    def head_field(self) -> Field | None:
        """The field in the head; None where it is gone."""
        return self.fields[1]

    @cached_property
    def subject(self) -> str:
        """The field's name in the head; in the base where it is gone; empty without a field."""
        field = self.head_field or self.base_field
        return field.name if field else ""

    @cached_property
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        field = self.head_field or self.base_field
        return field.path if field else ""

    @cached_property
    def type(self) -> str:
        """The field's type in the head; empty where it is gone."""
        return self.head_field.type if self.head_field else ""

    @cached_property
    def is_tagged(self) -> bool:
        """Whether the field is tagged in one of the versions: the absence of its tag then means the default."""
        return any(field.tagged & self.versions for field in self.fields if field)

    @cached_property
    def new_tag(self) -> int:
        """The field's tag in the head, or -1."""
        field = self.head_field
        return field.tag if field and field.tag is not None else -1

    @cached_property
    def absent_value(self) -> str:
        """What a reader takes for the field in the head where it is absent, such as `null` or `an empty array`."""
        field = self.head_field
        if field is None or field.defaults_to_null:
            return "null"
        if field.is_array or field.is_struct:
            return "an empty array" if field.is_array else "a struct of defaults"
        empty_values = {"string": '""', "bytes": "empty bytes", "records": "empty records", "bool": "false"}
        if field.has_default and field.type != "string":
            return field.default
        return f'"{field.default}"' if field.has_default else empty_values.get(field.type, "0")

    @cached_property
    def restoration(self) -> str:
        """The help that restores the field in these versions; empty if one of the sets lacks it."""
        base_field, head_field = self.fields
        return restoration(base_field, head_field, self.versions) if base_field and head_field else ""

    @cached_property
    def postponement(self) -> str:
        """The end of a help by which the field begins in `next_version`; empty if the head lacks it."""
        return postponement(self.head_field, self.next_version) if self.head_field else ""

    @cached_property
    def and_comment(self) -> str:
        """The end of a help that restores the field: `, and correct the comment` if one says what the head has."""
        names = {name for note in self.message.notes for name in note.names}
        return ", and correct the comment" if self.subject in names else ""

    @cached_property
    def and_dependents(self) -> str:
        """The end of a help that restores flexible versions: what the RPC has to correct in them besides."""
        return dependents(self.base, self.message, self.versions) if self.base else ""

    @property
    def location(self) -> Location:
        """Where the change is in the head; for a message that was removed, where it was in the base."""
        message = self.message
        if self.head_field:
            return Location(message.file, self.head_field.pointer, self.row.key, message.name)
        if self.base_field and self.messages[1]:  # the field is gone: the list of fields that it was in
            pointer = self.containers[1].pointer if self.containers else ""
            return Location(message.file, pointer, "fields", message.name)
        # A bump without the other message's is found where it was made.
        bumped_message = partner(message) if self.row is Kind.RESPONSE_NOT_BUMPED else None
        return Location((bumped_message or message).file, "", self.row.key, message.name)

    def side(self, number: int) -> dict[str, str]:
        """What the base (number 0) or the head (1) has, for the JSON output; empty for a missing message."""
        return self.row.shows(self, number) if self.messages[number] else {}

    def finding(self, violation: Violation, locator_of: Callable[[str], Locator]) -> ChangeFinding:
        """The finding about a rule that the change violates, without its proof; `locator_of` has the text of a file."""
        rule = violation.rule
        location = self.location._replace(key=rule.spec.at) if rule.spec.at else self.location
        finding = located_finding(replace(violation, location=location), locator_of(location.file))
        versions = str(self.versions) if self.versions else ""
        own_values: dict[str, Any] = {
            "severity": "info" if self.policy == "info" else finding.severity,
            "message": self._text(violation.message, versions),
            "message_name": self.message_name,
            # This points to the property even where the definition lacks it.
            "pointer": f"{location.pointer}/{location.key}" if location.key else location.pointer,
            "fingerprint": fingerprint(finding.rule, self.message_name, self.field, versions, self.kind),
            "place": "",
        }
        return ChangeFinding(
            **asdict(finding) | own_values,
            breaks=self._breaks(rule),
            kind=self.kind,
            message_type=self.message.type,
            versions=versions,
            field=self.field,
            old=self.side(0),
            new=self.side(1),
            proof=(),
            unstable=self.status in ("new", "unstable") and bool(self.unstable),
            note=self.note,
        )

    def _text(self, statement: str, versions: str) -> str:
        """What the finding is about, then the rule's statement: `FetchRequest 0-3, Topics.Name: Name is gone`."""
        name, field = self.message_name, self.field
        if field:
            statement = f"{name} {versions}, {field}: {statement}" if versions else f"{name}, {field}: {statement}"
        elif not statement.startswith(name):
            statement = f"{name}: {statement}"
        return f"{statement} (compared with {printable(self.release)})" if self.release else statement

    def _breaks(self, rule: Rule) -> Breaks:
        """What the change breaks by a rule; what breaks the wire of an RPC breaks the storage of a record."""
        if self.policy == "info":
            return "none"
        breaks = rule.spec.breaks or "none"
        if not self.message.is_record:
            return breaks
        return rule.spec.breaks_on_disk or ("storage" if breaks == "wire" else breaks)


register("change", Change, dict.fromkeys(kind.rule for kind in Kind))


MOST_SHOWN: Final = 200
"""The most lines of a layout that is shown whole, one for each field and tag section. Kafka's largest has half."""
OMITTED: Final = "..."
"""Represents what is not shown of a layout."""


def shown_layout(body: Layout, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is omitted, unless `empty_tags` is set: then that of the outermost struct is shown. A
    layout with more than `MOST_SHOWN` lines is `OMITTED`.
    """
    own_count = len(body.slots) + len(body.tags or ())
    if own_count > MOST_SHOWN or len(list(islice(lines(body), MOST_SHOWN + 1))) > MOST_SHOWN:
        return OMITTED
    parts = [_description(slot) for slot in body.slots]
    if body.tags or (empty_tags and body.tags is not None):
        tags = [f"{slot.field.tag}: {_description(slot)}" for slot in body.tags]
        parts.append(f"tags {{{', '.join(tags)}}}")
    return ", ".join(parts)


@lru_cache(maxsize=4)  # for many changes in a row of one version
def _shown_whole(container: Container, version: int, *, is_flexible: bool) -> str:
    """The layout of a message or struct in one version, as `shown_layout` shows it."""
    return shown_layout(cached_layout(container, version, is_flexible))


def _shown_near(field: Field | None, container: Container, version: int, *, is_flexible: bool) -> str:
    """The layout of the message or struct of a field in one version; of a long one only the field."""
    text = _shown_whole(container, version, is_flexible=is_flexible)
    if text != OMITTED or field is None:
        return text
    slot_of_field = cached_layout(container, version, is_flexible).slots_by_field.get(field)
    return f"{OMITTED}, {_description(slot_of_field)}, {OMITTED}" if slot_of_field else OMITTED


def _description(slot: Slot) -> str:
    """A field with its encoding, and its own fields instead of a struct's name: `Topics array of (Name string)`."""
    encoding = describe(slot)
    if slot.body is not None:
        encoding = f"{encoding.removesuffix(slot.field.element_type)}({shown_layout(slot.body)})"
    return f"{slot.field.name} {encoding}"
