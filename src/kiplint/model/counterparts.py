"""The owner of each name and API key in a list of definitions, and the counterparts of definitions in the base.

Both are decided from definitions alone, in this order, so that no step needs a later one:

1. The owners of names, then of API keys, in the base.
2. By name: a definition's counterpart is the base's owner of its name, if that has the same type.
3. The owners of names, then of API keys, in the head. Where several have one, those that are like their counterparts
   of step 2 come first.
4. By API key, for names that the base does not have: the counterpart is the base's owner of type and key, if its name
   is gone from the head, and the two are related: they, or the other messages of their RPCs, share names or fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from kiplint.model.definition import PARTNER_TYPES, SUFFIXES, Definition

Counterparts = Mapping[Definition, Definition]
"""By definition of the head, its counterpart in the base. New definitions are not in it."""


class Owners:
    """The owner of each name and of each API key in a list of definitions, some of which may share one."""

    def __init__(self, definitions: Sequence[Definition], counterparts: Counterparts) -> None:
        """`counterparts` are those by name; they decide which of several definitions with one name is the original."""
        self._definitions = definitions
        self._counterparts = counterparts

    @cached_property
    def by_name(self) -> dict[str, Definition]:
        """The definition of each name; of several, the probable original."""
        owners: dict[str, Definition] = {}
        for definition in sorted(self._definitions, key=self._originality, reverse=True):
            owners.setdefault(definition.name, definition)
        return owners

    @cached_property
    def by_key(self) -> dict[tuple[str, int], Definition]:
        """The definition of each type and API key, without those that the type contradicts; of several, the original.

        It is the one that the base has with this key, otherwise the one of which the other message has the key too,
        else the probable original.
        """

        def rank(definition: Definition) -> tuple[bool, bool, int, bool, int]:
            counterpart, partner = self._counterparts.get(definition), self.partner_by_name(definition)
            had_key = counterpart is not None and counterpart.api_key == definition.api_key
            partner_has_key = partner is not None and partner.api_key == definition.api_key
            return had_key, partner_has_key, *self._originality(definition)

        owners: dict[tuple[str, int], Definition] = {}
        candidates = [definition for definition in self._definitions if has_usable_key(definition)]
        for definition in sorted(candidates, key=rank, reverse=True):
            if definition.api_key is not None:
                owners.setdefault((definition.type, definition.api_key), definition)
        return owners

    def partner_by_name(self, definition: Definition) -> Definition | None:
        """The other message of an RPC or coordinator record, found by its name, or None."""
        partner_type = PARTNER_TYPES.get(definition.type)
        if partner_type is None:
            return None
        partner = self.by_name.get(definition.base_name + SUFFIXES[partner_type])
        return partner if partner and partner.type == partner_type else None

    def partner(self, definition: Definition) -> Definition | None:
        """The response to a request, or the request of a response, by API key; None for messages of other types."""
        if not definition.is_rpc or definition.api_key is None:
            return None
        return self.by_key.get((PARTNER_TYPES[definition.type], definition.api_key))

    def _originality(self, definition: Definition) -> tuple[int, bool, int]:
        """A sort key: `originality`, and then the highest version, as there may be several without a counterpart."""
        return *originality(definition, self._counterparts.get(definition)), definition.valid.highest


def has_usable_key(definition: Definition) -> bool:
    """Whether a definition has an API key, and its name does not contradict its type."""
    return definition.api_key is not None and not definition.is_mistyped


def originality(definition: Definition, counterpart: Definition | None) -> tuple[int, bool]:
    """A sort key for definitions with one name or API key: the highest is the probable original.

    How much of it the base has counts first, then whether its file is named after it, as that of a copy is not.
    """
    similarity = 0
    if counterpart:
        same_file = counterpart.file_name == definition.file_name
        similarity = 1 + (counterpart.api_key == definition.api_key) + same_file
    return similarity, definition.file_stem == definition.name


def find_counterparts(definitions: Sequence[Definition], base: Owners) -> tuple[Owners, Counterparts]:
    """The owners in a list of definitions, and the counterparts of its definitions in a base."""
    by_name = dict(_by_name(definitions, base))
    owners = Owners(definitions, by_name)
    return owners, {**by_name, **dict(_by_key(definitions, owners, base))}


def _by_name(definitions: Sequence[Definition], base: Owners) -> Iterator[tuple[Definition, Definition]]:
    """Each definition whose name the base has with the same type, with its counterpart."""
    for definition in definitions:
        counterpart = base.by_name.get(definition.name)
        if counterpart and counterpart.type == definition.type:
            yield definition, counterpart


def _by_key(definitions: Sequence[Definition], owners: Owners, base: Owners) -> Iterator[tuple[Definition, Definition]]:
    """Each definition that was renamed, with its counterpart: the base lacks its name, but has its API key."""
    for definition in definitions:
        if definition.api_key is None or definition.name in base.by_name:
            continue
        counterpart = base.by_key.get((definition.type, definition.api_key))
        if counterpart and is_renamed(counterpart, base, definition, owners):
            yield definition, counterpart


def is_renamed(base: Definition, base_owners: Owners, head: Definition, head_owners: Owners) -> bool:
    """Whether a definition of the head is one of the base, with the same API key, under another name."""
    return base.name not in head_owners.by_name and are_related(base, base_owners, head, head_owners)


def are_related(base: Definition, base_owners: Owners, head: Definition, head_owners: Owners) -> bool:
    """Whether two definitions with one API key are one message under two names, not two different messages.

    They are if they, or the other messages of their RPCs, share more than half of the words of the shorter name, or
    of the fields of the smaller one, without the usual fields. So AlterIsr became AlterPartition.
    """
    if _are_similar(base, head):
        return True
    base_partner, head_partner = base_owners.partner(base), head_owners.partner(head)
    return base_partner is not None and head_partner is not None and _are_similar(base_partner, head_partner)


_USUAL_FIELDS: Final = frozenset({"ErrorCode", "ErrorMessage", "ThrottleTimeMs"})
"""The fields that many unrelated messages have."""


def _are_similar(base: Definition, head: Definition) -> bool:
    """Whether two definitions share their name, or most of its words, or most of their unusual fields."""
    return (
        base.name == head.name
        or _share_most(_words_of_name(base), _words_of_name(head))
        or _share_most(base.field_names - _USUAL_FIELDS, head.field_names - _USUAL_FIELDS)
    )


def _words_of_name(definition: Definition) -> frozenset[str]:
    """`Alter`, `ISR` and `2` for AlterISR2Request."""
    return frozenset(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z0-9]+", definition.base_name))


def _share_most(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether more than half of the smaller set is in both."""
    return 2 * len(first & second) > min(len(first), len(second))
