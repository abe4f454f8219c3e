"""What messages and structs have in common: an ordered list of fields, and facts about siblings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from kiplint.model.fact import fact
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from kiplint.model.field import Field


class Container:
    """A message or a struct."""

    common = False

    @fact
    def name(self) -> str:
        """The name."""
        raise NotImplementedError

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the object that has the `fields`."""
        raise NotImplementedError

    @fact
    def path(self) -> str:
        """The names that lead to it, joined by dots; empty for a message."""
        return ""

    @fact
    def versions(self) -> VersionRange:
        """The versions in which it exists."""
        raise NotImplementedError

    @fact
    def present(self) -> VersionRange:
        """The valid versions in which it is really there."""
        raise NotImplementedError

    @fact
    def fields(self) -> tuple[Field, ...]:
        """The fields, in order, without those of nested structs."""
        raise NotImplementedError

    @fact
    def by_name(self) -> dict[str, Field]:
        """The fields by name; of several with one name, the first."""
        return {field.name: field for field in reversed(self.fields)}

    @fact
    def has_open_fields(self) -> bool:
        """Whether a field has versions without an end."""
        return any(field.is_open_ended for field in self.fields)

    @fact
    def has_map_keys(self) -> bool:
        """Whether a field is a map key, so that Java keeps the elements in a linked hash set."""
        return any(field.map_key for field in self.fields)

    @fact
    def tagged_fields(self) -> tuple[Field, ...]:
        """The fields that have a tag number."""
        return tuple(field for field in self.fields if field.tag is not None)

    @fact
    def name_twins(self) -> dict[int, str]:
        """By index of a field: the name of an earlier one that becomes the same Java member."""
        if len({field.name.lower() for field in self.fields}) == len(self.fields):
            return {}
        return _twins(self.fields, lambda field: field.java_name)

    @fact
    def about_twins(self) -> dict[int, str]:
        """By index of a field: the name of an earlier one with the same description."""
        described = tuple(field for field in self.fields if field.about)
        if len({field.about for field in described}) == len(described):
            return {}
        return _twins(described, lambda field: field.about)

    @fact
    def tag_twins(self) -> dict[int, str]:
        """By index of a field: the name of an earlier one with the same tag."""
        return _twins(self.tagged_fields, lambda field: field.tag)

    @fact
    def next_tag(self) -> int:
        """The lowest tag that no field has."""
        taken = {field.tag for field in self.tagged_fields}
        return next(tag for tag in range(len(taken) + 1) if tag not in taken)

    @fact
    def skipped_tags(self) -> dict[int, int]:
        """By index of a field: the lowest unused tag, where it has the lowest tag above a gap that no twin fills."""
        if any((field.tag or 0) < 0 for field in self.tagged_fields) or any(
            field.tag is None and field.tagged for field in self.fields
        ):
            return {}  # which tag is missing is not known
        expected, spare = 0, len(self.tag_twins)  # a tag that is given twice is meant to be an unused one
        for field in sorted(self.tagged_fields, key=lambda one: one.tag or 0):
            missing = max((field.tag or 0) - expected, 0)
            if missing > spare:
                return {field.index: expected + spare}
            spare -= missing
            expected = max(expected, (field.tag or 0) + 1)
        return {}

    @fact
    def tags_after(self) -> dict[int, int]:
        """By index of a field: the tag of the tagged field before it, when that is higher."""
        fields = self.tagged_fields
        pairs = itertools.pairwise(fields)
        return {two.index: one.tag for one, two in pairs if (one.tag or 0) > (two.tag or 0) and one.tag is not None}


def _twins(fields: tuple[Field, ...], key: Callable[[Field], Hashable]) -> dict[int, str]:
    seen: dict[Hashable, str] = {}
    twins: dict[int, str] = {}
    for field in fields:
        value = key(field)
        if value in seen:
            twins[field.index] = seen[value]
        else:
            seen[value] = field.name
    return twins
