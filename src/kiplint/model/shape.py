"""Finds every mistake in the shape of a JSON value, and makes a repaired copy for the other rules.

The mistakes come from jsonschema over the published schema. Kafka's reader (Jackson) coerces some values, such
as `"ignorable": "true"`; those are recorded and coerced here too; the rest is recorded and removed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, get_args

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from kiplint.limits import FIXED_PROBLEMS, REPORTED_PROBLEMS, ProblemLimits
from kiplint.model.spec import ENTITY_TYPES, MessageSpec, MessageType, escape, reading_schema
from kiplint.text.decode import Problem
from kiplint.text.show import printable
from kiplint.text.words import nearest

MOST_ROUNDS = 4
"""How often a document is validated and repaired at most."""
_STAND_INS: dict[str, Any] = {"name": "Unnamed", "type": "string", "versions": "0+"}
"""The values of required properties of a field or struct that are missing or cannot be read."""

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


def repair(value: object, most: ProblemLimits = REPORTED_PROBLEMS) -> tuple[MessageSpec | None, tuple[Problem, ...]]:
    """The message that can be made of a JSON value, or None, and the problems of the value's shape.

    A repaired value may show errors that its mistake hid, so the document is validated again.
    """
    if not isinstance(value, dict):
        return None, (Problem("wrong-type", f"a definition must be a JSON object, not {_noun(value)}"),)
    document: Any = copy.deepcopy(value)
    problems: dict[tuple[str, str], Problem] = {}
    for _ in range(MOST_ROUNDS):
        # There may be a million errors. Sorted by path, an error of an object comes before those inside it.
        first_errors = islice(_validator().iter_errors(document), min(10 * most.problems, FIXED_PROBLEMS))
        errors = sorted(first_errors, key=lambda error: [str(token) for token in error.absolute_path])[: most.problems]
        if not errors:
            break
        are_repaired = [_Repair(document, error, problems, most).run() for error in errors]
        if not all(are_repaired) or len(problems) >= most.problems:
            return None, _without_misspelt(problems.values())
        document = _without_refused_values(document)
    try:
        return msgspec.convert(document, MessageSpec), _without_misspelt(problems.values())
    except msgspec.ValidationError as error:
        return None, _without_misspelt(problems.values()) or (Problem("wrong-type", str(error)),)


@cache
def _validator() -> Draft202012Validator:
    validator: Draft202012Validator = _Validator(reading_schema())
    return validator


def _without_misspelt(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems, without a missing property that the same object has under a misspelled name."""
    problems = tuple(problems)
    intended_pointers = {
        f"{problem.pointer.rpartition('/')[0]}/{problem.intended_property}"
        for problem in problems
        if problem.intended_property
    }
    return tuple(
        problem
        for problem in problems
        if problem.kind != "missing-property" or problem.pointer not in intended_pointers
    )


def _without_refused_values(value: Any) -> Any:
    """A copy of a JSON value without the items and properties that are `NO_VALUE`."""
    if isinstance(value, list):
        return [_without_refused_values(item) for item in value if item is not NO_VALUE]
    if isinstance(value, dict):
        return {name: _without_refused_values(item) for name, item in value.items() if item is not NO_VALUE}
    return value


