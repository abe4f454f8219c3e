"""From any JSON value to a message: every mistake in its shape, and a repaired copy to go on with.

The mistakes come from jsonschema over the published schema. Kafka's reader (Jackson) coerces some values, such
as `"ignorable": "true"`; those are noted and coerced here too, the rest is noted and left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from kiplint.model.element import escape
from kiplint.model.spec import MessageSpec, message_schema
from kiplint.text.problem import Problem
from kiplint.text.show import printable
from kiplint.text.suggest import did_you_mean

MOST_PROBLEMS = 100
MOST_ROUNDS = 4
_STAND_INS: dict[str, Any] = {"name": "Unnamed", "type": "string", "versions": "0+"}
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE", "")

# JSON Schema takes 2.0 for an integer, the decoder does not.
_integers_only = Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)
_Validator = extend(Draft202012Validator, type_checker=_integers_only)  # type: ignore[no-untyped-call]


def repair(value: object) -> tuple[MessageSpec | None, tuple[Problem, ...]]:
    """The problems of a value's shape, and the message that is left, or None when none can be made of it."""
    if not isinstance(value, dict):
        return None, (Problem("wrong-type", f"a definition is a JSON object, not {_noun(value)}"),)
    document: Any = copy.deepcopy(value)
    problems: dict[tuple[str, str], Problem] = {}
    validator = _Validator(message_schema())
    for _ in range(MOST_ROUNDS):
        errors = list(islice(_all_errors(validator, document), MOST_PROBLEMS))
        if not errors:
            break
        usable = [_Repair(document, error, problems).run() for error in errors]
        if not all(usable) or len(problems) >= MOST_PROBLEMS:
            return None, _without_echoes(problems)
        document = _without_gone(document)
    try:
        return msgspec.convert(document, MessageSpec), _without_echoes(problems)
    except msgspec.ValidationError as error:
        return None, _without_echoes(problems) or (Problem("wrong-type", str(error)),)


def _without_echoes(problems: Mapping[tuple[str, str], Problem]) -> tuple[Problem, ...]:
    """The problems, without a missing property where an unknown one of the same object was taken for it."""
    unknown = [one for one in problems.values() if one.kind == "unknown-property"]
    meant = {
        f"{one.pointer.rpartition('/')[0]}/{one.detail.partition('; did you mean ')[2].rstrip('?')}" for one in unknown
    }
    return tuple(one for one in problems.values() if one.kind != "missing-property" or one.pointer not in meant)


_GONE: Any = object()
REFUSED: Any = _GONE
"""What `coerced` gives for a value that Kafka's reader does not take."""


def coerced(path: Sequence[str | int], value: Any) -> Any:
    """What Kafka's reader makes of a value of another JSON type than the property at `path` has; None for nothing.

    `REFUSED` when it takes it for an error.
    """
    wanted = _wanted(path)
    if path and isinstance(path[-1], int):
        return str(value) if wanted == "strings" and isinstance(value, (int, float)) else _GONE
    return _COERCIONS[wanted](value) if wanted in _COERCIONS else _GONE


def _wanted(path: Sequence[str | int]) -> str:
    named = next((token for token in reversed(path) if isinstance(token, str)), "")
    return "enum" if list(path) == ["type"] else _WANTED.get(named, "string")


def _without_gone(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_gone(one) for one in value if one is not _GONE]
    if isinstance(value, dict):
        return {key: _without_gone(one) for key, one in value.items() if one is not _GONE}
    return value


def _all_errors(validator: Draft202012Validator, document: Any) -> Iterator[ValidationError]:
    for error in sorted(validator.iter_errors(document), key=lambda one: [str(token) for token in one.absolute_path]):
        yield from _leaves(error)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Go down through `anyOf` into the branch that the value was meant for."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    for inners in branches.values():
        if not any(not inner.path and inner.validator == "type" for inner in inners):
            for inner in inners:
                yield from _leaves(inner)
            return
    yield error


