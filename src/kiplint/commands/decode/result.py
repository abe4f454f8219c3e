"""Decoded bytes as JSON; the fields are stable, and only ever added to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.codec.exchange import document as frame_document
from kiplint.commands.decode.run import DecodeResult, Entry


def document(result: DecodeResult) -> dict[str, Any]:
    """What `kiplint decode --output-format json` writes."""
    problems = sum(len(entry.frame.problems) for entry in result.entries)
    return {
        "version": 1,
        "frames": [*rows(result)],
        "summary": {"frames": len(result.entries), "problems": problems},
        **({"capture": dict(result.capture)} if result.capture is not None else {}),
    }


def rows(result: DecodeResult) -> Iterator[dict[str, Any]]:
    """The frames, an object each."""
    return map(_entry, result.entries)


def _entry(entry: Entry) -> dict[str, Any]:
    found = frame_document(entry.frame)
    if entry.captured is None:
        return found
    one = entry.captured
    return found | {
        "direction": one.direction,
        "api_key": one.api_key,
        "api_version": one.api_version,
        "connection": one.connection,
        "client": f"{one.client[0]}:{one.client[1]}",
        "server": f"{one.server[0]}:{one.server[1]}",
        "time": one.time,
        "stream_offset": one.stream_offset,
        "whole": one.whole,
    }
