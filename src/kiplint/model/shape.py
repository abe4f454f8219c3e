"""From any JSON value to a message: every mistake in its shape, and a repaired copy for the other rules.

The mistakes come from jsonschema over the published schema. Kafka's reader (Jackson) coerces some values, such
as `"ignorable": "true"`; those are noted and coerced here too, the rest is noted and left out.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from kiplint.limits import SUGGESTIONS
from kiplint.model.spec import MessageSpec, escape, reading_schema
from kiplint.model.types import NO_VALUE, WORDS, coerce, kind_at
from kiplint.text.decode import Problem
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean

MOST_PROBLEMS = 100
MOST_ROUNDS = 4
_STAND_INS: dict[str, Any] = {"name": "Unnamed", "type": "string", "versions": "0+"}

# JSON Schema takes 2.0 for an integer, the decoder does not.
_integers_only = Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)


def _errors_of_type(
    validator: Any, branches: Sequence[Mapping[str, Any]], value: object, _schema: object
) -> Iterator[ValidationError]:
    """The errors in the branch of `anyOf` that has the value's type, one by one: there may be 100,000 of them."""
    branch = next((branch for branch in branches if validator.is_type(value, branch["type"])), None)
    if branch is None:
        yield ValidationError("no branch has this type")
    else:
        yield from validator.descend(value, branch)


_Validator = extend(Draft202012Validator, {"anyOf": _errors_of_type}, type_checker=_integers_only)  # type: ignore[no-untyped-call]


def repair(value: object) -> tuple[MessageSpec | None, tuple[Problem, ...]]:
    """The problems of a value's shape, and the message that is left, or None when none can be made of it."""
    if not isinstance(value, dict):
        return None, (Problem("wrong-type", f"a definition is a JSON object, not {_noun(value)}"),)
    document: Any = copy.deepcopy(value)
    problems: dict[tuple[str, str], Problem] = {}
    for _ in range(MOST_ROUNDS):
        some = islice(_validator().iter_errors(document), 10 * MOST_PROBLEMS)
        errors = sorted(some, key=lambda error: [str(token) for token in error.absolute_path])[:MOST_PROBLEMS]
        if not errors:
            break
        usable = [_Repair(document, error, problems).run() for error in errors]
        if not all(usable) or len(problems) >= MOST_PROBLEMS:
            return None, _without_misspelt(problems)
        document = _without_gone(document)
    try:
        return msgspec.convert(document, MessageSpec), _without_misspelt(problems)
    except msgspec.ValidationError as error:
        return None, _without_misspelt(problems) or (Problem("wrong-type", str(error)),)


@cache
def _validator() -> Draft202012Validator:
    validator: Draft202012Validator = _Validator(reading_schema())
    return validator


def _without_misspelt(problems: Mapping[tuple[str, str], Problem]) -> tuple[Problem, ...]:
    """The problems, without a missing property where an unknown property of the same object probably means it."""
    intended_pointers = {
        f"{problem.pointer.rpartition('/')[0]}/{problem.intended_property}"
        for problem in problems.values()
        if problem.intended_property
    }
    return tuple(
        problem
        for problem in problems.values()
        if problem.kind != "missing-property" or problem.pointer not in intended_pointers
    )


def _without_gone(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_gone(element) for element in value if element is not NO_VALUE]
    if isinstance(value, dict):
        return {key: _without_gone(inner) for key, inner in value.items() if inner is not NO_VALUE}
    return value


class _Repair:
    """The repair of an error of the schema: it is noted, and the document changes so that the rest is readable."""

    def __init__(self, document: Any, error: ValidationError, problems: dict[tuple[str, str], Problem]) -> None:
        self.error = error
        self.problems = problems
        self.path = list(error.absolute_path)
        self.holder: Any = None
        self.value: Any = document
        for token in self.path:
            if self.value is NO_VALUE:
                break
            self.holder, self.value = self.value, self.value[token]
        self.pointer = "".join(f"/{escape(str(token))}" for token in self.path)
        self.property_name = next((str(token) for token in reversed(self.path) if isinstance(token, str)), "")
        self.kind = kind_at(self.path)

    def run(self) -> bool:
        """Whether a message can still be made of the document."""
        if self.value is NO_VALUE:
            return True
        if self.error.validator == "additionalProperties":
            return self._unknown_properties()
        if self.error.validator == "required":
            return self._missing_properties()
        return self._wrong_value()

    def _note(self, kind: str, detail: str, pointer: str | None = None, word: str = "") -> None:
        where = self.pointer if pointer is None else pointer
        self.problems.setdefault((kind, where), Problem(kind, detail, where, word=word))

    @property
    def _schema(self) -> Mapping[str, Any]:
        schema = self.error.schema
        return schema if isinstance(schema, Mapping) else {}

    def _unknown_properties(self) -> bool:
        """Note and drop what the shape does not have; True, as reading goes on."""
        properties = sorted(self._schema.get("properties", {}))
        for name in [name for name in self.value if name not in properties]:
            if len(self.problems) < MOST_PROBLEMS:
                detail = f"{_quote(name)} is not a property here{self._hint(name, properties)}"
                self._note("unknown-property", detail, f"{self.pointer}/{escape(name)}")
            del self.value[name]
        return True

    def _missing_properties(self) -> bool:
        """Note what is missing, and put a stand-in there; whether reading goes on, which it does below the message."""
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
        """Note a wrong value, and put what is read in its place; whether reading goes on."""
        read = coerce(self.path, self.value)
        if read is not NO_VALUE:
            detail = f"{_quote(self.value)} is read as {_quote(read)}"
            if read is None or isinstance(self.value, dict):
                self._note("coerced-value", f"{detail}; {'drop it' if read is None else 'put it into a list'}")
            else:
                self._note("coerced-value", detail, word=_json(read))
        elif self.property_name in WORDS and not isinstance(self.value, (dict, list)):
            self._note("unknown-enum-value", self._enum_detail())
        else:
            inside = self.path and isinstance(self.path[-1], int)
            kind = self.kind if not inside else "strings" if self.property_name == "listeners" else "list"
            expected = _EXPECTED.get(kind, "a string")
            self._note("wrong-type", f"{_quote(self.property_name)} is {expected}, not {_noun(self.value)}")
        if self.holder is None:
            return False
        self.holder[self.path[-1]] = read
        if read is NO_VALUE and len(self.path) == 1 and self.path[0] in ("name", "type", "validVersions"):
            return False
        if read is NO_VALUE and self.path[-1] in _STAND_INS:
            self.holder[self.path[-1]] = _STAND_INS[str(self.path[-1])]
        return True

    def _hint(self, word: str, names: Iterable[str]) -> str:
        return did_you_mean(word, names) if len(self.problems) < SUGGESTIONS else ""

    def _enum_detail(self) -> str:
        words = WORDS.get(self.property_name, ())
        near = self._hint(self.value.strip(), words) if isinstance(self.value, str) else ""
        hint = near or f"; it is one of {', '.join(words)}"
        return f"{_quote(self.value)} is not a value of {_quote(self.property_name)}{hint}"


_EXPECTED = {
    "bool": "true or false",
    "int": "a whole number in range",
    "list": "a list of objects",
    "strings": "a list of strings",
    "map": "an object",
    "default": "a string, a number, a boolean or null",
}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else "null" if value is None else _json(value)
    text_part = printable(text[:40])
    return f'"{text_part}"' if isinstance(value, str) else text_part


def _noun(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float)):
        return _quote(value)
    return "a string" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
