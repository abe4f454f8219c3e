"""Reading and writing one version of one message; compiled on first use."""

from __future__ import annotations

from typing import Any

from kiplint.codec import reader, writer
from kiplint.codec.problems import Malformed
from kiplint.codec.reader import Reader, make_reader
from kiplint.codec.writer import Writer, make_writer
from kiplint.model.fact import fact
from kiplint.model.layout import Body, layout
from kiplint.model.message import Message


class Codec:
    """The bytes of one (message, version). Make one and keep it: compiling takes longer than most readings."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version
        self.title = f"{message.name} {version}"

    @fact
    def body(self) -> Body:
        """The layout."""
        return layout(self.message, self.version)

    @fact
    def reader(self) -> Reader:
        """The compiled reader of values in JSON's terms: base64 for bytes, text for floats that are no number."""
        return make_reader(self.body, f"read {self.title}", plain=True)

    @fact
    def raw_reader(self) -> Reader:
        """The compiled reader that leaves bytes and floats as they are."""
        return make_reader(self.body, f"read {self.title}", plain=False)

    @fact
    def writer(self) -> Writer:
        """The compiled writer."""
        return make_writer(self.body, f"write {self.title}")

    def read(self, data: bytes) -> dict[str, Any]:
        """The values of a body that is the whole of the bytes; Malformed, without a reason, when it is not."""
        try:
            value, end = self.reader(data, 0)
        except reader.FAILURES:
            raise Malformed from None
        if end != len(data):
            raise Malformed
        return value

    def write(self, value: dict[str, Any]) -> bytes:
        """The bytes of values that have every field; Malformed, without a reason, when they are not right."""
        parts: list[bytes] = []
        try:
            self.writer(value, parts.append)
        except writer.FAILURES:
            raise Malformed from None
        return b"".join(parts)