class _Repair:
    """The repair of an error of the schema: it is noted, and the document changes so that the rest is readable.

    `problems` are those of the whole document, by kind and pointer; a repair adds to them. `value` is what the error is
    about, and `parent` the object or list that contains it.
    """

    def __init__(
        self, document: Any, error: ValidationError, problems: dict[tuple[str, str], Problem], most: ProblemLimits
    ) -> None:
        self.violated_keyword = error.validator
        self.schema: Any = error.schema
        self.problems = problems
        self.most = most
        self.path = list(error.absolute_path)
        self.parent: Any = None
        self.value: Any = document
        for token in self.path:
            if self.value is NO_VALUE:  # an earlier repair of this round put it there
                break
            self.parent, self.value = self.value, self.value[token]
        self.pointer = "".join(f"/{escape(str(token))}" for token in self.path)

    def run(self) -> bool:
        """Repair the document; return whether a message can still be made of it."""
        if self.value is NO_VALUE:
            return True
        if self.violated_keyword == "additionalProperties":
            return self._drop_unknown_properties()
        if self.violated_keyword == "required":
            return self._add_missing_properties()
        return self._replace_wrong_value()

    def _note(self, kind: str, detail: str, pointer: str, word: str = "", intended_property: str = "") -> None:
        problem = Problem(kind, detail, pointer, word=word, intended_property=intended_property)
        self.problems.setdefault((kind, pointer), problem)

    def _drop_unknown_properties(self) -> bool:
        """Note each property that the object should not have, and delete it; True, as the rest is readable."""
        properties = sorted(self.schema["properties"])
        for name in [name for name in self.value if name not in properties]:
            if len(self.problems) < self.most.problems:
                intended = self._nearest(name, properties)
                hint = f"; did you mean {intended}?" if intended else ""
                detail = f"{_quote(name)} is not a property here{hint}"
                self._note("unknown-property", detail, f"{self.pointer}/{escape(name)}", intended_property=intended)
            del self.value[name]
        return True

    def _add_missing_properties(self) -> bool:
        """Note each missing property of an object, and add a stand-in; False where the message itself lacks one.

        As in Kafka's reader, the tagged versions replace missing versions.
        """
        if not self.path:
            owner = "the message"
        elif self.path[-2] == "commonStructs":
            owner = "the struct"
        else:
            owner = "the field"
        tagged_versions = self.value.get("taggedVersions")
        for name in self.schema["required"]:
            if name in self.value:
                continue
            if name == "versions" and isinstance(tagged_versions, str) and tagged_versions.strip():
                self._note("versions-missing", tagged_versions, self.pointer)
                self.value[name] = tagged_versions
            else:
                self._note("missing-property", f"{owner} has no {_quote(name)}", f"{self.pointer}/{name}")
                self.value[name] = _STAND_INS.get(name, "")
        return bool(self.path)

    def _replace_wrong_value(self) -> bool:
        """Note a value of the wrong type, and put what Kafka's reader reads from it, or a stand-in, in its place.

        False for a name, type or valid versions of the message that cannot be read.
        """
        new_value = coerce(self.path, self.value)
        if new_value is NO_VALUE:
            self._note_refused_value()
            if self.path in (["name"], ["type"], ["validVersions"]):
                return False
            new_value = _STAND_INS.get(str(self.path[-1]), NO_VALUE)
        else:
            self._note_coerced_value(new_value)
        self.parent[self.path[-1]] = new_value
        return True

    def _note_coerced_value(self, read_value: Any) -> None:
        """Note what Kafka's reader reads, and what to write instead: the problem's `word`, or advice in its detail."""
        detail, word = f"{_quote(self.value)} is read as {_quote(read_value)}", ""
        if read_value is None:
            detail += "; drop it"
        elif isinstance(self.value, dict):
            detail += "; put it into a list"
        else:
            word = _json(read_value)
        self._note("coerced-value", detail, self.pointer, word)

    def _note_refused_value(self) -> None:
        name = _property_name(self.path)
        if name in _WORDS and not isinstance(self.value, (dict, list)):
            word = self._nearest(self.value.strip(), _WORDS[name]) if isinstance(self.value, str) else ""
            hint = f"; did you mean {word}?" if word else f"; it is one of {', '.join(_WORDS[name])}"
            kind, detail = "unknown-enum-value", f"{_quote(self.value)} is not a value of {_quote(name)}{hint}"
        else:
            expected = _EXPECTED.get(_kind_at(self.path), "a string")
            kind, detail = "wrong-type", f"{_quote(name)} must be {expected}, not {_noun(self.value)}"
        self._note(kind, detail, self.pointer)

    def _nearest(self, word: str, names: Iterable[str]) -> str:
        """The name that was probably intended, for the first problems only: the search for similar names is slow."""
        name = nearest(word, names) if len(self.problems) < self.most.suggestions else ""
        return name if name != word else ""  # the word itself, with blanks around it


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _quote(value: Any) -> str:
    """The value as JSON, at most 40 characters of it."""
    if isinstance(value, str):
        return f'"{printable(value[:40])}"'
    return printable(_json(value)[:40])


