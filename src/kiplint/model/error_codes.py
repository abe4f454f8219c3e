"""The error codes of the protocol: their names, and whether a client may try again.

Facts of Kafka's `org.apache.kafka.common.protocol.Errors` (the codes, in their order from -1 on) and of the exceptions
that it names (retriable if it extends `RetriableException`), as of 2026-08.
"""

from __future__ import annotations

import os
import re
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
ERRORS_JAVA = "clients/src/main/java/org/apache/kafka/common/protocol/Errors.java"
"""The path of the definition of Kafka's error codes in a tree of Kafka."""


UNSUPPORTED_VERSION, INVALID_REQUEST = ERRORS[35], ERRORS[42]


def error_of(code: int) -> ErrorCode:
    """The error with a code; an unknown code is called `UNKNOWN`."""
    return ERRORS.get(code) or ErrorCode(code, "UNKNOWN", None)


def read_errors(java: str) -> dict[int, ErrorCode]:
    """The errors of an `Errors.java`, by code. A name that Kafka has too is retriable where Kafka's is."""
    retriable_by_name = {error.name: error.retriable for error in ERRORS.values()}
    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', '""', java, flags=re.DOTALL)
    entries = re.findall(r"\b([A-Z][A-Z0-9_]*)\(\s*(-?[0-9]{1,5})\s*,", plain)
    return {int(code): ErrorCode(int(code), name, retriable_by_name.get(name)) for name, code in entries}
