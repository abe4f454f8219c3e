"""The forms of bytes that `decode` recognises: wrapped lines, base64, and packed captures."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint import decode
from kiplint.engine.errors import UsageError

SET = str(ROOT / "fixtures" / "sets" / "broker")
GOOD = bytes.fromhex("0003000c0000000700036162630000010100")
LONG = GOOD[:9] + b"\x1eab  0000 ffff |x| 61 62 63 done" + bytes(40) + b"\xff\x80 "
CAPTURE = ROOT / "fixtures" / "bytes" / "client.pcap"


@pytest.mark.parametrize(
    "text", [base64.encodebytes(LONG).decode(), "\n".join(LONG.hex()[at : at + 60] for at in range(0, 200, 60))]
)
def test_wrapped_lines_are_one_frame(tmp_path: Path, text: str) -> None:
    (tmp_path / "text").write_text(text)
    result = decode(str(tmp_path / "text"), sets=[SET])
    assert [entry.data for entry in result.entries] == [LONG]
    assert result.notes == (f"{tmp_path / 'text'}: the lines are read as one frame",)


@pytest.mark.parametrize("word", ["zz", "test", "capture1", "AAMA"])
def test_words_are_not_read_as_base64(word: str) -> None:
    with pytest.raises(UsageError, match=f"{word} is neither hexadecimal, nor base64 of a whole frame"):
        decode(word, sets=[SET])


def test_short_base64_of_a_body() -> None:
    assert decode("AAEBAA==", sets=[SET], body="MetadataRequest@12").status == "ok"


def test_text_of_no_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("10:00 broker: connection closed\n")
    with pytest.raises(UsageError, match=r"log\.txt is text, but neither hexadecimal nor base64"):
        decode(str(tmp_path / "log.txt"), sets=[SET])


def test_packed_captures(tmp_path: Path) -> None:
    (tmp_path / "client.pcap.gz").write_bytes(gzip.compress(CAPTURE.read_bytes()))
    result = decode(str(tmp_path / "client.pcap.gz"), sets=[SET])
    assert result.capture == decode(str(CAPTURE), sets=[SET]).capture
    assert result.notes == (f"{tmp_path / 'client.pcap.gz'}: unpacked with gzip",)
    with pytest.raises(UsageError, match="not gzip"):
        decode(b"\x1f\x8b\x08" + bytes(20), sets=[SET])
