"""Bytes: reading and writing of real messages beside the codecs of clients, a capture beside tshark, and growth."""

import json
import re
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.clients import Entity, kafka_python, kio
from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, Row, SkipError, cost_of, pair_row, ratio_row
from benchmarks.timing import Command, compare, median_wall, output, repeat
from benchmarks.workspace import corpus_root, scratch
from kiplint import decode
from kiplint.codec.catalog import having, open_catalog
from kiplint.codec.codec import Codec

ROUNDS = 15
PORT = 29092
FRAME = "0003000c0000000700036162630000010100"
BROKEN = f"{FRAME}0a"
"""The frame with a byte more: every response is tried before the answer."""


class Body(NamedTuple):
    """One message of the capture: its codec, its bytes and its values."""

    codec: Codec
    data: bytes
    value: dict[str, Any]


def frames(lab: Lab) -> Iterator[Outcome]:
    """All of these."""
    capture = corpus_root().parent / "bytes" / "capture.pcapng"
    if not capture.is_file():
        raise SkipError(f"no capture at {capture}")
    bodies = list(_bodies(lab, capture))
    yield from _beside(bodies, "decode", "kafka-python", kafka_python(), target=1.0)
    entities = kio()
    yield from _beside(bodies, "decode", "kio's reader (native)", entities, target=None)
    yield from _beside(bodies, "encode", "kio's writer", entities, target=1.0)
    yield from _growth(lab, bodies)
    yield from _one_frame(lab)
    yield from _table(lab, capture)
    yield from _tshark(lab, capture)


COPIES = 27
"""The capture so many times over has 20,000 frames."""


def _table(lab: Lab, capture: Path) -> Iterator[Outcome]:
    """The frames of a large capture as a table, and chosen by a condition, beside decoding alone."""
    large = scratch("large.pcap")
    frames = enlarge(capture, large, COPIES)
    words = ("decode", "--set", lab.corpus.clients, large)
    plain = lab.kiplint(*words, "--output-format", "concise")
    for name, more in (("--list", ("--list",)), ("--where", ("--where", "api == 'Fetch' and latency > 100"))):
        comparison = compare(lab.kiplint(*words, *more), plain, max(3, lab.plan.pairs // 4))
        yield pair_row(f"decode {name} / decode, {frames:,} packets", comparison, 1.5)


def enlarge(capture: Path, target: Path, copies: int) -> int:
    """Write a capture of one server several times over, each time with another client; how many packets there are."""
    import dpkt

    with capture.open("rb") as source, target.open("wb") as out:
        reader = dpkt.pcap.UniversalReader(source)
        packets = list(reader)
        writer = dpkt.pcap.Writer(out, linktype=reader.datalink())
        for copy in range(copies):
            for moment, packet in packets:
                frame = dpkt.ethernet.Ethernet(packet)
                end = "src" if frame.data.data.dport == PORT else "dst"
                setattr(frame.data, end, bytes((10, 0, copy // 250, copy % 250 + 1)))
                writer.writepkt(bytes(frame), ts=float(moment) + copy * 100)
    return copies * len(packets)


def _bodies(lab: Lab, capture: Path) -> Iterator[Body]:
    catalog = open_catalog([lab.corpus.clients], None)
    for entry in decode(str(capture), sets=[lab.corpus.clients]).entries:
        message = having(catalog.with_name(entry.frame.message), entry.frame.version)
        if message and not entry.frame.problems and entry.frame.value is not None:
            codec = catalog.codec(message, entry.frame.version)
            yield Body(codec, entry.data[entry.frame.body_start :], entry.frame.value)


def _beside(
    bodies: list[Body], verb: str, name: str, entities: Callable[[str, int], Entity | None], target: float | None
) -> Iterator[Outcome]:
    """The same messages read, or written, by both; without those that the peer does not know, or writes otherwise."""
    pairs = []
    for body in bodies:
        entity = entities(body.codec.message.name, body.codec.version)
        value = entity.read_whole(body.data) if entity else None
        if entity and value is not None and body.codec.encode(body.value) == (body.data, ()):
            pairs.append((body, entity, value))

    def ours() -> None:
        for body, _, _ in pairs:
            _ = body.codec.decode(body.data) if verb == "decode" else body.codec.encode(body.value)

    def theirs() -> None:
        for body, entity, value in pairs:
            _ = entity.read(body.data) if verb == "decode" else entity.write(value)

    took = [(_cpu(ours), _cpu(theirs)) for _ in range(ROUNDS)]
    size = sum(len(body.data) for body, _, _ in pairs)
    first, second = (statistics.median(column) for column in zip(*took, strict=True))
    ratio = statistics.median(a / b for a, b in took)
    rates = [_rate(len(pairs), size, seconds) for seconds in (first, second)]
    yield ratio_row(f"{verb} {len(pairs)} real messages / {name}", rates[0], rates[1], ratio, target)


def _cpu(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _rate(count: int, size: int, seconds: float) -> str:
    return f"{count / seconds:,.0f}/s, {size / seconds / 2**20:.0f} MiB/s"


def _growth(lab: Lab, bodies: list[Body]) -> Iterator[Outcome]:
    """Ten times the lines take ten times as long, start-up aside."""
    lines = [
        json.dumps({"message": body.codec.message.name, "version": body.codec.version, "hex": body.data.hex()})
        for body in bodies
    ]
    walls = []
    for factor in (0, 2, 20):
        file = scratch(f"frames-{factor}.jsonl")
        file.write_text("\n".join([*lines[:1], *lines * factor]) + "\n", encoding="utf-8")
        words = ("decode", "--set", lab.corpus.clients, "--input-format", "jsonl", file, "--output-format", "jsonl")
        walls.append(median_wall(repeat(lab.kiplint(*words), max(3, lab.plan.pairs // 4))))
    above = [wall - walls[0] for wall in walls[1:]]
    times = [f"{seconds * 1000:,.0f} ms" for seconds in above]
    measure = f"decode {20 * len(lines):,} lines / ten times {2 * len(lines):,}"
    ratio = above[1] / above[0] / 10
    yield Row(measure, times[1], times[0], f"{ratio:.2f}", "<= 1.15", ratio <= 1.15)


def _one_frame(lab: Lab) -> Iterator[Outcome]:
    other = lab.kiplint("check", "MetadataRequest.json", cwd=lab.corpus.clients)
    for title, frame in (("one frame", FRAME), ("one broken frame", BROKEN)):
        ours = lab.kiplint("decode", "--set", ".", frame, cwd=lab.corpus.clients)
        comparison = compare(ours, other, lab.plan.pairs)
        yield pair_row(f"decode {title} / check one file", comparison, 1.5)
        yield cost_of(f"kiplint decode, {title}", comparison.ours)


def _tshark(lab: Lab, capture: Path) -> Iterator[Outcome]:
    """The same capture, every field of every frame written as text lines of JSON or of a tree."""
    tshark = shutil.which("tshark")
    if tshark is None:
        raise SkipError("tshark: it is not installed")
    version = re.search(r"[0-9.]+", output(Command((tshark, "--version"))))
    words = ("-r", capture, "-d", f"tcp.port=={PORT},kafka", "-Y", "kafka", "-V")
    theirs = Command((tshark, *words))
    ours = lab.kiplint("decode", "--set", lab.corpus.clients, capture, "--output-format", "jsonl")
    comparison = compare(ours, theirs, lab.plan.pairs)
    yield pair_row(f"decode a capture / tshark {version[0] if version else ''}", comparison, None)
    yield cost_of("kiplint decode, a capture", comparison.ours)
    yield cost_of("tshark", comparison.theirs)
