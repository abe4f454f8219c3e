"""The notation of types."""

from __future__ import annotations

import pytest

from kiplint.model.types import PRIMITIVES, nearest_primitive, parse_type


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_primitives(name: str) -> None:
    single, many = parse_type(name), parse_type(f"[]{name}")
    assert (single.element, single.array, single.primitive, single.struct) == (name, False, True, False)
    assert (many.element, many.array, many.primitive, many.struct) == (name, True, True, False)
    assert single.nullable is (name in ("string", "bytes", "records"))
    assert many.nullable


@pytest.mark.parametrize(
    ("text", "element", "array", "primitive", "struct"),
    [
        ("Topic", "Topic", False, False, True),
        ("[]Topic", "Topic", True, False, True),
        ("[] Topic", "Topic", True, False, True),
        (" int32 ", "int32", False, True, False),
        ("Int32", "Int32", False, False, True),
        ("T_1", "T_1", False, False, True),
        ("topic", "topic", False, False, False),
        ("INT 32", "INT 32", False, False, False),
        ("Über", "Über", False, False, False),
        ("", "", False, False, False),
        ("[]", "", True, False, False),
        ("[][]int32", "[]int32", True, False, False),
        ("int32[]", "int32[]", False, False, False),
        ("[int32]", "[int32]", False, False, False),
    ],
)
def test_parse_type(text: str, element: str, array: bool, primitive: bool, struct: bool) -> None:
    result = parse_type(text)
    assert (result.element, result.array, result.primitive, result.struct) == (element, array, primitive, struct)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Int32", "int32"),
        ("INT64", "int64"),
        ("String", "string"),
        ("strng", "string"),
        ("int", "int32"),
        ("long", "int64"),
        ("Long", "int64"),
        ("short", "int16"),
        ("byte", "int8"),
        ("boolean", "bool"),
        ("double", "float64"),
        ("float32", "float64"),
        ("text", "string"),
        ("record", "records"),
        ("uiid", "uuid"),
        ("uint8", "int8"),
        ("int32", ""),
        ("Topic", ""),
        ("", ""),
    ],
)
def test_nearest_primitive(text: str, expected: str) -> None:
    assert nearest_primitive(text) == expected
