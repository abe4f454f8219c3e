"""The result of `kiplint encode`, and its JSON document."""

from __future__ import annotations

from typing import Final

from kiplint.codec.exchange import EncodedObject, ProblemObject
from kiplint.render.report import RunResult

DOCUMENTS: Final = {"encode": EncodedObject}


class EncodeResult(RunResult, frozen=True):
    """An encoded message. `status` is `findings` where the values have problems."""

    message: str
    """The name of the message."""
    version: int
    """The version of the message."""
    header_version: int | None
    """The version of the header; None without a header."""
    data: bytes
    """The bytes; empty where the values have problems."""
    problems: tuple[ProblemObject, ...] = ()
    """The values that cannot be encoded."""

    command = "encode"
    unread = "left out"

    def __str__(self) -> str:
        return "\n".join(problem.message for problem in self.problems) if self.problems else self.data.hex()

    @property
    def document(self) -> EncodedObject:
        """The JSON document."""
        return EncodedObject(
            message=self.message,
            version=self.version,
            header_version=self.header_version,
            hex=None if self.problems else self.data.hex(),
            length=len(self.data),
            problems=self.problems,
        )
