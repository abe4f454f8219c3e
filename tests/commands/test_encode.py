"""`kiplint.encode`, and sets that are loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

import kiplint
from conftest import ROOT
from kiplint.engine.errors import UsageError

SET = ROOT / "fixtures" / "sets" / "broker"
VALUE = {"topics": None, "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": True}


def test_encode_is_the_reverse_of_decode() -> None:
    tree = kiplint.load(SET)
    data = kiplint.encode("MetadataRequest@12", VALUE, sets=[tree])
    assert data.hex() == "00010100"
    (frame,) = kiplint.decode("MetadataRequest@12", data, sets=[tree]).frames
    assert frame.value == VALUE
    assert kiplint.encode("MetadataRequest@12", VALUE, sets=[SET]) == data


@pytest.mark.parametrize(
    ("message", "value", "error"),
    [
        ("MetadataRequest@12", {"allowAutoTopicCreation": "x"}, "a value does not fit its field in MetadataRequest@12"),
        ("MetadataRequest@99", {}, "no set has MetadataRequest 99; the versions are 0-13"),
        ("MetadataRequest", {}, "MetadataRequest is not of the form MESSAGE@VERSION, such as MetadataRequest@12"),
    ],
)
def test_what_cannot_be_encoded(message: str, value: dict[str, object], error: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=error):
        kiplint.encode(message, value, sets=[SET])


def test_the_layout_of_a_version() -> None:
    message = kiplint.load(SET).main.by_name["MetadataRequest"]
    names = [slot.field.name for slot in message.layout(12).slots]
    assert names == ["Topics", "AllowAutoTopicCreation", "IncludeTopicAuthorizedOperations"]
    with pytest.raises(ValueError, match="MetadataRequest has no version 14; its valid versions are 0-13"):
        message.layout(14)
