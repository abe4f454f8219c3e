"""The error codes of the protocol: their names, and whether a client may try again.

Facts of Kafka's `org.apache.kafka.common.protocol.Errors` (the codes, in their order from -1 on) and of the exceptions
that it names (retriable if it extends `RetriableException`), as of 2026-08.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec


class ErrorCode(msgspec.Struct, frozen=True):
    """An error code, its name, and whether a client may try again; None where that is not known."""

    code: int
    name: str
    retriable: bool | None

    def __str__(self) -> str:
        has_retry = self.code and self.retriable is not None
        return (
            f"{self.code} ({self.name}{(', retriable' if self.retriable else ', not retriable') if has_retry else ''})"
        )


def _read() -> Iterator[ErrorCode]:
    """The codes in the file beside this module: number, name, and whether it is retriable."""
    with open(os.path.join(os.path.dirname(__file__), "error_codes.txt"), encoding="ascii") as file:
        for line in file:
            code, name, *retriable = line.split()
            yield ErrorCode(int(code), name, bool(retriable))


ERRORS: Mapping[int, ErrorCode] = {error.code: error for error in _read()}
UNSUPPORTED_VERSION, INVALID_REQUEST = ERRORS[35], ERRORS[42]


def error_of(code: int) -> ErrorCode:
    """The error with a code; an unknown code is called `UNKNOWN`."""
    return ERRORS.get(code) or ErrorCode(code, "UNKNOWN", None)
