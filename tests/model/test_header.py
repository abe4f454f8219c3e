"""The entries of `headerVersions`."""

from __future__ import annotations

import pytest

from kiplint.model.headers import HeaderRange
from kiplint.versions import NONE
from tools import message, schema_set


def entries(**ranges: str) -> tuple[HeaderRange, ...]:
    return message(headerVersions=ranges).header_ranges


def ranges(text: str) -> tuple[HeaderRange, ...]:
    """The entries with these keys, in this order, all with header 2."""
    return entries(**dict.fromkeys(text.split(), "2"))


def test_entries_come_in_the_order_of_versions() -> None:
    found = entries(**{"5+": "3", "x": "9", "0-1": "1", "2-4": "2"})
    assert [(one.key, one.value, one.index) for one in found] == [
        ("x", "9", 0), ("0-1", "1", 1), ("2-4", "2", 2), ("5+", "3", 3),
    ]  # fmt: skip
    assert [one.is_first for one in found] == [True, False, False, False]
    assert [one.is_last for one in found] == [False, False, False, True]
    assert [one.previous.key if one.previous else None for one in found] == [None, "x", "0-1", "2-4"]
    assert [finding.pointer for finding in found][:2] == ["/headerVersions/x", "/headerVersions/0-1"]


def test_entries_that_start_alike_come_in_the_order_of_their_ends() -> None:
    assert [one.key for one in ranges("0+ 0 0-3")] == ["0", "0-3", "0+"]


@pytest.mark.parametrize(
    ("keys", "gaps", "overlaps"),
    [
        ("0+", ["none"], ["none"]),
        ("0-1 2+", ["none", "none"], ["none", "none"]),
        ("0 2+", ["none", "1"], ["none", "none"]),
        ("0-1 5-6 9+", ["none", "2-4", "7-8"], ["none", "none", "none"]),
        ("0-3 2+", ["none", "none"], ["none", "2-3"]),
        ("0+ 3+", ["none", "none"], ["none", "3+"]),
        ("0-5 1-2", ["none", "none"], ["none", "1-2"]),
        ("3+", ["none"], ["none"]),
        ("x 1+", ["none", "none"], ["none", "none"]),
        ("none 1+", ["none", "none"], ["none", "none"]),
    ],
)
def test_gaps_and_overlaps(keys: str, gaps: list[str], overlaps: list[str]) -> None:
    found = ranges(keys)
    assert [str(one.gap) for one in found] == gaps
    assert [str(one.overlap) for one in found] == overlaps


@pytest.mark.parametrize(
    ("key", "versions", "problem"),
    [
        ("0-1", "0-1", ""),
        (" 3+ ", "3+", ""),
        ("none", "none", "names no version"),
        ("", "none", "is empty"),
        ("0..1", "none", 'is not "N", "N-M" or "N+"'),
        ("3-1", "none", 'is inverted; write "1-3"'),
    ],
)
def test_keys(key: str, versions: str, problem: str) -> None:
    (one,) = entries(**{key: "2"})
    assert (str(one.versions), one.key_problem) == (versions, problem)


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("0", 0), ("3", 3), (" 2 ", 2), ("+2", 2), ("02", 2), ("32767", 32767), ("-0", 0),
        ("32768", -1), ("-1", -1), ("", -1), ("a", -1), ("2+", -1), ("1.0", -1), ("٣", -1), ("9" * 5000, -1),
    ],
)  # fmt: skip
def test_values(value: str, header: int) -> None:
    (one,) = entries(**{"0+": value})
    assert one.header == header
    assert str(one.version_of_header) == (str(header) if header >= 0 else "none")


def test_pointers_are_escaped() -> None:
    assert entries(**{"a/b~c": "1"})[0].pointer == "/headerVersions/a~1b~0c"


@pytest.mark.parametrize(("key", "live"), [("0-1", "0-1"), ("4+", "4-5"), ("6+", "none"), ("x", "none")])
def test_live(key: str, live: str) -> None:
    assert str(entries(**{key: "1"})[0].live) == live


def test_the_header_s_own_message() -> None:
    request = message(headerVersions={"0+": "2"})
    response = message(name="XResponse", type="response", headerVersions={"0+": "1"})
    headers = [message(name=f"{one}Header", type="header", apiKey=None) for one in ("Request", "Response")]
    schema_set(request, response, *headers)
    assert request.header_ranges[0].header_message is headers[0]
    assert response.header_ranges[0].header_message is headers[1]
    assert message(headerVersions={"0+": "2"}).header_ranges[0].header_message is None


@pytest.mark.parametrize(
    ("headers", "valid", "highest"),
    [
        ({"0-2": "1", "3+": "2"}, "0-5", 2),
        ({"0-2": "1", "3+": "2"}, "0-2", 1),
        ({"0-2": "1"}, "0-5", -1),
        ({"0+": "1", "3+": "2"}, "0-5", 2),
        ({"0+": "x"}, "0-5", -1),
        ({}, "0-5", -1),
        (None, "0-5", -1),
        ({"0+": "1"}, "none", -1),
    ],
)
def test_highest_header(headers: dict[str, str] | None, valid: str, highest: int) -> None:
    assert message(headerVersions=headers, validVersions=valid).highest_header == highest


def test_saying_headers() -> None:
    found = [message(headerVersions=one) for one in ({"0+": "1"}, {}, None)]
    assert [(one.declares_headers, len(one.header_ranges)) for one in found] == [(True, 1), (True, 0), (False, 0)]


def test_the_first_entry_has_nothing_before_it() -> None:
    (one,) = ranges("3+")
    assert (one.previous, one.gap, one.overlap) == (None, NONE, NONE)
