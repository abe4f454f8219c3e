"""What a reader asks of a field beyond the kinds of its properties: types, defaults, names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.readers.profile import Profile
from kiplint.readers.syntax import Failure
from kiplint.versions import InvalidRange, VersionRange

Object = dict[str, Any]
_WHOLE = VersionRange.parse("0+")


class FieldWalk:
    """The fields of one definition, one after the other; `known` are the common structs that they may use so far."""

    def __init__(self, value: Object, profile: Profile) -> None:
        self.message = str(value.get("name", ""))
        self.profile = profile
        self.known: dict[str, Object] = {}
        if profile.types and profile.types.references == "any" and profile.struct is not None:
            common = value.get("commonStructs")
            self.known |= {str(one.get("name")): one for one in common or [] if isinstance(one, dict)}

    def failures(self, field: Object, where: str, owner: Object, struct: str) -> Iterator[Failure]:
        """What fails at one field, which stands in `owner`, a message or struct of the name `struct`."""
        name, kind = str(field.get("name", "")), field.get("type")
        for ending, names in self.profile.names_ending.items():
            if name.endswith(ending) and name not in names:
                yield Failure(f"it knows no field {name}, and so not what to make of its ending", f"{where}/name")
        if isinstance(kind, str):
            yield from self._type(kind, field, where)
            yield from self._default(kind, field, where, owner)
            listed = self.profile.bytes_fields
            if listed and kind.removeprefix("[]") == "bytes" and f"{self.message}.{struct}.{name}" not in listed:
                yield Failure(f"it has no {name} of {struct} on its list of fields with bytes", f"{where}/type")

    def _type(self, text: str, field: Object, where: str) -> Iterator[Failure]:
        types = self.profile.types
        if types is None:
            return
        element, place = text.removeprefix("[]"), f"{where}/type"
        if element.startswith("[]"):
            yield Failure("it takes no array of arrays", place)
        elif element in types.primitives:
            return
        elif types.structs and element not in types.structs:
            yield Failure(f"it knows no type {element}", place)
        elif not field.get("fields") and element not in self.known:
            yield Failure(f"it knows no struct {element} at this point", place)
        elif not types.alone and element == text:
            yield Failure("it takes no struct outside of an array", place)

    def _default(self, text: str, field: Object, where: str, owner: Object) -> Iterator[Failure]:
        taken, place = self.profile.defaults, f"{where}/default"
        kind = "array" if text.startswith("[]") else text
        kind = (
            kind if kind == "array" or self.profile.types is None or kind in self.profile.types.primitives else "struct"
        )
        default = field.get("default")
        if default is None:
            if kind in taken.needed and not _range(field, "versions") >= _range(owner, "versions", "validVersions"):
                yield Failure(f"it needs a default for {kind} where a version is without the field", where)
        elif default == "null":
            if taken.null_throughout and not _range(field, "nullableVersions") >= _range(field, "versions"):
                yield Failure("it takes the default null only where all versions may be null", place)
        elif kind in taken.refused and default != "":
            yield Failure(f"it takes no default for {kind}", place)


def _range(value: Object, *names: str) -> VersionRange:
    """The range that the first of these properties gives; nothing where there is none to be read."""
    text = next((value[name] for name in names if isinstance(value.get(name), str)), "none")
    try:
        return VersionRange.parse(text)
    except InvalidRange:
        return _WHOLE
