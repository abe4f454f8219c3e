"""A message: one definition file, and every fact about it that a rule may use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Final

import msgspec

from kiplint.model import notes
from kiplint.model.fields import Container, Field, Struct, find_duplicates
from kiplint.model.headers import API_VERSIONS, HeaderRange, derived_map, header_map, header_ranges_of
from kiplint.model.notes import Note, notes_of
from kiplint.model.schemas import SUFFIXES, SchemaSet
from kiplint.model.spec import MessageSpec, optional_range, required_range, value_or
from kiplint.text.decode import Problem
from kiplint.versions import Interval, VersionRange

PROTECTED: Final = {
    3: "Metadata",
    17: "SaslHandshake",
    18: "ApiVersions",
    47: "OffsetDelete",
    71: "GetTelemetrySubscriptions",
    72: "PushTelemetry",
}
"""The RPCs that rules protect, by API key: the wire knows an RPC by its key alone, whatever a file calls it."""

ALWAYS_PROTECTED: Final = frozenset({17, API_VERSIONS})
"""The API keys with which a connection begins, so that no set can give them to another RPC."""

_PROTECTED_KEYS: Final = {name: key for key, name in PROTECTED.items()}


class Message(Container):
    """A message: one definition file.

    `spec` is its JSON, repaired where it had problems; these are in `problems`.
    """

    file: str
    """The path of the file; empty where there is none."""
    file_name: str
    """The name of the file without its directory."""
    file_stem: str
    """The file's name without directory and `.json`."""
    data: bytes
    """The bytes of the file."""
    former: Message | None = None
    """The message in the base of a comparison; None without a base, or if it is new."""
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
    """Whether the message is kept on disk: metadata, data, coordinator key or value."""
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
    """Whether the message has no valid versions any more (`"validVersions": "none"`)."""
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
    unstable: bool
    """Whether the highest version may still change."""
    declares_headers: bool
    """Whether `headerVersions` is present, even empty."""

    def __init__(
        self, spec: MessageSpec, file: str = "", data: bytes = b"", problems: tuple[Problem, ...] = ()
    ) -> None:
        self.spec = spec
        self.problems = problems
        self.file = file
        self.file_name = file_name(file)
        self.file_stem = self.file_name.removesuffix(".json")
        self.data = data

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
        self.versions = self.present = self.valid
        self.is_dead = not self.valid and not self.valid_problem
        self.flexible, self.flexible_problem = optional_range(spec.flexible_versions)
        self.declares_flexible = isinstance(spec.flexible_versions, str)
        self.deprecated, self.deprecated_problem = optional_range(spec.deprecated_versions)
        self.unstable = value_or(spec.latest_version_unstable, False)
        self.declares_headers = isinstance(spec.header_versions, dict)

    @cached_property
    def properties(self) -> tuple[str, ...]:
        """The properties that are present and not null, by their JSON names."""
        return tuple(name for name, value in msgspec.to_builtins(self.spec).items() if value is not None)

    @cached_property
    def misspelt(self) -> frozenset[str]:
        """The properties that the message lacks because their names are probably misspelt."""
        return self.misspelt_by_owner.get("", frozenset())

    @cached_property
    def misspelt_by_owner(self) -> dict[str, frozenset[str]]:
        """By pointer of an object: the properties that it lacks because their names are probably misspelt."""
        names: dict[str, frozenset[str]] = {}
        for problem in self.problems:
            if problem.intended_property:
                owner, _, _ = problem.pointer.rpartition("/")
                names[owner] = names.get(owner, frozenset()) | {problem.intended_property}
        return names

    # Names

    @cached_property
    def is_mistyped(self) -> bool:
        """Whether the name ends in Request and the type is response, or the reverse."""
        if self.type == "request":
            return self.name.endswith("Response")
        return self.type == "response" and self.name.endswith("Request")

    @cached_property
    def kafka_name(self) -> str:
        """The name that Kafka gives the RPC with this API key, where rules protect that RPC; else empty."""
        return PROTECTED[self.api_key] if self.api_key is not None and self._is_protected(self.api_key) else ""

    @cached_property
    def kafka_key(self) -> int | None:
        """The API key that Kafka gives the RPC of this name, where rules protect that RPC; else None."""
        key = _PROTECTED_KEYS.get(self.base_name)
        return key if key is not None and self._is_protected(key) else None

    def _is_protected(self, key: int) -> bool:
        """Whether rules protect the RPC with an API key: 17 and 18 in every set, others in one that has ApiVersions."""
        if not self.is_rpc or key not in PROTECTED:
            return False
        return key in ALWAYS_PROTECTED or ("request", API_VERSIONS) in self.schemas.key_owners

    @cached_property
    def rpc_name(self) -> str:
        """The RPC by its API key: Kafka's name where rules protect that RPC, else its own without the suffix."""
        return self.kafka_name or self.base_name

    @cached_property
    def kafka_title(self) -> str:
        """The name by the RPC's API key: `ApiVersionsRequest` for a request with key 18, whatever it is called."""
        return self.kafka_name + self.suffix if self.kafka_name else self.name

    # The schema set

    @cached_property
    def schemas(self) -> SchemaSet:
        """The schema set that the message belongs to; one of its own until it is put into another."""
        return SchemaSet((self,))

    @cached_property
    def name_owner(self) -> str:
        """The file of another message with the same name, if this is not the probable original; else empty."""
        other = self.schemas.duplicate_names.get(self)
        return other.file_name if other else ""

    @cached_property
    def api_key_owner(self) -> str:
        """The name of another message with the same type and key, if this is not the probable original; else empty."""
        other = self.schemas.duplicate_keys.get(self)
        return other.name if other else ""

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether API key and type identify no RPC.

        The key is missing, negative or another message's, the type contradicts the name, or one of them is there twice.
        """
        if self.api_key is None or self.api_key < 0 or self.is_mistyped:
            return True
        if self.schemas.key_owners.get((self.type, self.api_key), self) is not self:
            return True
        return any(
            problem.pointer in ("/apiKey", "/type") and problem.kind == "duplicate-key" for problem in self.problems
        )

    @cached_property
    def free_api_key(self) -> int:
        """The API key to take: the key of the other message of the RPC if it is free, else the next free key."""
        other = self.schemas.partner_by_name(self)
        if other is None or other.api_key is None or (self.type, other.api_key) in self.schemas.key_owners:
            return self.schemas.next_api_key
        return other.api_key

    @cached_property
    def fields_of_rpc(self) -> dict[str, list[Field]]:
        """By name in lower case: the fields of the message, and of the other message of its RPC."""
        fields: dict[str, list[Field]] = defaultdict(list)
        for message in (self, self.schemas.partner_by_name(self)):
            for field in message.all_fields if message else ():
                fields[field.name.lower()].append(field)
        return fields

    # Headers (KIP-1313)

    @cached_property
    def header_ranges(self) -> tuple[HeaderRange, ...]:
        """The entries of `headerVersions`, lowest versions first."""
        return header_ranges_of(self)

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
    def can_read_header_ranges(self) -> bool:
        """Whether every entry of `headerVersions` is usable: each key is a range, and no key is a duplicate."""
        return not self.loses_header_ranges and not any(entry.key_problem for entry in self.header_ranges)

    @cached_property
    def effective_header_ranges(self) -> tuple[HeaderRange, ...]:
        """The entries of `headerVersions` that reach further than all before; where two overlap, the first counts."""
        return tuple(
            entry
            for entry in self.header_ranges
            if entry.versions and (not entry.furthest or entry.furthest.versions.highest < entry.versions.highest)
        )

    @cached_property
    def headers(self) -> tuple[int, ...]:
        """The header versions that its valid versions use, declared or derived."""
        return tuple(header for _, header in header_map(self))

    @cached_property
    def headers_to_declare(self) -> str:
        """The `headerVersions` that declare what Kafka derives without them, as JSON."""
        return "{" + ", ".join(f'"{versions}": "{header}"' for versions, header in derived_map(self)) + "}"

    # Fields and structs

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The top-level fields, in order."""
        specs = value_or(self.spec.fields, [])
        return tuple(Field(spec, self, self, position) for position, spec in enumerate(specs))

    @cached_property
    def common_structs(self) -> tuple[Struct, ...]:
        """The structs under `commonStructs`, in order."""
        specs = value_or(self.spec.common_structs, [])
        return tuple(Struct(spec, self, None, index) for index, spec in enumerate(specs))

    @cached_property
    def common_names(self) -> frozenset[str]:
        """The names of the common structs."""
        return frozenset(struct.name for struct in self.common_structs)

    @cached_property
    def structs(self) -> tuple[Struct, ...]:
        """All structs of the file: the common structs first, each followed by those defined inside it."""
        structs: list[Struct] = []
        for struct in self.common_structs:
            structs += [struct, *_structs_in(struct.fields)]
        return (*structs, *_structs_in(self.fields))

    @cached_property
    def structs_by_name(self) -> dict[str, Struct]:
        """The structs by name; the first of several with the same name."""
        return {struct.name: struct for struct in reversed(self.structs)}

    @cached_property
    def all_fields(self) -> tuple[Field, ...]:
        """Every field at every depth: the top-level fields first, then struct by struct."""
        return (*self.fields, *(field for struct in self.structs for field in struct.fields))

    @cached_property
    def duplicate_structs(self) -> dict[str, Struct]:
        """By pointer of a struct with the name of another, unless it is the older one by the base: the other struct.

        Fields that define a common struct again are another mistake.
        """
        structs = [struct for struct in self.structs if struct.is_common or struct.name not in self.common_names]
        former_paths = {struct.path for struct in self.former.structs} if self.former else frozenset()
        pairs = find_duplicates(structs, lambda struct: struct.name, lambda struct: struct.path in former_paths)
        return {struct.pointer: other for struct, other in pairs}

    @cached_property
    def cycles(self) -> dict[str, str]:
        """By the first name of each group of structs that contain each other: a cycle, as `A -> B -> A`."""
        return _cycles(self.structs)

    @cached_property
    def used_structs(self) -> dict[str, VersionRange]:
        """By name of a common struct: the valid versions in which some field has it as its type."""
        intervals: dict[str, list[Interval]] = {name: [] for name in self.common_names}
        for field in self.all_fields:
            if field.element_type in intervals and not field.has_children:
                intervals[field.element_type] += field.present.intervals
        return {name: VersionRange(intervals[name]) for name in intervals}

    # The file and its comments

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes in comments about the message's versions."""
        return tuple(notes_of(self))

    @cached_property
    def documented_versions(self) -> VersionRange:
        """The versions that some comment mentions."""
        return notes.documented_versions(self.data)

    @cached_property
    def is_in_flux(self) -> bool:
        """Whether a comment states that the message may still change incompatibly."""
        return notes.is_in_flux(self.data)


