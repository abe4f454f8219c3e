"""Where a finding points: from an element to a file and a JSON pointer."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from kiplint.model.field import Field
from kiplint.model.header import HeaderRange
from kiplint.model.message import Message
from kiplint.model.problem import Problem
from kiplint.model.reading import Reading
from kiplint.model.remarks import Spoken
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


def anchor(element: Any, wanted: str) -> Anchor:
    """The place of an element, and of one property of it when there is one wanted; a set is at its directory."""
    if isinstance(element, Problem):
        noted = element.noted
        return Anchor(element.file, noted.pointer, "", element.message_name, noted.start, noted.end)
    if isinstance(element, Spoken):
        return _in_text(element)
    if isinstance(element, Reading):
        return Anchor(element.file, element.pointer, "", element.message_name, element.start, element.end)
    if isinstance(element, SchemaSet):
        return Anchor(element.directory or os.curdir, "", "", "")
    message = message_of(element)
    if message is None:
        return Anchor("", "", "", "")
    return Anchor(message.file, getattr(element, "pointer", ""), wanted, message.name)


def _in_text(element: Spoken) -> Anchor:
    message = element.message
    start, end = element.place_in_file
    first = len(message.data[:start].decode("utf-8", "surrogateescape"))
    return Anchor(
        message.file, "", "", message.name, first, first + len(message.data[start:end].decode(errors="replace"))
    )


def message_of(element: Any) -> Message | None:
    """The message that an element belongs to; of an RPC the request, of a set none."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    return None