class _Repair:
    """One error of the schema: note it, and change the document so that the rest can be read."""

    def __init__(self, document: Any, error: ValidationError, problems: dict[tuple[str, str], Problem]) -> None:
        self.error = error
        self.problems = problems
        self.path = list(error.absolute_path)
        self.holder: Any = None
        self.value: Any = document
        for token in self.path:
            if self.value is _GONE:
                break
            self.holder, self.value = self.value, self.value[token]
        self.pointer = "".join(f"/{escape(str(token))}" for token in self.path)
        self.named = next((str(token) for token in reversed(self.path) if isinstance(token, str)), "")
        self.wanted = _wanted(self.path)

    def run(self) -> bool:
        """Whether a message can still be made of the document."""
        if self.value is _GONE:
            return True
        if self.error.validator == "additionalProperties":
            return self._unknown_properties()
        if self.error.validator == "required":
            return self._missing_properties()
        return self._wrong_value()

    def _note(self, kind: str, detail: str, pointer: str | None = None) -> None:
        where = self.pointer if pointer is None else pointer
        self.problems.setdefault((kind, where), Problem(kind, detail, where))

    @property
    def _schema(self) -> Mapping[str, Any]:
        schema = self.error.schema
        return schema if isinstance(schema, Mapping) else {}

    def _unknown_properties(self) -> bool:
        known = sorted(self._schema.get("properties", {}))
        for name in [name for name in self.value if name not in known]:
            if len(self.problems) < MOST_PROBLEMS:
                detail = f"{_quote(name)} is no property here{did_you_mean(name, known)}"
                self._note("unknown-property", detail, f"{self.pointer}/{escape(name)}")
            del self.value[name]
        return True

    def _missing_properties(self) -> bool:
        for name in [name for name in self._schema["required"] if name not in self.value]:
            tagged = self.value.get("taggedVersions")
            if name == "versions" and isinstance(tagged, str) and tagged.strip():
                self._note("versions-missing", tagged, self.pointer)
                self.value[name] = tagged
                continue
            what = (
                "the message" if not self.path else "the struct" if "commonStructs" in self.path[-2:] else "the field"
            )
            self._note("missing-property", f"{what} has no {_quote(name)}", f"{self.pointer}/{name}")
            self.value[name] = _STAND_INS.get(name, "")
        return bool(self.path)

    def _wrong_value(self) -> bool:
        read = coerced(self.path, self.value)
        if read is not _GONE:
            shown = _quote(self.value)
            self._note("coerced-value", f"{shown} is read as {_quote(read)}; write {_json(read)}")
        elif self.error.validator == "enum" and not isinstance(self.value, (dict, list)):
            self._note("unknown-enum-value", self._enum_detail())
        else:
            self._note("wrong-type", f"{_quote(self.named)} is {self._expected()}, not {_noun(self.value)}")
        if self.holder is None:
            return False
        self.holder[self.path[-1]] = read
        required = ("name", "type", "validVersions")
        return not (read is _GONE and len(self.path) == 1 and self.path[0] in required) and self._stand_in(read)

    def _stand_in(self, read: Any) -> bool:
        if read is _GONE and self.path[-1] in _STAND_INS:
            self.holder[self.path[-1]] = _STAND_INS[str(self.path[-1])]
        return True

    def _enum_detail(self) -> str:
        allowed = _ENUMS.get(self.named, ())
        near = did_you_mean(self.value.strip(), allowed, 0.5) if isinstance(self.value, str) else ""
        hint = near or f"; it is one of {', '.join(allowed)}"
        return f"{_quote(self.value)} is no value of {_quote(self.named)}{hint}"

    def _expected(self) -> str:
        if self.path and isinstance(self.path[-1], int):
            return "a list of strings" if self.named == "listeners" else "a list of objects"
        return _EXPECTED.get(self.wanted, "a string")


def _to_bool(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        return True if text in _TRUE else False if text in _FALSE else _GONE
    return bool(value) if value is None or isinstance(value, int) else _GONE


def _to_int(value: Any) -> Any:
    if isinstance(value, float) and abs(value) < 2**31:
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        digits = text.lstrip("+-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 6 else _GONE
    return _GONE


def _to_string(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else _GONE
    return repr(value) if isinstance(value, float) else _GONE


def _to_enum(value: Any) -> Any:
    if isinstance(value, str) and value != value.strip() and value.strip() in {*_ENUMS["type"], *_ENUMS["entityType"]}:
        return value.strip()
    return _GONE


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else _GONE


def _to_strings(value: Any) -> Any:
    return [value] if isinstance(value, str) else _GONE


_COERCIONS = {
    "bool": _to_bool,
    "int": _to_int,
    "string": _to_string,
    "enum": _to_enum,
    "list": _to_list,
    "strings": _to_strings,
}
_WANTED = {
    **dict.fromkeys(("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable"), "bool"),
    **dict.fromkeys(("apiKey", "tag"), "int"),
    "entityType": "enum",
    "listeners": "strings",
    "fields": "list",
    "commonStructs": "list",
    "headerVersions": "map",
    "default": "default",
}
_EXPECTED = {
    "bool": "true or false",
    "int": "a whole number in range",
    "list": "a list of objects",
    "strings": "a list of strings",
    "map": "an object",
    "default": "a string, a number, a boolean or null",
}
_ENUMS = {
    "type": ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value"),
    "entityType": ("unknown", "transactionalId", "producerId", "groupId", "topicName", "brokerId"),
}


def _json(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else "null" if value is None else _json(value)
    shown = printable(text[:40])
    return f'"{shown}"' if isinstance(value, str) else shown


def _noun(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return _quote(value)
    return "a string" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
