"""The result of `kiplint new`, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from kiplint.render.report import RunResult
from kiplint.text.show import encodable


class NewFile(msgspec.Struct, frozen=True):
    """A new file."""

    path: str
    text: str


class NewDocument(msgspec.Struct, frozen=True):
    """What `kiplint new ... --output-format json` writes."""

    version: Literal[1]
    files: tuple[NewFile, ...]


DOCUMENTS: Final = {"new": NewDocument}


class NewResult(RunResult, frozen=True):
    """The result of `new_rpc`."""

    files: Mapping[str, bytes] = {}
    """The bytes of the new files, by path."""

    command = "new"

    @property
    def document(self) -> NewDocument:
        """The JSON document."""
        return NewDocument(1, tuple(NewFile(encodable(path), data.decode()) for path, data in self.files.items()))
