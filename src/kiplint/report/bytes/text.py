"""Decoded bytes for people: each frame value by value; of a capture its summary, and the frames with problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

from kiplint.report.bytes.rows import frame_lines
from kiplint.report.kit.colors import BOLD, SEVERITY
from kiplint.report.kit.table import fold, paragraph, table, title, width_of
from kiplint.runs.bytes.decode import DecodeResult
from kiplint.text.words import plural

HEAD = ("API", "version", "requests", "responses", "bytes")


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the frames; of a capture first what is in it."""
    width = width_of(out)
    parts = [[*_summary(result.capture, color, width)]] if result.capture is not None else []
    drawn = (entry for entry in result.entries if entry.captured is None or entry.frame.problems)
    parts += [[*frame_lines(entry, color, width)] for entry in drawn]
    out.write("\n\n".join("\n".join(part) for part in parts) + "\n" if parts else "")


def _summary(found: Mapping[str, Any], color: bool, width: int | None) -> Iterator[str]:
    to = f" to {', '.join(found['servers'])}" if found["servers"] else ""
    yield from fold(
        f"{plural(found['frames'], 'frame')} in {plural(found['tcp_connections'], 'connection')}{to}: "
        f"{plural(found['requests'], 'request')}, {plural(found['responses'], 'response')}, {found['seconds']} s",
        width,
        color,
        BOLD,
    )
    others = (
        f", {plural(found['other_connections'], 'connection')} of other protocols" if found["other_connections"] else ""
    )
    lost = f", {plural(found['incomplete'], 'frame')} not captured to the end" if found["incomplete"] else ""
    unpaired = found["unpaired_responses"]
    alone = f", {plural(unpaired, 'response')} without a captured request" if unpaired else ""
    said = f"{plural(found['packets'], 'packet')}, {found['payload_bytes']} bytes of payload{others}{lost}{alone}"
    yield from fold(f"  {said}", width)
    yield from table(HEAD, [_api(one) for one in found["by_api"]], color, width)
    clients = [f"{name} ({count})" for name, count in found["client_ids"].items()]
    yield from _list("clients", clients, width)
    missing = [f"{one['api_key']}@{one['api_version']} from port {one['client_port']}" for one in found["unanswered"]]
    yield from _list("not answered", missing, width)
    wrong = f"{plural(len(found['problems']), 'frame')} with problems"
    yield title(wrong, color) if not found["problems"] else _alarm(wrong, color)


def _api(one: Mapping[str, Any]) -> list[tuple[str, str]]:
    size = one["request_bytes"] + one["response_bytes"]
    cells = (one["name"] or f"key {one['api_key']}", one["api_version"], one["requests"], one["responses"], size)
    return [(str(cell), "") for cell in cells]


def _list(label: str, items: list[str], width: int | None) -> Iterator[str]:
    if items:
        yield f"  {label}:"
        yield from paragraph(items, "    ", width)


def _alarm(text: str, color: bool) -> str:
    from kiplint.report.kit.colors import paint

    return paint(text, SEVERITY["error"], color)
