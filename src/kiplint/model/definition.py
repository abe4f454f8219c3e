"""A definition: the content of one file, with every fact that needs no other file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

import msgspec

from kiplint.model import notes
from kiplint.model.spec import FieldSpec, MessageSpec, optional_range, required_range, value_or
from kiplint.text.decode import Problem
from kiplint.versions import VersionRange

SUFFIXES: Final = {
    "request": "Request",
    "response": "Response",
    "coordinator-key": "Key",
    "coordinator-value": "Value",
}
"""How the names of messages end, by type."""

PARTNER_TYPES: Final = {
    "request": "response",
    "response": "request",
    "coordinator-key": "coordinator-value",
    "coordinator-value": "coordinator-key",
}
"""The type of the other message of an RPC or coordinator record, by type."""

UNREADABLE: Final = MessageSpec(name="", type="data", valid_versions="none")
"""The JSON that replaces that of a file that cannot be read."""

_NAME: Final = rb'"name"\s*+:\s*+"([A-Za-z0-9_]{1,200})"'


class Definition:
    """One definition file as it was read: a value that sets and revisions share.

    `spec` is its JSON, repaired where it had problems, which are in `problems`; `UNREADABLE` if there is none. A
    schema set makes a `Message` of each definition that can be read.
    """

    file: str
    """The path of the file; empty where there is none."""
    file_name: str
    """The name of the file without its directory."""
    file_stem: str
    """The file's name without directory and `.json`."""
    data: bytes
    """The bytes of the file."""
    name: str
    """The name."""
    name_is_valid: bool
    """Whether the name can be the name of a Java class."""
    suffix: str
    """The suffix that the type requires (Request, Response, Key, Value), or empty."""
    base_name: str
    """The name without the suffix that its type requires."""
    type: str
    """request, response, header, metadata, data, coordinator-key or coordinator-value."""
    is_rpc: bool
    """Whether the message is a request or a response."""
    is_record: bool
    """Whether the message is stored on disk: metadata, data, coordinator key or value."""
    api_key: int | None
    """The number of the RPC or record type, or None."""
    listeners: tuple[str, ...]
    """The listeners that serve the request."""
    declares_listeners: bool
    """Whether `listeners` is present, even empty."""
    valid: VersionRange
    """The versions that exist; none for a dead message, or when they are invalid."""
    valid_problem: str
    """What is wrong with the text of `validVersions`, or empty."""
    is_dead: bool
    """Whether the message no longer has valid versions (`"validVersions": "none"`)."""
    flexible: VersionRange
    """The versions with compact encodings and tagged fields (KIP-482)."""
    flexible_problem: str
    """What is wrong with the text of `flexibleVersions`, or empty."""
    declares_flexible: bool
    """Whether `flexibleVersions` is present."""
    deprecated: VersionRange
    """The versions that clients should stop using."""
    deprecated_problem: str
    """What is wrong with the text of `deprecatedVersions`, or empty."""
    declares_unstable: bool
    """Whether `latestVersionUnstable` is true."""
    declares_headers: bool
    """Whether `headerVersions` is present, even empty."""

    def __init__(
        self,
        file: str = "",
        data: bytes = b"",
        spec: MessageSpec = UNREADABLE,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        self.file = file
        self.data = data
        self.spec = spec
        self.problems = problems
        self.file_name = file.replace("\\", "/").rpartition("/")[2]  # of a path of any operating system
        self.file_stem = self.file_name.removesuffix(".json")

        self.name = spec.name
        self.name_is_valid = self.name.isidentifier()
        self.type = spec.type
        self.suffix = SUFFIXES.get(self.type, "")
        self.base_name = self.name.removesuffix(self.suffix)
        self.is_rpc = self.type in ("request", "response")
        self.is_record = self.type not in ("request", "response", "header")
        self.api_key = value_or(spec.api_key, None)
        self.listeners = tuple(value_or(spec.listeners, []))
        self.declares_listeners = isinstance(spec.listeners, list)

        self.valid, self.valid_problem = required_range(spec.valid_versions)
        self.is_dead = not self.valid and not self.valid_problem
        self.flexible, self.flexible_problem = optional_range(spec.flexible_versions)
        self.declares_flexible = isinstance(spec.flexible_versions, str)
        self.deprecated, self.deprecated_problem = optional_range(spec.deprecated_versions)
        self.declares_unstable = value_or(spec.latest_version_unstable, False)
        self.declares_headers = isinstance(spec.header_versions, dict)

    @property
    def is_readable(self) -> bool:
        """Whether the file can be read as a message."""
        return self.spec is not UNREADABLE

    @property
    def likely_names(self) -> tuple[str, ...]:
        """The probable names of the message of an unreadable file: by its file name and text."""
        match = re.search(_NAME, self.data)
        return (self.file_stem, match[1].decode()) if match else (self.file_stem,)

    @cached_property
    def is_mistyped(self) -> bool:
        """Whether the name ends in Request and the type is response, or the reverse."""
        if self.type == "request":
            return self.name.endswith("Response")
        return self.type == "response" and self.name.endswith("Request")

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """The properties that are present and not null, by their JSON names."""
        return tuple(name for name, value in msgspec.to_builtins(self.spec).items() if value is not None)

    @cached_property
    def misspelt(self) -> frozenset[str]:
        """The properties that the message lacks because their names are probably misspelled."""
        return self.misspelt_by_owner.get("", frozenset())

    @cached_property
    def misspelt_by_owner(self) -> dict[str, frozenset[str]]:
        """By pointer of an object: the properties that it lacks because their names are probably misspelled."""
        names: dict[str, frozenset[str]] = {}
        for problem in self.problems:
            if problem.intended_property:
                owner, _, _ = problem.pointer.rpartition("/")
                names[owner] = names.get(owner, frozenset()) | {problem.intended_property}
        return names

    @cached_property
    def loses_header_ranges(self) -> bool:
        """Whether `headerVersions` has an entry of a wrong type or a duplicate key, so that readers lose entries."""
        return any(
            problem.kind in ("duplicate-key", "wrong-type")
            and not problem.harmless
            and problem.pointer.startswith("/headerVersions")
            for problem in self.problems
        )

    @cached_property
    def field_names(self) -> frozenset[str]:
        """The names of its fields at every depth."""
        structs = value_or(self.spec.common_structs, [])
        owners = (self.spec.fields, *(struct.fields for struct in structs))
        return frozenset(name for fields in owners for name in _names_in(value_or(fields, [])))

    @cached_property
    def documented_versions(self) -> VersionRange:
        """The versions that some comment mentions."""
        return notes.documented_versions(self.data)

    @cached_property
    def is_in_flux(self) -> bool:
        """Whether a comment states that the message may still change incompatibly."""
        return notes.is_in_flux(self.data)


def _names_in(fields: Iterable[FieldSpec]) -> Iterator[str]:
    """The names of the fields, each followed by those of the fields of its struct."""
    for field in fields:
        yield field.name
        yield from _names_in(value_or(field.fields, []))