def _noun(value: Any) -> str:
    """The words for a value in a sentence: `a string`, `a list`, `an object`, or the value, such as `true` or `5`."""
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else _quote(value)


# What Kafka's reader reads from a value of the wrong JSON type

_WORDS = {"type": get_args(MessageType), "entityType": ENTITY_TYPES}
"""The words that properties with a fixed set of values accept."""

NO_VALUE: Any = object()
"""Represents a value that Kafka's reader rejects."""

_KINDS = {
    **dict.fromkeys(("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable"), "bool"),
    **dict.fromkeys(("apiKey", "tag"), "int"),
    "entityType": "enum",
    "listeners": "strings",
    "fields": "list",
    "commonStructs": "list",
    "headerVersions": "map",
    "default": "default",
}
"""The kind of value of each property that is not a string."""

_EXPECTED = {
    "bool": "true or false",
    "int": "an integer in range",
    "list": "a list of objects",
    "strings": "a list of strings",
    "map": "an object",
    "default": "a string, a number, a boolean or null",
}
"""The words for each kind in a sentence."""


def coerce(path: Sequence[str | int], value: Any) -> Any:
    """The value that Kafka's reader reads from a value of the wrong JSON type at `path`, such as True from "true".

    `path` is `["fields", 0, "ignorable"]`, say. None where the reader reads null, `NO_VALUE` where it fails.
    """
    kind = _kind_at(path)
    is_list_item = isinstance(path[-1], int)
    return NO_VALUE if is_list_item or kind not in _COERCIONS else _COERCIONS[kind](value)


def _kind_at(path: Sequence[str | int]) -> str:
    """The kind of value at `path`, such as "int" for `["fields", 0, "tag"]`; of a list's item, the kind of the list."""
    return "enum" if list(path) == ["type"] else _KINDS.get(_property_name(path), "string")


def _property_name(path: Sequence[str | int]) -> str:
    """The name of the property at `path`, or of the list that has the item there."""
    return [token for token in path if isinstance(token, str)][-1]


def _to_bool(value: Any) -> Any:
    """The boolean that Kafka's reader reads from a value of another type, or `NO_VALUE`."""
    if isinstance(value, str):
        text = value.strip()
        if text in ("true", "True", "TRUE"):
            return True
        return False if text in ("false", "False", "FALSE", "") else NO_VALUE
    return bool(value) if value is None or isinstance(value, int) else NO_VALUE


def _to_int(value: Any) -> Any:
    """The integer that Kafka's reader reads from a value of another type: None from blank text, or `NO_VALUE`."""
    if isinstance(value, float) and abs(value) < 2**31:
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        return int(text) if re.fullmatch("[+-]?[0-9]{1,5}", text) else NO_VALUE
    return NO_VALUE


def _to_string(value: Any) -> Any:
    """The string that Kafka's reader reads from a value of another type, or `NO_VALUE`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else NO_VALUE  # str() fails for thousands of digits
    return repr(value) if isinstance(value, float) else NO_VALUE


def _to_enum(value: Any) -> Any:
    """The message type that Kafka's reader reads from a text with blanks around it, or `NO_VALUE`."""
    word = value.strip() if isinstance(value, str) else ""
    return word if word in _WORDS["type"] else NO_VALUE


_COERCIONS: dict[str, Callable[[Any], Any]] = {
    "bool": _to_bool,
    "int": _to_int,
    "string": _to_string,
    "enum": _to_enum,
    "list": lambda value: [value] if isinstance(value, dict) else NO_VALUE,
    "strings": lambda value: [value] if isinstance(value, str) else NO_VALUE,
}
