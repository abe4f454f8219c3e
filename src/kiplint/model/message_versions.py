"""The versions that a message has something in: it exists, is flexible, is deprecated, may still change."""

from __future__ import annotations

from kiplint.model.element import Ranged, given, optional_range, required_range
from kiplint.model.fact import fact
from kiplint.model.spec import MessageSpec
from kiplint.model.written import WrittenMessage
from kiplint.versions import NONE, VersionRange


class VersionedMessage(WrittenMessage):
    """The part of a message that is about its ranges of versions; `spec` is its JSON as written."""

    spec: MessageSpec

    @fact
    def _valid(self) -> Ranged:
        return required_range(self.spec.valid_versions, NONE)

    @fact
    def valid(self) -> VersionRange:
        """The versions that exist; none for a dead message, or when they cannot be read."""
        return self._valid.value

    @fact
    def valid_problem(self) -> str:
        """What is wrong with the text of `validVersions`, or empty."""
        return self._valid.problem

    @fact
    def versions(self) -> VersionRange:
        """The same as `valid`: the versions in which the top-level fields may exist."""
        return self.valid

    @fact
    def present(self) -> VersionRange:
        """The same as `valid`."""
        return self.valid

    @fact
    def is_dead(self) -> bool:
        """Whether the message has no valid version left (`"validVersions": "none"`)."""
        return not self.valid and not self.valid_problem

    @fact
    def _flexible(self) -> Ranged:
        return optional_range(self.spec.flexible_versions)

    @fact
    def flexible(self) -> VersionRange:
        """The versions with compact encodings and tagged fields (KIP-482)."""
        return self._flexible.value

    @fact
    def flexible_problem(self) -> str:
        """What is wrong with the text of `flexibleVersions`, or empty."""
        return self._flexible.problem

    @fact
    def says_flexible(self) -> bool:
        """Whether `flexibleVersions` is given."""
        return isinstance(self.spec.flexible_versions, str)

    @fact
    def _deprecated(self) -> Ranged:
        return optional_range(self.spec.deprecated_versions)

    @fact
    def deprecated(self) -> VersionRange:
        """The versions that clients should leave."""
        return self._deprecated.value

    @fact
    def deprecated_problem(self) -> str:
        """What is wrong with the text of `deprecatedVersions`, or empty."""
        return self._deprecated.problem

    @fact
    def unstable(self) -> bool:
        """Whether the highest version may still change."""
        return given(self.spec.latest_version_unstable, False)

    @fact
    def says_unstable(self) -> bool:
        """Whether `latestVersionUnstable` is given, whatever its value."""
        return isinstance(self.spec.latest_version_unstable, bool)
