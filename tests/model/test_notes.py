"""What a file says in comments."""

from __future__ import annotations

import pytest

from kiplint.model.notes import documented_versions, is_in_flux, paragraphs

LICENCE = b"// Under the Apache License, Version 2.0.\n// See the License.\n\n"


def names_version(data: bytes, version: int) -> bool:
    """Whether a comment speaks of the version, as the rule about an undocumented version reads it."""
    return version in documented_versions(data)


@pytest.mark.parametrize(
    "note",
    [
        "Version 3 adds a field.",
        "v3",
        "Versions 1 and 3",
        "versions 2, 3 and 5 are the same",
        "Versions 1-4",
        "versions 1 through 3",
        "Version 2 & 3",
        "Versions 1 to version 4",
        "v1 or v3",
        "Versions 2+",
    ],
)
def test_a_note_names_a_version(note: str) -> None:
    assert names_version(f"{{\n  // {note}\n  'x': 1\n}}".encode(), 3)
    assert names_version(f"{{ // {note}\r\n}}".encode(), 3)


@pytest.mark.parametrize(
    "note", ["Version 30", "Version 13", "3", "Version three", "conv 3", "Versions 4-9", "KIP-3", "inversion3", ""]
)
def test_a_note_that_does_not(note: str) -> None:
    assert not names_version(f"{{\n  // {note}\n}}".encode(), 3)


@pytest.mark.parametrize(
    ("comment", "flux"),
    [
        ("this is subject to incompatible change", True),
        ("Subject to any further incompatible changes", True),
        ("subject to review, subject to incompatible change", True),
        ("subject to subject to an incompatible change", True),
        ("subject to change, maybe incompatibly", False),
        ("may still change incompatibly", True),
        ("the subject: to incompatible change", False),
    ],
)
def test_notes_that_a_message_is_in_flux(comment: str, flux: bool) -> None:
    assert is_in_flux(b"// " + comment.encode() + b"\n{}") is flux


# Where the heading of a file ends, and its notes begin


HEADING = "// Under the Apache License, Version 2.0.\n// See the License."
NOTE = "// Version 1 adds Pages."


@pytest.mark.parametrize(
    ("before", "notes"),
    [
        (HEADING, []),
        (f"{HEADING}\n", []),
        (f"{HEADING}\n\n{NOTE}", ["Version 1 adds Pages."]),
        (f"{HEADING}\r\n \r\n{NOTE}", ["Version 1 adds Pages."]),
        (f"{HEADING}\n{NOTE}", []),
        (f"// Copyright 2020 Acme\n\n{NOTE}", ["Version 1 adds Pages."]),
        (f"/*\n * LICENCE\n\n * of Acme\n */\n\n{NOTE}", ["Version 1 adds Pages."]),
        (NOTE, ["Version 1 adds Pages."]),
    ],
)
def test_the_heading_is_the_licence(before: str, notes: list[str]) -> None:
    data = f'{before}\n{{\n  "name": "X"\n}}\n'.encode()
    assert [paragraph.text for paragraph in paragraphs(data)] == notes
