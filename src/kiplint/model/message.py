"""A message: a definition in a schema set, with its fields, structs and headers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from kiplint.model.definition import Definition
from kiplint.model.fields import Container, Field, Struct, find_duplicates
from kiplint.model.headers import HeaderRange, derived_map, header_map, header_ranges_of
from kiplint.model.layout import Layout, layout
from kiplint.model.notes import Note, notes_of
from kiplint.model.rpcs import API_VERSIONS, KEYS_BY_NAME, PROTECTED
from kiplint.model.spec import value_or
from kiplint.versions import NONE, Interval, VersionRange

if TYPE_CHECKING:
    from kiplint.model.schemas import SchemaSet


class Message(Definition, Container):
    """A message: a definition in the schema set that made it, with the facts that need other files."""

    schemas: SchemaSet
    """The schema set that the message belongs to."""
    base: Message | None
    """The message in the base of a comparison; None without a base, or if it is new."""

    def __init__(self, definition: Definition, schemas: SchemaSet, base: Message | None) -> None:
        super().__init__(definition.file, definition.data, definition.spec, definition.problems)
        self.schemas = schemas
        self.base = base
        self.versions = self.present = self.valid

    @cached_property
    def unstable_version(self) -> VersionRange:
        """The highest version, which brokers do not offer by default, if `latestVersionUnstable` marks it, or none.

        A response has the version that is unstable in its request.
        """
        highest = self.valid.highest
        marked: Definition | None = self if self.declares_unstable else None
        if self.type == "response":
            marked = marked or self.schemas.owners.partner(self)
        is_unstable = marked is not None and marked.declares_unstable and marked.valid.highest == highest
        return VersionRange.of(highest, highest) if is_unstable and self.valid else NONE

    @cached_property
    def unstable(self) -> bool:
        """Whether the highest version may still change, and brokers do not offer it by default."""
        return bool(self.unstable_version)

    # Names

    @cached_property
    def kafka_name(self) -> str:
        """The name that Kafka gives the RPC with this API key, if rules protect that RPC; otherwise empty."""
        return PROTECTED[self.api_key].name if self.api_key is not None and self._is_protected(self.api_key) else ""

    @cached_property
    def kafka_key(self) -> int | None:
        """The API key that Kafka gives the RPC of this name, if rules protect that RPC; otherwise None."""
        key = KEYS_BY_NAME.get(self.base_name)
        return key if key is not None and self._is_protected(key) else None

    def _is_protected(self, key: int) -> bool:
        """Whether rules protect the RPC with an API key: 17 and 18 in every set, others in one that has ApiVersions."""
        if not self.is_rpc or key not in PROTECTED:
            return False
        return PROTECTED[key].begins_connections or ("request", API_VERSIONS) in self.schemas.key_owners

    @cached_property
    def rpc_name(self) -> str:
        """The RPC by its API key: Kafka's name if rules protect that RPC, otherwise its own without the suffix."""
        return self.kafka_name or self.base_name

    @cached_property
    def kafka_title(self) -> str:
        """The name by the RPC's API key: `ApiVersionsRequest` for a request with key 18, whatever its own name."""
        return self.kafka_name + self.suffix if self.kafka_name else self.name

    # The schema set

    @cached_property
    def name_owner(self) -> str:
        """The file of another message with the same name, if this is not the probable original; otherwise empty."""
        other = self.schemas.duplicate_names.get(self)
        return other.file_name if other else ""

    @cached_property
    def api_key_owner(self) -> str:
        """The name of another message with the same type and key, unless this is the probable original; or empty."""
        other = self.schemas.duplicate_keys.get(self)
        return other.name if other else ""

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether API key and type do not identify an RPC.

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
        """The API key to use: the key of the other message of the RPC if it is unused, or the next unused key."""
        other = self.schemas.partner_by_name(self)
        if other is None or other.api_key is None or (self.type, other.api_key) in self.schemas.key_owners:
            return self.schemas.next_api_key
        return other.api_key

    @cached_property
    def fields_of_rpc(self) -> dict[str, list[Field]]:
        """By lowercase name: the fields of the message, and of the other message of its RPC."""
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
        base_paths = {struct.path for struct in self.base.structs} if self.base else frozenset()
        pairs = find_duplicates(structs, lambda struct: struct.name, lambda struct: struct.path in base_paths)
        return {struct.pointer: other for struct, other in pairs}

    @cached_property
    def cycles(self) -> dict[str, str]:
        """By the first name of each group of structs that contain each other: a cycle, as `A -> B -> A`."""
        return _cycles(self.structs)

    @cached_property
    def used_structs(self) -> dict[str, VersionRange]:
        """By name of a common struct: the valid versions in which a field has the struct as its type."""
        intervals: dict[str, list[Interval]] = {name: [] for name in self.common_names}
        for field in self.all_fields:
            if field.element_type in intervals and not field.has_children:
                intervals[field.element_type] += field.present.intervals
        return {name: VersionRange(intervals[name]) for name in intervals}

    @cached_property
    def element_types(self) -> frozenset[str]:
        """The types of all fields, of an array that of its elements."""
        return frozenset(field.element_type for field in self.all_fields)

    @cached_property
    def has_undefined_structs(self) -> bool:
        """Whether a field has a struct as its type that the file does not define."""
        return any(field.is_struct and field.element_type not in self.structs_by_name for field in self.all_fields)

    def layout(self, version: int) -> Layout:
        """What a version puts on the wire; raises ValueError for one that is not valid."""
        if version not in self.valid:
            raise ValueError(f"{self.name} has no version {version}; its valid versions are {self.valid}")
        return layout(self, version)

    # The file and its comments

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes in comments about the message's versions."""
        return tuple(notes_of(self))


def rpc_of(name: str) -> str:
    """The name of the RPC of a request or response; another name as it is."""
    return name.removesuffix("Request").removesuffix("Response")


def _structs_in(fields: tuple[Field, ...]) -> Iterator[Struct]:
    """The structs that fields define inline, each followed by those defined inside it."""
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
