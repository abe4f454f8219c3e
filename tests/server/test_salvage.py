"""Help while a text does not parse: the message is what can be read of it, and the rest as it last was."""

from pathlib import Path

import pytest
from lsprotocol import types

from kiplint.server import actions, hover
from kiplint.server.buffer import Buffer, salvage
from kiplint.server.completion import completion
from kiplint.server.workspace import Neighbours, Workspace

REQUEST = """{
  "apiKey": 7,
  "type": "request",
  "listeners": ["broker"],
  "name": "ReadRackRequest",
  // Version 1 adds Racks.
  "validVersions": "0-1",
  "flexibleVersions": "1+",
  "fields": [
    { "name": "Limit", "type": "int32", "versions": "0+", "about": "How many." },
    { "name": "Racks", "type": "[]Rack", "versions": "1+", "about": "The racks." },
    { "name": "Depth", "type": "int8", "versions": "1+", "taggedVersions": "1+", "tag": 0, "about": "How deep." }
  ],
  "commonStructs": [
    { "name": "Rack", "versions": "1+", "fields": [
      { "name": "Name", "type": "string", "versions": "1+", "about": "The name of the rack." },
      { "name": "Rows", "type": "[]Row", "versions": "1+", "about": "The rows.", "fields": [
        { "name": "Size", "type": "int8", "versions": "1+", "about": "The size." }
      ]}
    ]}
  ]
}
"""
RESPONSE = """{
  "apiKey": 7,
  "type": "response",
  "name": "ReadRackResponse",
  // Version 1 is flexible.
  "validVersions": "0-1",
  "flexibleVersions": "1+",
  "fields": []
}
"""
RACKS = '    { "name": "Racks"'


def test_half_a_character_is_not_a_value() -> None:
    message = salvage(Buffer("/a/X.json", '{"apiKey": \ud800, "validVersions": "0-3"}', 1, "utf-16"), None)
    assert message is not None
    assert (message.api_key, str(message.valid)) == (None, "0-3")


def test_a_field_in_the_place_of_a_list_is_the_only_one() -> None:
    message = salvage(
        Buffer("/a/X.json", '{"validVersions": "0", "fields": { "name": "A", "type": }}', 1, "utf-16"), None
    )
    assert message is not None
    assert (message.name, [field.name for field in message.all_fields]) == ("X", ["A"])


class TypedRequest:
    """A request that was whole, and in which something is being typed at `|`; its response is on disk."""

    def __init__(self, folder: Path, old: str, new: str) -> None:
        assert REQUEST.count(old) == 1
        (folder / "ReadRackResponse.json").write_text(RESPONSE, encoding="utf-8")
        path, text = str(folder / "ReadRackRequest.json"), REQUEST.replace(old, new)
        self.workspace = Workspace()
        self.workspace.put(Buffer(path, REQUEST, 1, "utf-16"))
        self.offset = text.find("|")
        self.buffer = Buffer(path, text.replace("|", ""), 2, "utf-16")
        self.workspace.put(self.buffer)

    @property
    def neighbours(self) -> Neighbours:
        """The two definitions."""
        return self.workspace.neighbours(str(Path(self.buffer.path).parent))

    def items(self, *, snippets: bool = False) -> list[types.CompletionItem]:
        """What is offered at the mark."""
        return completion(self.buffer, self.offset, self.neighbours, {}, snippets=snippets)

    def line_after(self, item: types.CompletionItem) -> str:
        """The line of the cursor after an item has been taken."""
        edit = item.text_edit
        assert isinstance(edit, types.TextEdit)
        start, end = self.buffer.offset(edit.range.start), self.buffer.offset(edit.range.end)
        text = self.buffer.text[:start] + edit.new_text + self.buffer.text[end:]
        return text[: text.index("\n", start)].rpartition("\n")[2].strip()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"about": "How many."', '"tag": |', ["1"]),
        ('"about": "How many."', '"tag": |, "about": "How many."', ["1"]),
        ('"about": "How many." },', '"tag": |', ["1"]),
        ('"tag": 0', '"tag": |', ["0"]),
        ('"apiKey": 7,', '"apiKey": |', ["7", "8"]),
        ('"type": "int32", "versions": "0+"', '"type": "|, "versions": "0+"', ["Rack", "Row", "[]Rack", "[]Row"]),
        ('"type": "int32"', '"type": "|', ["Rack", "Row", "[]Rack", "[]Row"]),
        (RACKS, '    { "name": "New", "type": "|\n' + RACKS, ["Rack", "Row", "[]Rack", "[]Row"]),
        (RACKS, '    { "name": "New", "versions": "|\n' + RACKS, ["1+", "0+"]),
        (RACKS, '    { "name": "New", "type": "[]Box", "fields": [ { "versions": "|\n' + RACKS, ["1+", "0+"]),
        ('"validVersions": "0-1",', '"validVersions": "|', ["0-1", "0-2", "0"]),
    ],
)
def test_values_while_the_text_is_broken(tmp_path: Path, old: str, new: str, expected: list[str]) -> None:
    items = TypedRequest(tmp_path, old, new).items()
    labels = [item.label for item in items if item.kind != types.CompletionItemKind.TypeParameter]
    assert labels == expected


