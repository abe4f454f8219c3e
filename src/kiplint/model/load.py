"""From the bytes of a file to a message and the problems that stood in the way."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kiplint.model.message import Message
from kiplint.model.spec import DECODER, ENCODER
from kiplint.text.decode import decode
from kiplint.text.problem import Problem

_NAME: Final = rb'"name"\s*+:\s*+"([A-Za-z0-9_]{1,200})"'


class Definition(msgspec.Struct, frozen=True):
    """One file: its path, its bytes, the message (None when there is none to be had), and the reader's problems."""

    file: str
    data: bytes
    message: Message | None
    problems: tuple[Problem, ...] = ()

    @property
    def likely_names(self) -> tuple[str, ...]:
        """What the message is probably called, where none could be made of the file: by its file name and text."""
        stem = self.file.replace("\\", "/").rpartition("/")[2].removesuffix(".json")
        written = re.search(_NAME, self.data)
        return (stem, *((written[1].decode(),) if written else ()))


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
    noted = (*found.problems, *problems)
    return Definition(file, data, Message(spec, file, data, noted) if spec else None, noted)
