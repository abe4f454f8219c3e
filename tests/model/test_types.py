"""The notation of types, and what a default of each may be."""

from __future__ import annotations

import pytest

from kiplint.model.types import INTEGERS, flaw_of, parse_type


def kind(type_name: str, default: str) -> str:
    return flaw_of(parse_type(type_name), default).kind


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_at_their_edges(name: str) -> None:
    lowest, highest = INTEGERS[name]
    assert kind(name, str(lowest)) == ""
    assert kind(name, str(highest)) == ("java" if name == "uint32" else "")
    assert kind(name, str(lowest - 1)) == "invalid"
    assert kind(name, str(highest + 1)) == "invalid"
    assert flaw_of(parse_type(name), str(highest + 1)).detail == f"is outside {name} ({lowest}..{highest})"


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", ""),
        ("+1", ""),
        ("0x1F", ""),
        ("010", "octal"),
        ("+08", "java"),
        ("0x", "java"),
        ("0x+1", "java"),
        ("0X1F", "invalid"),
        ("1L", "invalid"),
        (" 1", "invalid"),
        ("null", "invalid"),
        ("٣", "invalid"),
        ("9" * 5000, "invalid"),
        ("0x" + "f" * 5000, "invalid"),
    ],
)
def test_integers(name: str, text: str, verdict: str) -> None:
    assert kind(name, text) == verdict


@pytest.mark.parametrize(
    ("name", "text", "detail"),
    [
        ("int16", "a", "is not an int16: write decimal digits, or 0x and hexadecimal digits"),
        ("int16", "010", "is read as 10, but Java reads a leading zero as octal"),
        ("int16", "0x-1", "is not a Java literal: the sign comes after 0x"),
        ("uint32", "0xffffffff", "is -1 in Java, which reads it as an int"),
        ("uint32", "0x7fffffff", ""),
        ("float64", "1e400", "is too large for a double in Java, so the generated code does not compile"),
        ("bool", "1", "is not a bool: write true or false"),
        ("float64", "a", "is not a float64"),
        ("uuid", "a b", "is not a uuid: it is not URL-safe base64"),
        ("uuid", "AAAA", "is not a uuid: it decodes to 3 bytes, not 16"),
        ("Topic", "a", "a struct can only default to empty or null"),
        ("[]int8", "1", "an array can only default to empty or null"),
    ],
)
def test_details(name: str, text: str, detail: str) -> None:
    assert flaw_of(parse_type(name), text).detail == detail


@pytest.mark.parametrize(
    ("text", "element", "array", "primitive", "struct"),
    [
        ("Topic", "Topic", False, False, True),
        ("[]Topic", "Topic", True, False, True),
        (" int32 ", "int32", False, True, False),
        ("Über", "Über", False, False, False),
        ("", "", False, False, False),
        ("[]", "", True, False, False),
        ("[][]int32", "[]int32", True, False, False),
        ("int32[]", "int32[]", False, False, False),
    ],
)
def test_parse_type(text: str, element: str, array: bool, primitive: bool, struct: bool) -> None:
    result = parse_type(text)
    assert (result.element, result.array, result.primitive, result.struct) == (element, array, primitive, struct)
