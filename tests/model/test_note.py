"""What comments tell of versions and errors."""

from __future__ import annotations

import pytest

from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.notes import errors_of, like_of, names_of, read_versions, verb_of
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


def notes_in(*lines: str, **others: object) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(str(note.versions), note.verb, note.names) for note in with_comments(*lines, **others).notes]  # type: ignore[arg-type]


def test_sentences() -> None:
    assert notes_in(
        "// Version 1 adds the Reason field.",
        "//",
        "// Versions 2 and 3 are the same as version 1. Version 4 enables flexible versions.",
        "// Starting in version 5, brokers answer before they throttle, as they did before",
        "// version 1 came.",
    ) == [
        ("1", "adds", ("Reason",)),
        ("2-3", "same", ()),
        ("4", "flexible", ()),
        ("5", "other", ()),
    ]


def test_lists_of_errors() -> None:
    whole = with_comments(
        "// Errors:", "// - NOT_CONTROLLER (version 0+)", "// - STALE", "// - NOT_CONTROLLER (versions 1 to 2)"
    )
    assert [(note.error, str(note.versions), note.is_repeated, note.place) for note in whole.notes] == [
        ("NOT_CONTROLLER", "0+", False, 8),
        ("NOT_CONTROLLER", "1-2", True, 10),
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
    ("rest", "errors"),
    [
        (" adds support for new error code A_B (KIP-1)", ("A_B",)),
        (" returns error A_B, C_D, or E_F if it fails", ("A_B", "C_D", "E_F")),
        (" returns the A_B and\nC_D errors", ("A_B", "C_D")),
        (" adds a new error code, A_B.", ("A_B",)),
        (" added A_B as a possible error code", ("A_B",)),
        (" may return A_B as an error code", ("A_B",)),
        (" returns A_B if it fails, which is no error", ()),
        (" returns status A_B, and an error", ()),
        (" see ApiKeys.A_B errors", ()),
    ],
)
def test_errors(rest: str, errors: tuple[str, ...]) -> None:
    assert errors_of(rest) == errors


def test_notes_without_a_source_between_notes_with_one() -> None:
    lines = (
        "1 adds A",
        "2 adds B (KIP-2)",
        "3 adds C",
        "4 adds D (KAFKA-4)",
        "5 is the same as 4",
        "6 adds F (KIP-6)",
        "7 adds G",
    )
    notes = with_comments(*(f"// Version {line}." for line in lines)).notes
    assert [(note.gives_source, note.sourced_neighbours) for note in notes] == [
        (False, 0), (True, 0), (False, 2), (True, 0), (False, 0), (True, 0), (False, 2)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rest", "verb", "like"),
    [
        (" is the same as version 0, and adds X", "same", 0),
        (" is identical to v3 but for X", "same", 3),
        (" removes X and adds Y", "removes", -1),
        (" is the first flexible version and adds X", "flexible", -1),
        (" returns the same errors", "other", -1),
    ],
)
def test_verbs(rest: str, verb: str, like: int) -> None:
    assert (verb_of(rest), like_of(rest)) == (verb, like)


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
    assert (first.stray_names, first.misplaced, first.recased) == ((), (), ())
    assert second.stray_names == ("FarAway",)
    assert [(note.name, note.message.name) for note in second.misplaced] == [
        ("BigSize", "XRequest"),
        ("OtherSize", "XResponse"),
    ]


def test_a_name_in_another_case() -> None:
    (note,) = with_comments("// Version 1 adds sizeMs.", fields=(field("SizeMs", versions="1+"),)).notes
    assert (note.recased, note.right_case, note.stray_names, note.misplaced) == (("sizeMs",), "SizeMs", (), ())


def test_whose_versions_they_are() -> None:
    lines = ("// Version 1 of XResponse is new.", "// Version 2 of YRequest is new.")
    assert [note.foreign_message for note in with_comments(*lines).notes] == ["", "YRequest"]


def test_versions_that_nobody_tells_of() -> None:
    whole = with_comments("// Version 1 adds A. From v3 on it is flexible.", validVersions="0-6")
    assert str(whole.documented_versions) == "1,3" or 3 in whole.documented_versions
    assert [n for n in range(7) if n in whole.undocumented_versions] == [2, 4, 5]


def test_the_licence_tells_nothing() -> None:
    licence = b"// under the Licence, Version 2.0\n// Version 3 is another one.\n"
    result = load("X.json", licence + definition(field())).message
    assert result is not None
    assert (result.notes, result.heading.count("\n")) == ((), 1)


def test_a_name_in_lower_case_counts_in_the_first_note_only() -> None:
    lines = ("// Version 1 adds sizeMs.", "//", "// Version 2 adds sizeMS.", "//", "// Version 3 adds SIZEMs.")
    request = with_comments(*lines, fields=(field("SizeMs", versions="1+"),))
    assert [note.recased for note in request.notes] == [("sizeMs",), (), ("SIZEMs",)]


def test_versions_of_the_base_need_no_note() -> None:
    def make_message(valid: str) -> Message:
        return with_comments("// Version 1 adds it.", validVersions=valid)

    head = make_message("0-4")
    SchemaSet((head,), base=SchemaSet((make_message("0-3"),)))
    assert (head.undocumented_version, str(head.undocumented_versions)) == (4, "none")
    head = make_message("0-4")
    SchemaSet((head,), base=SchemaSet((make_message("0-4"),)))
    assert head.undocumented_version is None
