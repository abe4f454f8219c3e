"""The records of a batch of magic 2: signed varints, and times and offsets as differences."""

from __future__ import annotations

from typing import Any

from kiplint.codec.wire import base64_text
from kiplint.text.words import in_bytes


class Damaged(Exception):  # noqa: N818
    """A record that is not as it should be; `offset` counts from the first record."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.offset = offset


class Records:
    """Unpacked records, read one after the other."""

    def __init__(self, data: bytes, offset: int, time: int) -> None:
        self._data = data
        self._pos = 0
        self._offset = offset
        self._time = time

    def record(self) -> dict[str, Any]:
        """The next record in JSON's terms. Raises Damaged."""
        start = self._pos
        size = self._varint()
        end = self._pos + size
        if size < 0 or end > len(self._data):
            raise Damaged(f"a record of {in_bytes(size)}; {len(self._data) - self._pos} are left", start)
        if self._pos >= len(self._data):
            raise Damaged("the bytes end inside a record", start)
        self._pos += 1  # attributes, of which none has a meaning yet
        time = self._time + self._varint()
        offset = self._offset + self._varint()
        key, value = self._sized(), self._sized()
        count = self._varint()
        if not 0 <= count <= len(self._data) - self._pos:
            raise Damaged(f"a record with {count} headers", start)
        headers = [{"key": self._text(), "value": _shown(self._sized())} for _ in range(count)]
        if self._pos != end:
            raise Damaged(f"a record of {in_bytes(size)} that ends after {size - (end - self._pos)}", start)
        return {"offset": offset, "timestamp": time, "key": _shown(key), "value": _shown(value), "headers": headers}

    def finish(self) -> None:
        """Raises Damaged when bytes are left."""
        if self._pos < len(self._data):
            left = len(self._data) - self._pos
            raise Damaged(f"{in_bytes(left, 'follows', 'follow')} after the last record", self._pos)

    def _varint(self) -> int:
        """A signed varint of at most 64 bits."""
        start, value = self._pos, 0
        for shift in range(0, 70, 7):
            if self._pos >= len(self._data):
                break
            byte = self._data[self._pos]
            self._pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise Damaged("the bytes end inside a varint, or it is too long", start)

    def _sized(self) -> bytes | None:
        start = self._pos
        size = self._varint()
        if size < 0:
            return None
        if self._pos + size > len(self._data):
            raise Damaged(f"a value of {in_bytes(size)}; {len(self._data) - self._pos} are left", start)
        self._pos += size
        return self._data[self._pos - size : self._pos]

    def _text(self) -> str:
        start = self._pos
        data = self._sized()
        if data is None:
            raise Damaged("a header whose key is null", start)
        return data.decode(errors="replace")


def _shown(data: bytes | None) -> str | None:
    return None if data is None else base64_text(data)