@pytest.mark.parametrize(
    ("old", "new", "key", "line"),
    [
        ('"about": "How many."', '"|', "tag", '{ "name": "Limit", "type": "int32", "versions": "0+", "tag": ${1:1} },'),
        (
            '"about": "How many."', '|"about": "How many."', "taggedVersions",
            '{ "name": "Limit", "type": "int32", "versions": "0+", "taggedVersions": "${1:0+}","about": "How many." },',
        ),
        (RACKS, '    { "name": "New", "|\n' + RACKS, "type", '{ "name": "New", "type": "$1"'),
        (RACKS, '    { "name": "New", "|\n' + RACKS, "versions", '{ "name": "New", "versions": "${1:1+}"'),
        (RACKS, '    { "name": "New", ig|: tr\n' + RACKS, "ignorable", '{ "name": "New", "ignorable": tr'),
    ],
)  # fmt: skip
def test_keys_bring_their_values(tmp_path: Path, old: str, new: str, key: str, line: str) -> None:
    request = TypedRequest(tmp_path, old, new)
    item = next(item for item in request.items(snippets=True) if item.label == key)
    assert (request.line_after(item), item.insert_text_format) == (line, types.InsertTextFormat.Snippet)
    plain = next(item for item in request.items() if item.label == key)
    assert "$" not in request.line_after(plain)


EDITS = [
    ('"type": "int32", ', '"type": ", '),
    ('"about": "How many." },', '"about": "How many." '),
    ('"validVersions": "0-1",', '"validVersions": '),
    (RACKS, '    { "\n' + RACKS),
]


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_hover_and_hints_stay(tmp_path: Path, old: str, new: str) -> None:
    request = TypedRequest(tmp_path, old, new)
    text = request.buffer.text
    answer = hover.hover(request.buffer, text.index('"Racks"'), request.neighbours, [], {})
    assert answer is not None
    assert isinstance(answer.contents, types.MarkupContent)
    assert answer.contents.value.startswith("**`Racks`** `[]Rack` in `ReadRackRequest`\n\nIn versions 1.")
    hints = [*hover.hints(request.buffer, request.buffer.range(0, len(request.buffer.text)), request.neighbours)]
    racks = request.buffer.position(text.index('"1+"', text.index('"Racks"')) + 4)
    assert [hint.label for hint in hints if hint.position == racks] == ["1"]


def test_refactorings_stay(tmp_path: Path) -> None:
    request = TypedRequest(tmp_path, '"about": "How many." },', '"about": "How many." ')
    refactorings = actions.refactorings(request.workspace, request.buffer, 4, request.neighbours, str)
    assert [action.title for action in refactorings][:1] == ["New version of ReadRack, request and response"]


def test_a_new_text_that_was_never_whole(tmp_path: Path) -> None:
    path = tmp_path / "ReadRackRequest.json"
    text = '{ "apiKey": 7, "fields": [ { "name": "Racks", "type": "[]Rack", "versions": "0+", "fields": [ {} ] }, { "type": "'
    buffer, workspace = Buffer(str(path), text, 1, "utf-16"), Workspace()
    workspace.put(buffer)
    items = completion(buffer, len(text), workspace.neighbours(str(tmp_path)), {})
    assert "[]Rack" in [item.label for item in items]


def test_a_text_without_an_object_has_no_message(tmp_path: Path) -> None:
    workspace = Workspace()
    workspace.put(Buffer(str(tmp_path / "ReadRackRequest.json"), "[", 1, "utf-16"))
    assert workspace.neighbours(str(tmp_path)).schemas.messages == ()