def file_name(path: str) -> str:
    """The last part of a path of any operating system."""
    return path.replace("\\", "/").rpartition("/")[2]


def rpc_of(name: str) -> str:
    """The name of the RPC of a request or response; another name as it is."""
    return name.removesuffix("Request").removesuffix("Response")


def _structs_in(fields: tuple[Field, ...]) -> Iterator[Struct]:
    """The structs that fields define in place, each followed by those defined inside it."""
    for field in fields:
        if field.definition:
            yield field.definition
            yield from _structs_in(field.definition.fields)


def _cycles(structs: Iterable[Struct]) -> dict[str, str]:
    """For each group of structs that contain each other, the name that sorts first and a shortest cycle from it."""
    types_by_struct: dict[str, list[str]] = defaultdict(list)
    for struct in structs:
        types_by_struct[struct.name] += [field.element_type for field in struct.fields if field.is_struct]
    try:
        TopologicalSorter(types_by_struct).prepare()
    except CycleError:
        return _shortest_cycles(types_by_struct)
    return {}


_END: Final = "-> the name again"
"""A node that stands for the first struct of a cycle at the cycle's end; no struct has this name."""


def _shortest_cycles(types_by_struct: Mapping[str, Iterable[str]]) -> dict[str, str]:
    import networkx as nx  # takes longer to import than 200 files take to check

    graph: nx.DiGraph[str] = nx.DiGraph((name, other) for name, types in types_by_struct.items() for other in types)
    cycles: dict[str, str] = {}
    for component in nx.strongly_connected_components(graph):
        name = min(component)
        if len(component) == 1 and not graph.has_edge(name, name):
            continue
        # The shortest path from a node to itself is the node alone: so a copy of `name`, `_END`, ends the path.
        group = nx.DiGraph(graph.subgraph(component))
        group.add_edges_from([(user, _END) for user in group.predecessors(name)])
        *path, _ = nx.shortest_path(group, name, _END)
        cycles[name] = " -> ".join([*path, name])
    return cycles
