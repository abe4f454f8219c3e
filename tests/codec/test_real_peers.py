"""What librdkafka's clients and its mock cluster say to each other is read to the last byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from codec.proxy import Talk
from codec.support import load_catalog
from codec.test_real_bytes import assert_covers
from kiplint.codec.connection import RpcCall, judge
from kiplint.codec.frames import Frame, decode_request, decode_response

FAULTS = {
    # Surplus byte: see the traffic that was recorded elsewhere. The other is an array with one element and a count of none.
    ("MetadataResponse", 13): "codec/trailing-bytes",
    ("ApiVersionsResponse", 0): "codec/fallback-version",
}
"""What the mock cluster writes wrongly, whatever it is asked."""


def read(set_path: Path, talks: list[Talk]) -> Iterator[Frame]:
    catalog = load_catalog(str(set_path))
    for talk in talks:
        apis_by_id = {}
        for data in talk.requests:
            request = decode_request(catalog, data, spans=True)
            apis_by_id[data[4:8]] = (int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big"))
            yield request
        for data in talk.responses:
            yield decode_response(catalog, *apis_by_id[data[:4]], data, spans=True)


def test_every_frame_is_read(corpus: Path, talks: list[Talk]) -> None:
    counts: Counter[tuple[str, int]] = Counter()
    for frame in read(corpus / "kafka-trunk-2026-08", talks):
        place = (frame.message, frame.version)
        counts[place] += 1
        if not frame.problems:
            assert_covers(frame)
        else:
            assert frame.problems[0].rule == FAULTS.get(place), (place, frame.problems)
    names = {name for name, _ in counts}
    assert names >= {
        f"{name}{half}"
        for name in (
            "ApiVersions",
            "Metadata",
            "Produce",
            "Fetch",
            "FindCoordinator",
            "JoinGroup",
            "SyncGroup",
            "EndTxn",
        )
        for half in ("Request", "Response")
    }
    assert len(counts) >= 30


def test_no_rule_about_connections_is_broken(corpus: Path, talks: list[Talk]) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    for talk in talks:
        answers = {data[:4]: data for data in talk.responses}
        calls = []
        for number, data in enumerate(talk.requests):
            api = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
            request, answer = decode_request(catalog, data), answers.get(data[4:8])
            response = decode_response(catalog, *api, answer) if answer else None
            good_request = None if request.problems else request
            good_response = None if response is None or response.problems else response
            calls.append(RpcCall(*api, good_request, good_response, float(number), number + 0.5, opening=not number))
        assert [*judge(calls, {})] == []
