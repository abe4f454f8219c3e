"""Where a finding points: from an element and a rule's `at` to a file and a JSON pointer."""

from __future__ import annotations

from typing import Any, NamedTuple

from kiplint.engine.compiler import evaluate
from kiplint.engine.expression import holes
from kiplint.engine.rule import Rule
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.header import HeaderRange
from kiplint.model.message import Message
from kiplint.model.problem import Problem
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.model.struct import Struct


class Anchor(NamedTuple):
    """A place in the sources: the file, the element's pointer, the property wanted there, and the message's name.

    `start` and `end` are character offsets where the reader knows them better than a pointer can say, else -1.
    """

    file: str
    pointer: str
    wanted: str
    message_name: str
    start: int = -1
    end: int = -1


def anchor(rule: Rule, element: Any) -> Anchor:
    """The place that a breach of the rule by the element points to."""
    if isinstance(element, Problem):
        noted = element.noted
        return Anchor(element.file, noted.pointer, "", element.message_name, noted.start, noted.end)
    at = "".join(plain + (str(evaluate(hole, rule, element)) if hole else "") for plain, hole in holes(rule.spec.at))
    head, _, wanted = at.rpartition(".")
    target = evaluate(head, rule, element) if head else element
    message = message_of(target) or message_of(element)
    if message is None:
        return Anchor("", "", "", "")
    return Anchor(message.file, getattr(target, "pointer", ""), wanted, message.name)


def message_of(element: Any) -> Message | None:
    """The message that an element belongs to; of an RPC the request, of a set the first."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    if isinstance(element, SchemaSet):
        return element.messages[0] if element.messages else None
    assert not isinstance(element, Container)
    return None
