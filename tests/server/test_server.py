"""The language server as an editor meets it: started by its command, driven over its pipes."""

import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

import kiplint

pytestmark = pytest.mark.asyncio(loop_scope="module")

REQUEST = """{
  "apiKey": 7,
  "type": "request",
  "listeners": ["broker"],
  "name": "ReadRackRequest",
  // Version 1 adds Racks. \U0001f980
  "validVersions": "0-1",
  "flexibleVersions": "none",
  "fields": [
    { "name": "Limit", "type": "int32", "versions": "0+", "about": "How many \U0001f980.", "default": "x" },
    { "name": "Racks", "type": "[]Rack", "versions": "1+", "about": "The racks." },
    { "name": "Spares", "type": "[]Rack", "versions": "1+", "about": "The spare racks." }
  ],
  "commonStructs": [
    { "name": "Rack", "versions": "1+", "fields": [
      { "name": "Name", "type": "string", "versions": "1+", "about": "The name of the rack." }
    ]}
  ]
}
"""
RESPONSE = """{
  "apiKey": 7,
  "type": "response",
  "name": "ReadRackResponse",
  // Version 1 is the same as version 0.
  "validVersions": "0-1",
  "flexibleVersions": "none",
  "fields": []
}
"""


SHOWN_VERSIONS: dict[str, int | None] = {}
"""By URI: the version of the text for which findings have been shown last."""


def publish(client: LanguageClient, params: types.PublishDiagnosticsParams) -> None:
    """Note what is shown, and for which version of a text."""
    client.diagnostics[params.uri] = params.diagnostics
    SHOWN_VERSIONS[params.uri] = params.version


def register(client: LanguageClient, params: types.RegistrationParams) -> None:
    """Accept that the server registers for more notifications."""


def editor() -> LanguageClient:
    """An editor that remembers for which version of a text findings are."""
    client = LanguageClient(converter_factory=default_converter)
    own = {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish, types.CLIENT_REGISTER_CAPABILITY: register}
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **own})
    return client


COMMAND = [sys.executable, "-P", "-m", "kiplint", "lsp"]


@pytest_lsp.fixture(  # type: ignore[untyped-decorator]
    scope="module", config=ClientServerConfig(server_command=COMMAND, client_factory=editor)
)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    """An editor that has just started the server."""
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


