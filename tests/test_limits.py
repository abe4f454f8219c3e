"""What has more than a limit is refused with a line that has the figure, and what has as much as the limit is read.

Each limit is lowered for its test. The limits on definitions, archives, packs, records and brokers have tests beside
those of their readers.
"""

from __future__ import annotations

import io
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from codec.test_capture import echo
from codec.test_records import batch, record
from conftest import ROOT
from kiplint import decode, kip
from kiplint.codec import capture, cut, frames, records
from kiplint.codec.catalog import open_catalog
from kiplint.codec.frames import split
from kiplint.codec.records import read_batches
from kiplint.codec.tcp import Arrival, Run, Segment
from kiplint.commands.decode import inputs
from kiplint.commands.decode.options import DecodeCommand
from kiplint.commands.decode.result import DecodedFrame
from kiplint.commands.decode.run import decode as decode_command
from kiplint.commands.encode import run as encode
from kiplint.commands.kip import drafts
from kiplint.commands.negotiate import run as negotiate
from kiplint.engine import baseline
from kiplint.engine.errors import UsageError
from kiplint.limits import LAKE_VERSIONS, LIMITS, RECORDS, Limit
from kiplint.pipeline.lake.lake import Snapshot
from kiplint.sources import git
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SourceError
from sources.support import git as run_git
from tools import definition

PCAP = ROOT / "fixtures" / "bytes" / "client.pcap"
KIP = f"```json\n{definition(name='XData', type='data', apiKey=None).decode()}\n```\n"
OFFERS = "a:1 (id: 1 rack: null) -> (\n\tFetch(1): 0 to 11 [usable: 11]\n)\n"
SET = ROOT / "fixtures" / "sets" / "broker"
BASELINE = '{"version": 1, "findings": []}'


@pytest.fixture
def lower(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, int], None]:
    """A function that lowers a limit: it takes the module that imports the limit, its name, and the new number."""

    def put(module: Any, name: str, most: int) -> None:
        limit: Limit = getattr(module, name)
        monkeypatch.setattr(module, name, Limit(most, limit.unit, limit.input, limit.remedy))

    return put


def test_every_limit_has_its_line() -> None:
    assert [limit.input for limit in LIMITS if "more than" not in limit.exceeded("it")] == []
    assert Limit(3, "apples", "a basket", "eat one").exceeded("it") == "it has more than 3 apples; eat one"


