"""The notation of types."""

from __future__ import annotations

import pytest

from kiplint.model.types import parse_type


@pytest.mark.parametrize(
    ("text", "element", "array", "primitive", "struct"),
    [
        ("Topic", "Topic", False, False, True),
        ("[]Topic", "Topic", True, False, True),
        (" int32 ", "int32", False, True, False),
        ("topic", "topic", False, False, False),
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