class OpenBuffer:
    """A text that the editor has open."""

    def __init__(self, client: LanguageClient, path: Path, text: str) -> None:
        self.client, self.text, self.version = client, text, 1
        self.uri = path.as_uri()
        self.name = types.TextDocumentIdentifier(self.uri)
        item = types.TextDocumentItem(self.uri, "json", 1, text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def write(self, text: str) -> None:
        """Give it another text."""
        self.text, self.version = text, self.version + 1
        name = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(name, [change]))

    def close(self) -> None:
        """Close it."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(self.name))

    def at(self, word: str, inside: int = 1) -> types.Position:
        """The position some characters into a word, as editors count."""
        before = self.text[: self.text.index(word) + inside]
        line = before.count("\n")
        return types.Position(line, len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)

    async def read_findings(self) -> list[tuple[str, str, int, int, int]]:
        """What is shown in it, once the server has seen its newest state: rule, place, and how far it reaches."""
        while SHOWN_VERSIONS.get(self.uri) != self.version:
            await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        diagnostics = self.client.diagnostics[self.uri]
        return [
            (
                f"{diagnostic.code}",
                diagnostic.message,
                diagnostic.range.start.line,
                diagnostic.range.start.character,
                diagnostic.range.end.character,
            )
            for diagnostic in diagnostics
        ]


@pytest.fixture
def rack(client: LanguageClient, tmp_path: Path) -> Iterator[OpenBuffer]:
    """A request that is open; its response is on disk only."""
    (tmp_path / "ReadRackRequest.json").write_text(REQUEST, encoding="utf-8")
    (tmp_path / "ReadRackResponse.json").write_text(RESPONSE, encoding="utf-8")
    buffer = OpenBuffer(client, tmp_path / "ReadRackRequest.json", REQUEST)
    yield buffer
    buffer.close()


async def test_a_mistake_is_shown_beside_an_emoji_and_goes_when_it_is_fixed(rack: OpenBuffer) -> None:
    line, text = next((n, content) for n, content in enumerate(REQUEST.split("\n")) if '"default"' in content)
    start = len(text[: text.index('"default"')].encode("utf-16-le")) // 2
    (result,) = await rack.read_findings()
    assert (result[0], *result[2:]) == ("fields/default-invalid", line, start, start + len('"default": "x"'))
    (diagnostic,) = rack.client.diagnostics[rack.uri]
    assert diagnostic.code_description.href.endswith("/rules/fields.md#fieldsdefault-invalid")
    rack.write(REQUEST.replace('"x"', '"5"'))
    assert await rack.read_findings() == []


async def test_a_text_that_breaks_while_it_is_typed_says_so_and_recovers(rack: OpenBuffer) -> None:
    rack.write(REQUEST[:200])
    assert {diagnostic[0] for diagnostic in await rack.read_findings()} == {"syntax/invalid-json"}
    rack.write("")
    assert {diagnostic[0] for diagnostic in await rack.read_findings()} == {"syntax/empty-file"}
    rack.write(REQUEST)
    assert [diagnostic[0] for diagnostic in await rack.read_findings()] == ["fields/default-invalid"]


async def test_the_other_half_counts_before_it_is_saved(rack: OpenBuffer, client: Any, tmp_path: Path) -> None:
    response_text = RESPONSE.replace('"0-1"', '"0-2"').replace("// Version 1 is", "// Version 1 and version 2 are")
    response = OpenBuffer(client, tmp_path / "ReadRackResponse.json", response_text)
    rules = {diagnostic[0] for text in (response, rack) for diagnostic in await text.read_findings()}
    response.close()
    assert rules == {"fields/default-invalid", "rpc/versions-differ"}


async def test_what_a_field_means(rack: OpenBuffer, client: Any) -> None:
    answer = await client.text_document_hover_async(types.HoverParams(rack.name, rack.at('"Racks"')))
    assert answer.contents.value == (
        "**`Racks`** `[]Rack` in `ReadRackRequest`\n\nIn versions 1.\n\n"
        "| versions | on the wire | bytes |\n| --- | --- | --- |\n| 1 | array of Rack | 4+ |\n\n---\n\n"
        "`name`: The field's name, in camel case."
    )
    why = await client.text_document_hover_async(types.HoverParams(rack.name, rack.at('"default"')))
    assert "**fields/default-invalid**: " in why.contents.value


async def test_what_may_be_written(rack: OpenBuffer, client: Any) -> None:
    async def labels(position: types.Position) -> list[str]:
        result = await client.text_document_completion_async(types.CompletionParams(rack.name, position))
        return [item.label for item in result.items]

    assert "[]Rack" in await labels(rack.at('"[]Rack"'))
    assert (await labels(rack.at('"versions": "1+", "about": "The spare', 13)))[:2] == ["1+", "0+"]
    assert await labels(rack.at('["broker"]', 3)) == ["broker", "controller", "zkBroker"][:2]
    rack.write(REQUEST.replace('"about": "The spare racks."', '"'))
    keys = await labels(
        rack.at(
            '"Spares", "type": "[]Rack", "versions": "1+", "', len('"Spares", "type": "[]Rack", "versions": "1+", "')
        )
    )
    assert "nullableVersions" in keys
    assert "versions" not in keys


async def test_fixes_and_refactorings_are_edits_of_the_texts(rack: OpenBuffer, client: Any) -> None:
    rack.write(REQUEST.replace('"string"', '"string[]"'))
    await rack.read_findings()
    where = types.Range(rack.at('"string[]"'), rack.at('"string[]"'))
    params = types.CodeActionParams(rack.name, where, types.CodeActionContext([]))
    fix, *more = await client.text_document_code_action_async(params)
    edit = fix.edit.document_changes[0]
    assert (fix.title, fix.is_preferred, edit.edits[0].new_text) == (
        'Fix fields/unknown-type: write "[]string"', True, '"[]string"',
    )  # fmt: skip
    assert [action.title for action in more] == [
        "Suppress fields/unknown-type here, with a reason", "Explain fields/unknown-type",
        "Open the page of fields/unknown-type (Kafka's generator)",
    ]  # fmt: skip
    (suppression,) = more[0].edit.changes[rack.uri]
    assert suppression.new_text == "      // kiplint: ignore[fields/unknown-type] TODO: why\n"
    explain = types.ExecuteCommandParams("kiplint.explain", arguments=["fields/unknown-type"])
    await client.workspace_execute_command_async(explain)
    assert client.messages[-1].message.startswith("fields/unknown-type: ")
    top = types.Range(rack.at('"apiKey"'), rack.at('"apiKey"'))
    params = types.CodeActionParams(rack.name, top, types.CodeActionContext([], only=["refactor"]))
    titles = [action.title for action in await client.text_document_code_action_async(params)]
    assert titles == [  # without RequestHeader the migration to KIP-1313 would miss its goal
        "New version of ReadRack, request and response",
        "Declare the header versions of ReadRack (KIP-1313)",
    ]
    params.context.trigger_kind = types.CodeActionTriggerKind.Automatic
    assert not await client.text_document_code_action_async(params)


async def test_structs_are_found_and_renamed(rack: OpenBuffer, client: Any, tmp_path: Path) -> None:
    use = rack.at('"[]Rack"', 4)
    (target,) = await client.text_document_definition_async(types.DefinitionParams(rack.name, use))
    assert target.range == types.Range(rack.at('"Rack"'), rack.at('"Rack"', 5))
    params = types.ReferenceParams(types.ReferenceContext(include_declaration=True), rack.name, use)
    assert len(await client.text_document_references_async(params)) == 3
    edit = await client.text_document_rename_async(types.RenameParams(rack.name, use, "Shelf"))
    assert [change.new_text for change in edit.changes[rack.uri]] == ["Shelf", "Shelf", "Shelf"]
    with pytest.raises(JsonRpcException, match="begins with a capital letter"):
        await client.text_document_rename_async(types.RenameParams(rack.name, use, "shelf"))
    partner = await client.text_document_definition_async(types.DefinitionParams(rack.name, rack.at('"apiKey"')))
    assert [location.uri for location in partner] == [(tmp_path / "ReadRackResponse.json").as_uri()]


async def test_the_outline_the_folds_and_the_hints(rack: OpenBuffer, client: Any) -> None:
    (whole,) = await client.text_document_document_symbol_async(types.DocumentSymbolParams(rack.name))
    assert [(child.name, child.detail) for child in whole.children] == [
        ("Limit", "int32 0+"), ("Racks", "[]Rack 1+"), ("Spares", "[]Rack 1+"), ("Rack", "1+"),
    ]  # fmt: skip
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(rack.name))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(0, 17), (8, 11), (13, 16), (14, 15), (14, 15)]
    everywhere = types.Range(types.Position(0, 0), types.Position(99, 0))
    hints = await client.text_document_inlay_hint_async(types.InlayHintParams(rack.name, everywhere))
    assert [hint.label for hint in hints] == ["0-1", "1", "1", "1"]


async def test_the_symbols_of_the_workspace(rack: OpenBuffer, client: Any) -> None:
    rack.write(rack.text)
    symbols = await client.workspace_symbol_async(types.WorkspaceSymbolParams("RACK"))
    assert [(symbol.name, symbol.container_name, symbol.location.uri == rack.uri) for symbol in symbols] == [
        ("ReadRackRequest", None, True), ("Rack", "ReadRackRequest", True), ("Racks", "ReadRackRequest", True),
        ("ReadRackResponse", None, False),
    ]  # fmt: skip
    assert symbols[1].location.range.start == rack.at('"name": "Rack"', 0)
    every = await client.workspace_symbol_async(types.WorkspaceSymbolParams(""))
    assert [symbol.name for symbol in every] == ["ReadRackRequest", "ReadRackResponse"]


async def test_a_text_without_a_file(client: LanguageClient) -> None:
    buffer = OpenBuffer(client, Path("/unused"), "")
    buffer.close()
    buffer.uri = "untitled:Untitled-1"
    buffer.name = types.TextDocumentIdentifier(buffer.uri)
    item = types.TextDocumentItem(buffer.uri, "json", 1, REQUEST)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert [diagnostic[0] for diagnostic in await buffer.read_findings()] == ["fields/default-invalid"]
    buffer.write('{ "a": 1, }')
    assert await buffer.read_findings() == []
    buffer.close()


async def test_only_what_has_changed_is_published(rack: OpenBuffer, client: Any, tmp_path: Path) -> None:
    response = OpenBuffer(client, tmp_path / "ReadRackResponse.json", RESPONSE)
    await response.read_findings()
    await rack.read_findings()
    SHOWN_VERSIONS[response.uri] = -1
    rack.write(rack.text + "\n")
    await rack.read_findings()
    await client.text_document_hover_async(types.HoverParams(response.name, types.Position(0, 0)))
    assert SHOWN_VERSIONS[response.uri] == -1
    response.close()


async def test_a_configuration_that_cannot_be_read_is_reported(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "kiplint.toml").write_text("selct = []\n", encoding="utf-8")
    buffer = OpenBuffer(client, tmp_path / "ReadRackRequest.json", REQUEST)
    ((_, message, *_),) = await buffer.read_findings()
    buffer.close()
    assert "selct" in message


async def test_other_json_is_left_alone(client: LanguageClient, tmp_path: Path) -> None:
    buffer = OpenBuffer(client, tmp_path / "settings.json", '{"a": 1,}')
    assert await buffer.read_findings() == []
    buffer.close()


async def test_every_definition_is_shown_as_check_finds_it(client: LanguageClient, corpus: Path) -> None:
    folder = corpus / "kafka-trunk-2026-08" / "clients"
    result = kiplint.check(folder, config={})
    for path in sorted(folder.glob("*.json"))[::20]:
        buffer = OpenBuffer(client, path, path.read_text(encoding="utf-8"))
        expected = sorted(finding.rule for finding in result.findings if Path(finding.path).resolve() == path)
        assert sorted(diagnostic[0] for diagnostic in await buffer.read_findings()) == expected
        buffer.close()


async def test_500_edits_in_a_row_leave_no_backlog(client: LanguageClient, corpus: Path) -> None:
    folder = corpus / "kafka-trunk-2026-08" / "clients"
    path = max(folder.glob("*Response.json"), key=lambda path: path.read_text(encoding="utf-8").count('"name"'))
    buffer = OpenBuffer(client, path, path.read_text(encoding="utf-8"))
    before = await buffer.read_findings()
    times = []
    for number in range(500):
        buffer.write(buffer.text + "\n")
        began = time.perf_counter()
        if number % 10 == 0:  # the others come while it is busy
            assert await buffer.read_findings() == before
            times.append(time.perf_counter() - began)
    assert await buffer.read_findings() == before
    buffer.close()
    print(f"\nmedian of {len(times)} answers: {statistics.median(times) * 1000:.0f} ms")


async def ask_everything(client: Any, buffer: OpenBuffer, line: int) -> None:
    """Each question that an editor can ask, at the middle of a line; an answer that is an error raises."""
    text = buffer.text.split("\n")[line]
    where = types.Position(line, len(text) // 2)
    span = types.Range(where, where)
    await client.text_document_hover_async(types.HoverParams(buffer.name, where))
    await client.text_document_completion_async(types.CompletionParams(buffer.name, where))
    await client.text_document_definition_async(types.DefinitionParams(buffer.name, where))
    context = types.ReferenceContext(include_declaration=True)
    await client.text_document_references_async(types.ReferenceParams(context, buffer.name, where))
    await client.text_document_prepare_rename_async(types.PrepareRenameParams(buffer.name, where))
    params = types.CodeActionParams(buffer.name, span, types.CodeActionContext([]))
    await client.text_document_code_action_async(params)


async def test_nothing_fails_over_the_real_schemas_whole_or_broken(client: Any, corpus: Path) -> None:
    random = Random(7)
    for path in sorted((corpus / "kafka-trunk-2026-08").glob("*/*.json"))[::144]:
        buffer = OpenBuffer(client, path, path.read_text(encoding="utf-8"))
        whole = buffer.text
        for _ in range(2):
            lines = whole.split("\n")
            everywhere = types.Range(types.Position(0, 0), types.Position(len(lines), 0))
            assert await client.text_document_document_symbol_async(types.DocumentSymbolParams(buffer.name)) is not None
            await client.text_document_folding_range_async(types.FoldingRangeParams(buffer.name))
            await client.text_document_inlay_hint_async(types.InlayHintParams(buffer.name, everywhere))
            for line in random.sample(range(buffer.text.count("\n")), 2):
                await ask_everything(client, buffer, line)
            cut = sorted(random.sample(range(1, len(whole)), 2))
            buffer.write(whole[: cut[0]] + whole[cut[1] :] + "\n\n\n\n\n")
        buffer.write(whole)
        assert not [diagnostic for diagnostic in await buffer.read_findings() if diagnostic[0].startswith("syntax/")]
        buffer.close()