@pytest.mark.parametrize(
    ("module", "name", "text", "read"),
    [
        (drafts, "KIP_BYTES", KIP, lambda file: kip(file, config={})),
        (baseline, "BASELINE_BYTES", BASELINE, baseline.read_baseline),
        (inputs, "INPUT_BYTES", "00" * 40, decode),
        (encode, "VALUES_BYTES", '{"a": 1}', lambda file: encode.parse_object(file, "--json")),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith("_BYTES") else "",
)
def test_a_file(
    module: Any, name: str, text: str, read: Callable[[str], object], tmp_path: Path, lower: Callable[..., None]
) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    lower(module, name, len(text))
    try:
        read(str(file))
    except (UsageError, SourceError) as error:
        assert "more than" not in str(error)
    lower(module, name, len(text) - 1)
    with pytest.raises((UsageError, SourceError), match=f"has more than {len(text) - 1} bytes"):
        read(str(file))


@pytest.mark.parametrize(
    ("module", "name", "text", "read"),
    [
        (drafts, "KIP_BYTES", KIP, lambda: kip("-", config={})),
        (negotiate, "TEXT_BYTES", OFFERS, lambda: negotiate.negotiate(SET, "-")),
        (inputs, "INPUT_BYTES", "00" * 40, lambda: decode("-")),
    ],
    ids=("kip", "negotiate", "decode"),
)
def test_standard_input(
    module: Any,
    name: str,
    text: str,
    read: Callable[[], object],
    lower: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower(module, name, len(text) - 1)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises((UsageError, SourceError), match=f"^standard input has more than {len(text) - 1} bytes"):
        read()


def test_a_line_of_values(tmp_path: Path, lower: Callable[..., None]) -> None:
    (tmp_path / "lines").write_bytes(b'{"a": 1}\n{"a": 1, "b": 2}\n')
    lower(encode, "VALUES_BYTES", 17)
    with encode.open_lines(str(tmp_path / "lines")) as lines:
        assert [len(line) for line in lines] == [9, 17]
    lower(encode, "VALUES_BYTES", 16)
    with (
        encode.open_lines(str(tmp_path / "lines")) as lines,
        pytest.raises(UsageError, match="^a line of .* has more than 16 bytes"),
    ):
        assert [len(line) for line in lines] == [9]


def test_a_tree_of_git(tmp_path: Path, lower: Callable[..., None]) -> None:
    run_git(tmp_path, "init", "-q")
    (tmp_path / "XData.json").write_bytes(definition(name="XData", type="data", apiKey=None))
    (tmp_path / ("a" * 250)).touch()  # the tree is longer than the definition
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "x")
    size = len(b"100644 XData.json\0") + 20 + len(b"100644 \0") + 250 + 20
    lower(git, "GIT_TREE", size)
    assert [len(source.files) for source in open_sets(["HEAD:"], lambda path: True, repository=str(tmp_path))] == [1]
    lower(git, "GIT_TREE", size - 1)
    with pytest.raises(SourceError, match=f"has more than {size - 1} bytes of a tree object"):
        list(open_sets(["HEAD:"], lambda path: True, repository=str(tmp_path)))


def test_a_frame(lower: Callable[..., None]) -> None:
    data = struct.pack(">i", 12) + b"\0" * 12
    lower(frames, "FRAME_BYTES", 12)
    assert [frame.problem for frame in split(data)] == [None]
    lower(frames, "FRAME_BYTES", 11)
    assert [frame.problem and frame.problem.rule for frame in split(data)] == ["codec/too-large"]


@pytest.mark.parametrize(("name", "enough"), [("PACKETS", 5 + 2 * 10), ("PAYLOAD", 368)])
def test_packets_of_a_capture(name: str, enough: int, lower: Callable[..., None]) -> None:
    for most, is_cut in ((enough, False), (enough - 1, True)):
        lower(capture, name, most)
        result = decode(str(PCAP), sets=[SET])
        assert (result.limited, len(result.entries) < 5) == (is_cut, is_cut)
        entries: list[DecodedFrame] = []
        assert decode_command(DecodeCommand((str(PCAP),), (str(SET),)), each=entries.append).limited is is_cut
        assert len(entries) == len(result.entries)


@pytest.mark.parametrize(("limit", "count", "is_cut"), [(0, 0, True), (2, 2, True), (4, 4, True), (5, 5, False)])
def test_frames_of_a_capture(*, limit: int, count: int, is_cut: bool) -> None:
    result = capture.read_capture(open_catalog([SET], None), PCAP.read_bytes(), limit)
    assert (len(result.frames), result.limited) == (count, is_cut)


def test_a_packet_of_many_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more of them are made than can be shown: 14 bytes of a packet became a kilobyte."""
    cuts, original = [], cut.Cut

    def make_cut(*parts: Any) -> cut.Cut:
        cuts.append(parts)
        return original(*parts)

    monkeypatch.setattr(cut, "Cut", make_cut)
    request = bytes.fromhex("00120000") + bytes(4) + b"\xff\xff"
    data = b"".join(struct.pack(">i", len(request)) + request for _ in range(2_000))
    packets = capture.Packets([Segment(0.0, ("a", 1), ("b", 9092), 1, 0, data)], [0.0], Counter())
    read = capture.read_segments(open_catalog([SET], None), packets, 100)
    assert (len(read.frames), len(cuts) < 200) == (101, True)


def test_a_larger_input_with_a_higher_limit(lower: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b'{"message": "XRequest"}\n' * 20)
    lower(inputs, "INPUT_BYTES", 400)
    with pytest.raises(
        UsageError, match="it has more than 400 bytes of input; divide it, or decode more by `--limit N`"
    ):
        decode(str(tmp_path / "lines"), sets=[SET])
    result = decode(str(tmp_path / "lines"), sets=[SET], limit=RECORDS * 2)
    assert [entry.line for entry in result.entries] == [*range(1, 21)]


def test_zeros_are_not_searched_for_frames() -> None:
    """A capture of 10 MB of them took 50 seconds; and no response is searched for where there is no request."""
    catalog = echo()
    request = cut.request_sign(catalog)
    assert [len(request.pattern.findall(data)) for data in (bytes(99), b"\0\0\0\x08" + bytes(99))] == [0, 3]
    assert cut.response_sign(catalog, {}).pattern.search(bytes(range(7)) * 20) is None


def test_a_frame_of_a_capture(lower: Callable[..., None]) -> None:
    run = Run(0, struct.pack(">i", 12) + b"\0" * 12, (Arrival(0, 0.0, 0),))
    sign = cut.Sign(re.compile(b"x"), *[lambda *_: False] * 3)
    for most, rules in ((12, [None]), (11, ["codec/too-large"])):
        lower(cut, "FRAME_BYTES", most)
        frames = cut.cut([run], sign, synchronized=True)
        assert [frame.problem and frame.problem.rule for frame in frames] == rules


def test_batches(lower: Callable[..., None]) -> None:
    data = batch([record(0, b"k", b"v")])
    lower(records, "BATCHES", 2)
    assert read_batches(data * 2)[1] == ()
    batches, problems = read_batches(data * 3)
    assert (len(batches), [problem.rule for problem in problems]) == (2, ["codec/too-many-elements"])


def test_versions_of_a_lake() -> None:
    decoder = msgspec.json.Decoder(Snapshot)
    assert decoder.decode(f'{{"number": {int(LAKE_VERSIONS)}}}').number == LAKE_VERSIONS
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(f'{{"number": {LAKE_VERSIONS + 1}}}')
