"""What comments tell of versions."""

from __future__ import annotations

import pytest

from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.notes import names_of, read_versions
from kiplint.model.schemas import SchemaSet
from tools import definition, field


def with_comments(
    *lines: str, name: str = "XRequest", fields: tuple[dict[str, object], ...] = (), **others: object
) -> Message:
    """A message with comment lines before its fields."""
    text = definition(*fields, name=name, **others).decode()
    comments = "".join(f"  {line}\n" for line in lines)
    result = load(f"{name}.json", text.replace('  "fields"', f'{comments}  "fields"', 1).encode()).message
    assert result is not None
    return result


def notes_in(*lines: str, **others: object) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(note.versions), note.names) for note in with_comments(*lines, **others).notes]  # type: ignore[arg-type]


def test_sentences() -> None:
    assert notes_in(
        "// Version 1 adds the Reason field.",
        "//",
        "// Versions 2 and 3 are the same as version 1. Version 4 enables flexible versions.",
        "// Starting in version 5, brokers answer before they throttle, as they did before",
        "// version 1 came.",
    ) == [
        ("1", ("Reason",)),
        ("2-3", ()),
        ("4", ()),
        ("5", ()),
    ]


@pytest.mark.parametrize(
    ("rest", "names"),
    [
        (" adds A1 and BigSize.", {"A1": False, "BigSize": True}),
        (
            " added the fields Nodes, Racks and the 'SizeMs' field (KIP-1).",
            {"Nodes": True, "Racks": False, "SizeMs": True},
        ),
        (" adds support for TopicId", {}),
        (" adds throttle time", {}),
        (" introduces KRaft Controller ID field", {}),
        (" adds a new field called groupId to tell them apart", {"groupId": True}),
        (" adds UNKNOWN_TOPIC_ID", {}),
        (" renames TopicId", {}),
    ],
)
def test_names(rest: str, names: dict[str, bool]) -> None:
    assert {name.name: name.sure for name in names_of(rest)} == names


@pytest.mark.parametrize(
    ("text", "versions"),
    [("3", "3"), ("0, 1, 2, and 3", "0-3"), ("2 through 4", "2-4"), ("1+", "1+"), ("99999", "32767"), ("", "none")],
)
def test_versions(text: str, versions: str) -> None:
    assert str(read_versions(text)) == versions


def test_what_a_note_says_of_fields() -> None:
    mine = with_comments(
        "// Version 1 adds SizeMs, Holder and othersize.",
        "// Version 2 adds BigSize, Inner, OtherSize and FarAway.",
        fields=(
            field("Sizes", "[]S", "2+", fields=[field("Inner")]),
            field("SizeMs", versions="1+"),
            field("BigSize", versions="3+"),
            field("Holder", "Holder", "1+", fields=[field("A")]),
        ),
    )
    other = with_comments(name="XResponse", type="response", fields=(field("OtherSize", versions="1+"),))
    SchemaSet((mine, other))
    first, second = mine.notes
    assert (first.stray_names, first.misplaced) == ((), ())
    assert second.stray_names == ("FarAway",)
    assert [(note.name, note.message.name) for note in second.misplaced] == [
        ("BigSize", "XRequest"),
        ("OtherSize", "XResponse"),
    ]
