"""What a file tells of versions in its comments."""

from __future__ import annotations

import pytest

from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.notes import documented_versions, is_in_flux, paragraphs, read_versions
from kiplint.model.schemas import SchemaSet
from tools import alone, definition, field


@pytest.mark.parametrize(
    ("note", "names_it"),
    [
        ("Version 3 adds a field.", True),
        ("v3", True),
        ("versions 2, 3 and 5 are the same", True),
        ("Version 2 & 3", True),
        ("Versions 1 to version 4", True),
        ("v1 or v3", True),
        ("Versions 2+", True),
        ("Version 30", False),
        ("conv 3", False),
        ("Versions 4-9", False),
        ("KIP-3", False),
        ("inversion3", False),
    ],
)
def test_a_note_names_a_version(note: str, names_it: bool) -> None:
    assert (3 in documented_versions(f"{{\n  // {note}\n  'x': 1\n}}".encode())) is names_it
    assert (3 in documented_versions(f"{{ // {note}\r\n}}".encode())) is names_it


@pytest.mark.parametrize(
    ("text", "versions"),
    [("3", "3"), ("0, 1, 2, and 3", "0-3"), ("2 through 4", "2-4"), ("99999", "32767"), ("", "none")],
)
def test_versions(text: str, versions: str) -> None:
    assert str(read_versions(text)) == versions


@pytest.mark.parametrize(
    ("comment", "flux"),
    [
        ("this is subject to incompatible change", True),
        ("Subject to any further incompatible changes", True),
        ("subject to review, subject to incompatible change", True),
        ("subject to change, maybe incompatibly", False),
        ("may still change incompatibly", True),
    ],
)
def test_notes_that_a_message_is_in_flux(comment: str, flux: bool) -> None:
    assert is_in_flux(b"// " + comment.encode() + b"\n{}") is flux


LICENCE = "// Under the Apache License, Version 2.0.\n// See the License."
NOTE = "// Version 1 adds Pages."


@pytest.mark.parametrize(
    ("before", "notes"),
    [
        (f"{LICENCE}\n", []),
        (f"{LICENCE}\r\n \r\n{NOTE}", [NOTE]),
        (f"{LICENCE}\n{NOTE}", []),
        (f"// Copyright 2020 Acme\n\n{NOTE}", [NOTE]),
        (f"/*\n * LICENCE\n\n * of Acme\n */\n\n{NOTE}", [NOTE]),
    ],
)
def test_the_licence_is_no_note(before: str, notes: list[str]) -> None:
    data = f'{before}\n{{\n  "name": "X"\n}}\n'.encode()
    assert [paragraph[0].decode() for paragraph in paragraphs(data)] == notes


def with_comments(
    *lines: str, name: str = "XRequest", fields: tuple[dict[str, object], ...] = (), **others: object
) -> Message:
    """A message with comment lines before its fields."""
    text = definition(*fields, name=name, **others).decode()
    comments = "".join(f"  {line}\n" for line in lines)
    result = load(f"{name}.json", text.replace('  "fields"', f'{comments}  "fields"', 1).encode())
    return alone(result)


def test_sentences() -> None:
    message = with_comments(
        "// Version 1 adds the Reason field.",
        "//",
        "// Versions 2 and 3 are the same as version 1. Version 4 enables flexible versions.",
        "// Starting in version 5, brokers answer before they throttle, as they did before",
        "// version 1 came.",
        "//",
        "// version 6 is new",
    )
    notes = [(str(note.versions), note.names, note.same_as) for note in message.notes]
    assert notes == [("1", ("Reason",), None), ("2-3", (), 1), ("4", (), None), ("5", (), None), ("6", (), None)]
    start, end = message.notes[1].span_in_file
    assert message.data[start:end].startswith(b"Versions 2 and 3 are")
    assert message.data[end : end + 1] == b"\n"


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        (" adds A1 and BigSize.", ("A1", "BigSize")),
        (" added the fields Nodes, Racks and the 'SizeMs' field (KIP-1).", ("Nodes", "Racks", "SizeMs")),
        (" adds support for TopicId", ()),
        (" introduces KRaft Controller ID field", ()),
        (" adds a new field called groupId to tell them apart", ("groupId",)),
        (" adds UNKNOWN_TOPIC_ID", ()),
        (" renames TopicId", ()),
    ],
)
def test_names(rest: str, names: tuple[str, ...]) -> None:
    (note,) = with_comments(f"// Version 1{rest}").notes
    assert note.names == names


def test_what_a_note_says_of_fields() -> None:
    mine = with_comments(
        "// Version 1 adds SizeMs, Holder and othersize.",
        "// Version 2 adds BigSize, Inner, OtherSize, Far and FarAway.",
        fields=(
            field("Sizes", "[]S", "2+", fields=[field("Inner")]),
            field("SizeMs", versions="1+"),
            field("BigSize", versions="3+"),
            field("Holder", "Holder", "1+", fields=[field("A")]),
        ),
    )
    other = with_comments(name="XResponse", type="response", fields=(field("OtherSize", versions="1+"),))
    first, second = SchemaSet((mine, other)).messages[0].notes
    assert (first.stray_names, first.misplaced) == ((), ())
    assert second.stray_names == ("FarAway",)
    assert [(note.name, note.message.name) for note in second.misplaced] == [
        ("BigSize", "XRequest"),
        ("OtherSize", "XResponse"),
    ]
