"""The entity types of a message that Kafka does not know, as problems with their places."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from kiplint.model.coerce import WORDS
from kiplint.model.field import Field
from kiplint.model.message import Message
from kiplint.text.problem import Problem
from kiplint.text.show import printable

KIND = "unknown-enum-value"

_FINE = frozenset((UNSET, None, *WORDS["entityType"]))


def entity_problems(message: Message) -> Iterator[Problem]:
    """A problem for each entity type that is none of Kafka's words, and for each with blanks around it."""
    for field in message.all_fields:
        if field.spec.entity_type not in _FINE:
            yield _problem(field, str(field.spec.entity_type))


def _problem(field: Field, word: str) -> Problem:
    pointer, shown = f"{field.pointer}/entityType", printable(word[:40])
    if field.entity_type in _FINE and word.strip():
        return Problem(
            "coerced-value", f'"{shown}" is read as "{field.entity_type}"; write "{field.entity_type}"', pointer
        )
    from kiplint.text.suggest import did_you_mean

    known = WORDS["entityType"]
    hint = did_you_mean(word.strip(), known) or f"; it is one of {', '.join(known)}"
    return Problem(KIND, f'"{shown}" is no value of "entityType"{hint}', pointer, word=word)
