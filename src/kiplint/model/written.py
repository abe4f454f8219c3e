"""A message as it is written: its file, and what the file says outside its JSON."""

from __future__ import annotations

import os
import re

from kiplint.model import notes
from kiplint.model.container import Container
from kiplint.model.fact import fact

_SEPARATORS = "/" if os.sep == "/" else r"/\\"  # elsewhere a backslash is the beginning of an escape
_DIRECTORIES = rf"[{_SEPARATORS}]|:(?=[^{_SEPARATORS}]*$)"


class WrittenMessage(Container):
    """The part of a message that is about its file: `file` is the path, `data` its bytes."""

    file: str
    data: bytes

    @fact
    def file_name(self) -> str:
        """The name of the file without its directory."""
        return re.split(_DIRECTORIES, self.file)[-1]

    @fact
    def file_stem(self) -> str:
        """The file's name without directory and `.json`."""
        return self.file_name.removesuffix(".json")

    @fact
    def is_called_like_file(self) -> bool:
        """Whether the message is called like its file, underscores and case aside."""
        return self.name == self.file_stem or _plain(self.name) == _plain(self.file_stem)

    @fact
    def has_escapes(self) -> bool:
        """Whether the file has a backslash, without which no text in it can hold a quote."""
        return b"\\" in self.data or not self.data

    @fact
    def _in_flux(self) -> bool:
        """Whether a comment says that the message may still change incompatibly."""
        return notes.is_in_flux(self.data)

    @fact
    def has_licence(self) -> bool:
        """Whether a comment before the definition names a licence."""
        return notes.has_licence(self.data)

    @fact
    def trailing_spaces(self) -> int:
        """The number of lines that end in white space."""
        return notes.trailing_spaces(self.data)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
