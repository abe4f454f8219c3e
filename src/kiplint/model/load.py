"""From the bytes of a file to a message and the problems that stood in the way."""

from __future__ import annotations

import msgspec

from kiplint.model.message import Message
from kiplint.model.spec import DECODER, ENCODER
from kiplint.text.decode import decode
from kiplint.text.problem import Problem


class Definition(msgspec.Struct, frozen=True):
    """One file: its path, its bytes, the message (None when there is none to be had), and the reader's problems."""

    file: str
    data: bytes
    message: Message | None
    problems: tuple[Problem, ...] = ()


def load(file: str, data: bytes) -> Definition:
    """Read one definition file; never raises, whatever the bytes."""
    spec = decode(data, DECODER, ENCODER)
    if spec is not None:
        return Definition(file, data, Message(spec, file, data))
    return _load_slowly(file, data)


def _load_slowly(file: str, data: bytes) -> Definition:
    from kiplint.text.diagnose import MISSING, diagnose

    found = diagnose(data)
    if found.value is MISSING:
        return Definition(file, data, None, found.problems)
    from kiplint.model.shape import repair

    spec, problems = repair(found.value)
    message = Message(spec, file, data) if spec else None
    return Definition(file, data, message, (*found.problems, *problems))
