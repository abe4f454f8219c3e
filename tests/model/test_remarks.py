"""Where the heading of a file ends, and its notes begin."""

from __future__ import annotations

import pytest

from kiplint.model.message import Message
from kiplint.model.notes import body_start, paragraphs
from kiplint.model.spec import MessageSpec

LICENCE = "// Under the Apache License, Version 2.0.\n// See the License."
NOTE = "// Version 1 adds Pages."


@pytest.mark.parametrize(
    ("before", "expected", "notes"),
    [
        (LICENCE, LICENCE, []),
        (f"{LICENCE}\n", LICENCE, []),
        (f"{LICENCE}\n\n{NOTE}", LICENCE, ["Version 1 adds Pages."]),
        (f"{LICENCE}\r\n \r\n{NOTE}", LICENCE, ["Version 1 adds Pages."]),
        (f"{LICENCE}\n{NOTE}", f"{LICENCE}\n{NOTE}", []),
        (f"// Copyright 2020 Acme\n\n{NOTE}", "// Copyright 2020 Acme", ["Version 1 adds Pages."]),
        (f"/*\n * LICENCE\n\n * of Acme\n */\n\n{NOTE}", "/*\n * LICENCE", ["Version 1 adds Pages."]),
        (NOTE, "", ["Version 1 adds Pages."]),
    ],
)
def test_the_heading_is_the_licence(before: str, expected: str, notes: list[str]) -> None:
    data = f'{before}\n{{\n  "name": "X"\n}}\n'.encode()
    assert Message(MessageSpec(name="A", type="data", valid_versions="0"), data=data).heading == expected
    assert [paragraph.text for paragraph in paragraphs(data)] == notes


@pytest.mark.parametrize("data", [b"", b"{}", b'{ "name": "License" }\n{', b"// no definition, under no licence"])
def test_no_heading(data: bytes) -> None:
    assert body_start(data) == 0
