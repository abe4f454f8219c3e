"""Reads the bytes of a file into its definition and the problems of its text and of its message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final

import msgspec

from kiplint.limits import REPORTED_PROBLEMS, SUGGESTIONS, UNFOLDED_LEVELS, ProblemLimits
from kiplint.model.definition import UNREADABLE, Definition
from kiplint.model.fields import Field, Struct
from kiplint.model.layout import exceeded_limit
from kiplint.model.message import Message
from kiplint.model.spec import DECODER, ENTITY_TYPES, MessageSpec, value_or
from kiplint.text.decode import Problem, decode
from kiplint.text.diagnose import MISSING, diagnose
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean


class ProblemElement:
    """A problem of text or shape that the reader noted about a file, with the facts that rules read."""

    kind: str
    """The kind of problem, such as `trailing-comma`."""
    detail: str
    """What is wrong, as a part of a sentence."""
    word: str
    """The word that is not allowed, or the JSON to write for a value that is read as another; otherwise empty."""
    is_harmless: bool
    """Whether all readers understand the definition: a duplicate property has the same value each time."""
    pointer: str
    """The JSON pointer of the mistake, or of the value around it."""
    message: Message | None
    """The message of the file; None if it cannot be read."""

    def __init__(self, problem: Problem, file: str, message: Message | None = None) -> None:
        self.problem = problem
        self.kind, self.detail, self.word = problem.kind, problem.detail, problem.word
        self.is_harmless, self.pointer = problem.harmless, problem.pointer
        self.file, self.start, self.end = file, problem.start, problem.end
        self.message_name = message.name if message else ""
        self.message = message


def entity_problems(message: Message) -> Iterator[Problem]:
    """A problem for each entity type that Kafka does not know, and for each with blanks around it."""
    unknown_count = 0
    for field in message.all_fields:
        word = value_or(field.spec.entity_type, "unknown")  # Kafka's word for none
        if word in ENTITY_TYPES:
            continue
        pointer = f"{field.pointer}/entityType"
        text = f'"{printable(word[:40])}"'
        if field.entity_type in ENTITY_TYPES:
            detail = f'{text} is read as "{field.entity_type}"'
            yield Problem("coerced-value", detail, pointer, word=f'"{field.entity_type}"')
            continue
        unknown_count += 1
        hint = did_you_mean(field.entity_type, ENTITY_TYPES) if unknown_count <= SUGGESTIONS else ""
        hint = hint or f"; it is one of {', '.join(ENTITY_TYPES)}"
        yield Problem("unknown-enum-value", f'{text} is not a value of "entityType"{hint}', pointer, word=word)


_RANGE_FACTS: Final[dict[type, dict[str, str]]] = {
    Message: {"validVersions": "valid", "flexibleVersions": "flexible"},
    Struct: {"versions": "versions"},
    Field: {
        "versions": "versions",
        "taggedVersions": "tagged",
        "nullableVersions": "nullable",
        "flexibleVersions": "flexible",
    },
}
"""By class: the properties that are version ranges, and the facts that they become."""


def range_problems(message: Message) -> Iterator[Problem]:
    """A problem for each range that is invalid in Kafka's notation; headerVersions has its own rules."""
    elements: tuple[Message | Struct | Field, ...] = (message, *message.common_structs, *message.all_fields)
    for element in elements:
        for name, fact in _RANGE_FACTS[type(element)].items():
            problem = getattr(element, f"{fact}_problem")
            if problem:
                text = getattr(element.spec, name.replace("Versions", "_versions"))  # `valid_versions`
                yield Problem("invalid-range", f'"{printable(text[:40])}" {problem}', f"{element.pointer}/{name}")


def size_problems(message: Message) -> Iterator[Problem]:
    """A problem for a message whose layouts are too large, or too deep, to be compared."""
    limit = exceeded_limit(message)
    if limit:
        kind = "too-deep" if limit is UNFOLDED_LEVELS else "too-large"
        yield Problem(kind, limit.exceeded("the message"), "/name")


MESSAGE_PROBLEMS: Final = {
    range_problems: ("invalid-range",),
    entity_problems: ("unknown-enum-value",),
    size_problems: ("too-deep", "too-large"),
}
"""The functions that look for problems of a message, and the kinds of these."""


def load(file: str, data: bytes, most: ProblemLimits = REPORTED_PROBLEMS) -> Definition:
    """Read the bytes of one definition file, whose path is `file`; never raises, whatever the bytes.

    `most` limits the problems of its text, and of its shape.
    """
    spec = decode(data, DECODER)
    if spec is not None:
        return Definition(file, data, spec)
    spec, problems = _repair(data, most)
    return Definition(file, data, spec, problems)


@lru_cache(64)  # in a history of 400 commits, three such files take a quarter of the time of all comparisons
def _repair(data: bytes, most: ProblemLimits) -> tuple[MessageSpec, tuple[Problem, ...]]:
    """The JSON that an invalid definition still yields, or UNREADABLE, and the problems of its text and shape."""
    diagnosis = diagnose(data)
    text_problems = diagnosis.problems[: most.problems]
    if diagnosis.value is MISSING:
        return UNREADABLE, text_problems
    with suppress(msgspec.ValidationError):  # only the text is wrong
        return msgspec.convert(diagnosis.value, MessageSpec), text_problems

    from kiplint.model.shape import repair  # jsonschema takes 50 ms to import

    spec, problems = repair(diagnosis.value, most)
    return spec or UNREADABLE, (*text_problems, *problems)
