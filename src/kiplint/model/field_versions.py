"""The versions that a field has something in: it exists, is tagged, may be null, is compact."""

from __future__ import annotations

from kiplint.model.element import Ranged, given, optional_range, required_range
from kiplint.model.fact import fact
from kiplint.model.peer_facts import PeerFacts
from kiplint.versions import VersionRange


class VersionedField(PeerFacts):
    """The part of a field that is about its ranges of versions."""

    @fact
    def _versions(self) -> Ranged:
        text = self.spec.versions
        if not text or text.isspace():
            fallback = optional_range(self.spec.tagged_versions)
            return Ranged(fallback.value, "" if fallback.value else "is empty")
        return required_range(text, self.owner.versions)

    @fact
    def versions(self) -> VersionRange:
        """The versions in which the field exists; those of its owner when they cannot be read."""
        return self._versions.value

    @fact
    def is_open_ended(self) -> bool:
        """Whether the field's versions have no end."""
        return self.versions.open

    @fact
    def starts_late(self) -> bool:
        """Whether the field's versions begin above 0."""
        return self.versions.lowest > 0

    @fact
    def versions_problem(self) -> str:
        """What is wrong with the text of `versions`, or empty."""
        return self._versions.problem

    @fact
    def present(self) -> VersionRange:
        """The valid versions in which the field is really there: its owner is, and it is itself."""
        return self.versions & self.owner.present

    @fact
    def is_current(self) -> bool:
        """Whether the field is there in the highest valid version that its message or struct is in."""
        return bool(self.present) and self.present.highest == self.owner.present.highest

    @fact
    def _tagged(self) -> Ranged:
        return optional_range(self.spec.tagged_versions)

    @fact
    def tagged(self) -> VersionRange:
        """The versions in which the field is tagged."""
        return self._tagged.value

    @fact
    def tagged_problem(self) -> str:
        """What is wrong with the text of `taggedVersions`, or empty."""
        return self._tagged.problem

    @fact
    def _nullable(self) -> Ranged:
        return optional_range(self.spec.nullable_versions)

    @fact
    def nullable(self) -> VersionRange:
        """The versions in which the value may be null."""
        return self._nullable.value

    @fact
    def nullable_problem(self) -> str:
        """What is wrong with the text of `nullableVersions`, or empty."""
        return self._nullable.problem

    @fact
    def overrides_flexible(self) -> bool:
        """Whether the field has flexible versions of its own."""
        text = given(self.spec.flexible_versions, "")
        return bool(text) and not text.isspace()

    @fact
    def may_override_flexible(self) -> bool:
        """Whether the type, string or bytes, has an old and a compact encoding that a field may choose from."""
        return not self.is_array and self.element_type in ("string", "bytes")

    @fact
    def _flexible(self) -> Ranged:
        return optional_range(self.spec.flexible_versions, self.message.flexible)

    @fact
    def flexible(self) -> VersionRange:
        """The versions with the compact encoding: the field's own, else the message's."""
        return self._flexible.value

    @fact
    def flexible_problem(self) -> str:
        """What is wrong with the text of the field's `flexibleVersions`, or empty."""
        return self._flexible.problem
