"""A struct: defined in place by a field, or shared under `commonStructs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiplint.model.container import Container
from kiplint.model.element import Ranged, given, required_range
from kiplint.model.fact import fact
from kiplint.model.field import Field
from kiplint.model.spec import FieldSpec, StructSpec
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from kiplint.model.message import Message


class Struct(Container):
    """One struct definition."""

    def __init__(self, spec: FieldSpec | StructSpec, message: Message, field: Field | None, index: int = 0) -> None:
        self.spec = spec
        self.index = index
        self.common = field is None or field.owner.common
        self._message = message
        self._field = field

    @fact
    def message(self) -> Message:
        """The message in whose file the struct is defined."""
        return self._message

    @fact
    def field(self) -> Field | None:
        """The field that defines the struct in place; None for a common struct."""
        return self._field

    @fact
    def name(self) -> str:
        """The struct's name."""
        return self._field.kind.element if self._field else str(self.spec.name)

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the object that lists the fields."""
        return self._field.pointer if self._field else f"/commonStructs/{self.index}"

    @fact
    def fields(self) -> tuple[Field, ...]:
        """The struct's fields, in order, without those of nested structs."""
        return tuple(Field(one, self._message, self, n) for n, one in enumerate(given(self.spec.fields, [])))

    @fact
    def path(self) -> str:
        """The path of the defining field; for a common struct its name."""
        return self._field.path if self._field else self.name

    @fact
    def is_common(self) -> bool:
        """Whether the struct stands under `commonStructs`."""
        return self._field is None

    @fact
    def in_common_struct(self) -> bool:
        """Whether the struct is defined inside a common struct."""
        return self._field is not None and self.common

    @fact
    def _versions(self) -> Ranged:
        if self._field:
            return Ranged(self._field.versions, "")
        return required_range(self.spec.versions, self._message.valid)

    @fact
    def versions(self) -> VersionRange:
        """The versions in which the struct exists: its own, or those of the field that defines it."""
        return self._versions.value

    @fact
    def versions_problem(self) -> str:
        """What is wrong with the text of a common struct's `versions`, or empty."""
        return self._versions.problem

    @fact
    def present(self) -> VersionRange:
        """The valid versions in which the struct is really there."""
        return self._field.present if self._field else self.versions & self._message.valid

    @fact
    def name_is_upper(self) -> bool:
        """Whether the name does not begin in lower case."""
        return not self.name[:1].islower()

    @fact
    def name_property(self) -> str:
        """The property that gives the name: `type` of the field that defines the struct, `name` of a common one."""
        return "type" if self._field else "name"

    @fact
    def is_used(self) -> bool:
        """Whether some field of the message has the struct as its type."""
        return self.name in self._message.referenced_types

    @fact
    def twin(self) -> bool:
        """Whether an earlier struct of the file has the same name."""
        return self._message.structs_by_name.get(self.name) is not self

    @fact
    def cycle(self) -> str:
        """For the first of the structs that contain each other: the way round, as `A -> B -> A`; else empty."""
        return self._message.cycles.get(self.name, "")
