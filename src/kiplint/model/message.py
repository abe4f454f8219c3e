"""A message: one definition file, and every fact about it that a rule may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kiplint.model.element import given
from kiplint.model.fact import fact, set_fact
from kiplint.model.field import Field
from kiplint.model.graph import cycles
from kiplint.model.headed import HeadedMessage
from kiplint.model.spec import MessageSpec
from kiplint.model.struct import Struct
from kiplint.text.problem import Problem

if TYPE_CHECKING:
    from kiplint.model.schemas import SchemaSet


class Message(HeadedMessage):
    """One message; `file` is the path of its definition, `data` its bytes, `noted` what its reader found wrong."""

    def __init__(self, spec: MessageSpec, file: str = "", data: bytes = b"", noted: tuple[Problem, ...] = ()) -> None:
        self.spec = spec
        self.noted = noted
        self.file = file
        self.data = data

    # What it is

    @fact
    def name(self) -> str:
        """The message's name."""
        return self.spec.name

    @fact
    def type(self) -> str:
        """request, response, header, metadata, data, coordinator-key or coordinator-value."""
        return self.spec.type

    @fact
    def is_rpc(self) -> bool:
        """Whether the message is a request or a response."""
        return self.spec.type in ("request", "response")

    @fact
    def is_record(self) -> bool:
        """Whether the message is kept on disk: metadata, data, coordinator key or value."""
        return self.spec.type not in ("request", "response", "header")

    @fact
    def api_key(self) -> int | None:
        """The number of the RPC or record type, or None."""
        return given(self.spec.api_key, None)

    @fact
    def base_name(self) -> str:
        """The name without the suffix that its type asks for (Request, Response, Key, Value)."""
        return self.name.removesuffix(self.suffix)

    @fact
    def suffix(self) -> str:
        """The suffix that the type asks for, or empty."""
        return _SUFFIXES.get(self.spec.type, "")

    @fact
    def is_mistyped(self) -> bool:
        """Whether the name says that it is the other half of an RPC than its type says."""
        other = {"request": "Response", "response": "Request"}.get(self.spec.type, "")
        return bool(other) and self.name.endswith(other)

    @fact
    def misspelt(self) -> frozenset[str]:
        """The properties of the message that are probably meant where one is unknown."""
        return frozenset(name for one in self.noted if (name := _meant(one)) and one.pointer.count("/") == 1)

    @set_fact
    def is_doubtful(self) -> bool:
        """Whether API key or type are missing, impossible, taken or given twice: no half can be found by them."""
        if self.api_key is None or self.api_key < 0 or self.is_mistyped or self.api_key_owner:
            return True
        return any(one.pointer in ("/apiKey", "/type") and one.kind == "duplicate-key" for one in self.noted)

    @set_fact
    def free_api_key(self) -> int:
        """The API key to take: that of the other half by name if no other message has it, else the next free one."""
        key = self.schemas.key_of_partner(self)
        taken = self.schemas.key_owners.get((self.type, key), self) if key is not None else None
        return key if key is not None and taken is self else self.schemas.next_api_key

    @fact
    def name_is_valid(self) -> bool:
        """Whether the name can be that of a Java class."""
        return self.name.isidentifier()

    @set_fact
    def name_owner(self) -> str:
        """The file of an earlier message of the set with the same name, or empty."""
        first = self.schemas.by_name.get(self.name, self)
        return "" if first is self else first.file_name

    @set_fact
    def api_key_owner(self) -> str:
        """The name of an earlier message of the set with the same type and API key, or empty."""
        if self.api_key is None or self.is_mistyped:
            return ""
        first = self.schemas.key_owners.get((self.type, self.api_key), self)
        return "" if first is self else first.name

    @set_fact
    def schemas(self) -> SchemaSet:
        """The schema set that the message belongs to; one of its own until it is put into another."""
        from kiplint.model.schemas import SchemaSet

        return SchemaSet((self,))

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the message: the whole document."""
        return ""

    @fact
    def listeners(self) -> tuple[str, ...]:
        """The listeners that serve the request."""
        return tuple(given(self.spec.listeners, []))

    @fact
    def says_listeners(self) -> bool:
        """Whether `listeners` is given, even empty."""
        return isinstance(self.spec.listeners, list)

    @fact
    def properties(self) -> tuple[str, ...]:
        """The properties that are given, by their JSON names."""
        spec = self.spec
        fields = zip(spec.__struct_encode_fields__, spec.__struct_fields__, strict=True)
        return tuple(name for name, attribute in fields if given(getattr(spec, attribute), None) is not None)

    # Fields and structs

    @fact
    def fields(self) -> tuple[Field, ...]:
        """The top-level fields, in order."""
        return tuple(Field(one, self, self, index) for index, one in enumerate(given(self.spec.fields, [])))

    @fact
    def common_structs(self) -> tuple[Struct, ...]:
        """The structs under `commonStructs`, in order."""
        return tuple(Struct(one, self, None, n) for n, one in enumerate(given(self.spec.common_structs, [])))

    @fact
    def common_names(self) -> frozenset[str]:
        """The names of the common structs."""
        return frozenset(struct.name for struct in self.common_structs)

    @fact
    def structs(self) -> tuple[Struct, ...]:
        """All structs of the file: the common ones first, each followed by those defined inside it."""
        return tuple(_nested(self.common_structs, self.fields))

    @fact
    def structs_by_name(self) -> dict[str, Struct]:
        """The structs by name; of several with one name, the first."""
        return {struct.name: struct for struct in reversed(self.structs)}

    @fact
    def all_fields(self) -> tuple[Field, ...]:
        """Every field at every depth: the top-level ones first, then struct by struct."""
        return (*self.fields, *(field for struct in self.structs for field in struct.fields))

    @fact
    def is_capitalised(self) -> bool:
        """Whether more than half of its fields begin with a capital letter."""
        return 2 * sum(field.name_is_upper for field in self.all_fields) > len(self.all_fields)

    @fact
    def referenced_types(self) -> frozenset[str]:
        """The element types that fields have, at every depth."""
        return frozenset(field.kind.element for field in self.all_fields)

    @fact
    def cycles(self) -> dict[str, str]:
        """By name of a struct that contains itself: the way round."""
        return cycles(self.structs)


def _meant(problem: Problem) -> str:
    """The property that an unknown one probably means, as its reader has said."""
    return problem.detail.partition("; did you mean ")[2].rstrip("?") if problem.kind == "unknown-property" else ""


_SUFFIXES = {"request": "Request", "response": "Response", "coordinator-key": "Key", "coordinator-value": "Value"}


def _nested(common: tuple[Struct, ...], fields: tuple[Field, ...]) -> Iterator[Struct]:
    for struct in common:
        yield struct
        yield from _nested((), struct.fields)
    for field in fields:
        if field.definition:
            yield field.definition
            yield from _nested((), field.definition.fields)
