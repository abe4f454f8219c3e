"""The rows of frames, and the choice of frames by a condition or a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kiplint.codec.conversation import Address
from kiplint.commands.decode.result import DecodedFrame, FrameRow
from kiplint.engine.errors import UsageError
from kiplint.engine.translate import condition
from kiplint.model.error_codes import NONE
from kiplint.text.words import plural


def frame_rows(entries: Iterable[DecodedFrame]) -> Iterator[tuple[DecodedFrame, FrameRow]]:
    """Frames with their rows, in order."""
    clients: dict[tuple[str, int], str] = {}
    for place, entry in enumerate(entries, 1):
        captured, header = entry.captured, entry.frame.header or {}
        client_id = header.get("clientId") or ""
        if captured and captured.request is not None:
            client_id = clients.get((entry.source, captured.request), "")
        elif captured:
            clients[entry.source, captured.number] = client_id
        yield entry, _row(entry, place, client_id)


def _row(entry: DecodedFrame, place: int, client_id: str) -> FrameRow:
    frame, captured, header = entry.frame, entry.captured, entry.frame.header or {}
    api_key = captured.api_key if captured else header.get("requestApiKey", -1)
    names = tuple(dict.fromkeys([error.name for error in frame.errors]))
    answer = frame.message.endswith("Response")
    return FrameRow(
        number=captured.number if captured else place,
        time=captured.elapsed if captured else 0.0,
        connection=captured.connection if captured else -1,
        direction=captured.direction if captured else "" if not header else "response" if answer else "request",
        api=frame.message.removesuffix("Response" if answer else "Request") or f"key {api_key}",
        api_key=api_key,
        version=captured.api_version if captured else frame.version,
        client_id=client_id,
        correlation_id=captured.correlation_id if captured else header.get("correlationId", -1),
        size=frame.length + 4,
        latency=captured.latency if captured and captured.latency is not None else -1.0,
        error=names[0] if names else NONE,
        errors=names,
        problem=frame.problems[0].rule if frame.problems else "",
        answered=captured is None or captured.direction == "response" or captured.answered is not False,
        client=_address(captured.client) if captured else "",
        server=_address(captured.server) if captured else "",
        message=frame.message,
    )


def _address(end: Address) -> str:
    return f"{end[0]}:{end[1]}"


def chosen(entries: Iterable[DecodedFrame], where: str, number: int | None) -> Iterator[tuple[DecodedFrame, FrameRow]]:
    """The frames for which a condition holds, or the frame with a number. Raises UsageError."""
    holds: Callable[[object], bool] = condition(where, FrameRow, "frame") if where else lambda row: True
    last = 0
    for entry, row in frame_rows(entries):
        last = max(last, row.number)
        if holds(row) and number in (None, row.number):
            yield entry, row
    if number is not None and not 0 < number <= last:
        raise UsageError(f"there is no frame {number}; the input has {plural(last, 'frame')}")
