"""What a capture comes to: APIs and versions, clients, what was not answered, and what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kiplint.codec.capture import Capture
from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Captured
from kiplint.codec.frames import Frame


def summarize(catalog: Catalog, capture: Capture, frames: Sequence[Frame]) -> dict[str, Any]:
    """The summary in JSON's terms; `frames` are the capture's, decoded, in their order."""
    pairs = list(zip(capture.frames, frames, strict=True))
    requests = sum(one.direction == "request" for one in capture.frames)
    servers = sorted({f"{one.server[0]}:{one.server[1]}" for one in capture.frames})
    return {
        "packets": capture.packets,
        "payload_bytes": capture.payload,
        "retransmitted_segments": capture.repeated,
        "seconds": round(capture.seconds, 1),
        "tcp_connections": capture.connections,
        "other_connections": capture.others,
        "server": servers[0] if len(servers) == 1 else None,
        "servers": servers,
        "frames": len(capture.frames),
        "requests": requests,
        "responses": len(capture.frames) - requests,
        "unpaired_responses": capture.unpaired,
        "incomplete": sum(not one.whole for one in capture.frames),
        "by_api": _by_api(catalog, pairs),
        "client_ids": _client_ids(pairs),
        "unanswered": [_place(one) for one in _in_order(capture.frames) if _is_unanswered(one)],
        "problems": [_problem(one, frame) for one, frame in pairs if frame.problems and one.whole],
    }


def _by_api(catalog: Catalog, pairs: Sequence[tuple[Captured, Frame]]) -> list[dict[str, Any]]:
    counts: Counter[tuple[int, int, str]] = Counter()
    sizes: Counter[tuple[int, int, str]] = Counter()
    for one, _ in pairs:
        counts[one.api_key, one.api_version, one.direction] += 1
        sizes[one.api_key, one.api_version, one.direction] += len(one.data) + 4
    found = []
    for key, version in sorted({(key, version) for key, version, _ in counts}):
        known = catalog.keyed("request", key)
        found.append(
            {
                "api_key": key,
                "api_version": version,
                "name": known[0].base_name if known else "",
                "requests": counts[key, version, "request"],
                "responses": counts[key, version, "response"],
                "request_bytes": sizes[key, version, "request"],
                "response_bytes": sizes[key, version, "response"],
            }
        )
    return found


def _client_ids(pairs: Sequence[tuple[Captured, Frame]]) -> dict[str, int]:
    headers = [frame.header for one, frame in pairs if one.direction == "request" and frame.header]
    counts = Counter(header["clientId"] for header in headers if header.get("clientId") is not None)
    return dict(sorted(counts.items()))


def _is_unanswered(one: Captured) -> bool:
    return one.direction == "request" and not one.answered


def _in_order(frames: Sequence[Captured]) -> list[Captured]:
    return sorted(frames, key=lambda one: (one.api_key, one.api_version, one.time))


def _place(one: Captured) -> dict[str, Any]:
    return {
        "api_key": one.api_key,
        "api_version": one.api_version,
        "client_port": one.client[1],
        "correlation_id": one.correlation_id,
    }


def _problem(one: Captured, frame: Frame) -> dict[str, Any]:
    first = frame.problems[0]
    return {
        **_place(one),
        "direction": one.direction,
        "stream_offset": one.stream_offset,
        "rule": first.rule,
        "offset": first.offset,
        "message": first.message,
    }
