"""How KIPs write messages: whole definitions, parts, patches and tables; and what is left unread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from conftest import ROOT
from kiplint import kip
from kiplint.commands.kip.drafts import Kip, read_kip
from kiplint.commands.kip.forms import Originals
from kiplint.commands.kip.result import KipResult
from kiplint.compat.tree import load
from kiplint.model.fields import Field
from kiplint.sources.schema_files import NothingThereError

PAGES_OF_KIPS: Final = ROOT / "tests" / "kips"
WITH_BASE: Final = ("853.txt", "966.txt")

PAGES: Final = {
    "511.md": (
        [(4, "ApiVersionsRequest", "0-3", "read"), (19, "ApiVersionsResponse", "0-3", "read")],
        [],
        [(27, "fields/unknown-type"), (27, "kip-35/api-keys-shape")],
    ),
    "559.md": (
        [(6, "JoinGroupRequest", "0-7", "read")],
        [],
        [],
    ),
    "584.md": (
        [(16, "FeatureLevelRecord", "0", "read")],
        [(5, "FinalizedFeatures", "is a field outside of a definition")],
        [],
    ),
    "595.md": (
        [(4, "FetchResponse", "0-12", "read")],
        [],
        [],
    ),
    "841.md": (
        [(4, "AlterPartitionResponse", "0-2", "read")],
        [],
        [],
    ),
    "848.txt": (
        [(3, "ConsumerGroupHeartbeatRequest", "0", "read"), (18, "OffsetCommitResponse", "0-9", "read")],
        [],
        [(6, "rpc/listeners-unknown"), (31, "fields/default-not-nullable")],
    ),
    "853.txt": (
        [
            (9, "QuorumStateData", "0-1", "changed"),
            (38, "BeginQuorumEpochResponse", "0-1", "changed"),
            (64, "AddVoterRequest", "", "unread"),
        ],
        [],
        [(48, "rpc/versions-differ"), (72, "syntax/invalid-json")],
    ),
    "903.md": (
        [(4, "FetchRequest", "0-15", "read")],
        [],
        [(7, "rpc/listeners-unknown")],
    ),
    "951.md": (
        [(4, "FetchResponse", "0-16", "read")],
        [],
        [],
    ),
    "966.txt": (
        [(3, "BrokerRegistrationRequest", "0-2", "changed"), (21, "DescribeTopicPartitionsRequest", "0", "new")],
        [],
        [(8, "rpc/versions-differ"), (22, "rpc/response-missing")],
    ),
    "1242.txt": (
        [(3, "ApiVersionsRequest", "0-5", "read")],
        [],
        [(13, "kip-511/client-software-fields")],
    ),
    "1313.md": (
        [
            (4, "RequestHeader", "1-3", "read"),
            (23, "DeleteGroupsRequest", "0-3", "read"),
            (42, "DeleteGroupsResponse", "0-2", "read"),
        ],
        [],
        [(46, "rpc/versions-differ")],
    ),
}
"""The pages of real KIPs, in words of ours: the definitions, what is unread, and the errors."""

UNREADABLE: Final = {"932.html": "a table of fields without a column for versions (line 4)"}
"""Pages where nothing can be read, and what is said of them."""


def test_all_pages_are_tried() -> None:
    assert {page.name for page in PAGES_OF_KIPS.glob("*.*")} == {*PAGES, *UNREADABLE}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_read_and_nothing_is_left_out_in_silence(page: str) -> None:
    result = kip(PAGES_OF_KIPS / page, base=PAGES_OF_KIPS / "base" if page in WITH_BASE else None, config={})
    (report,) = result.kips
    definitions, unread, errors = PAGES[page]
    assert [(row.line, row.name, row.valid_versions, row.state) for row in report.definitions] == definitions
    assert [(row.line, row.name, row.reason) for row in report.unread] == unread
    assert [(finding.span.line, finding.rule) for finding in result.findings if finding.severity == "error"] == errors
    assert result.status == ("findings" if errors else "ok")
    assert [note.partition(" of ")[0] for note in result.notes] == (
        [f"{len(unread)} part{'s' * (len(unread) > 1)}"] if unread else []
    )


def test_an_api_key_that_is_to_be_determined_is_called_so() -> None:
    result = kip(PAGES_OF_KIPS / "848.txt", base=PAGES_OF_KIPS / "base", config={})
    assert [finding.message for finding in result.findings if finding.rule == "rpc/response-missing"] == [
        "ConsumerGroupHeartbeatRequest has no response: no response of this set has apiKey TBD"
    ]


@pytest.mark.parametrize("page", UNREADABLE)
def test_a_page_without_definitions_says_what_it_has(page: str) -> None:
    with pytest.raises(NothingThereError) as error:
        kip(PAGES_OF_KIPS / page, config={})
    assert str(error.value).partition(", ")[2] == UNREADABLE[page]


BASE: Final = """// Version 1 adds B.
{
  "apiKey": 900, "type": "request", "listeners": ["broker"], "name": "XRequest",
  "validVersions": "0-1", "flexibleVersions": "1+",
  "fields": [
    { "name": "A", "type": "int32", "versions": "0+", "about": "The a." },
    { "name": "B", "type": "int8", "versions": "1+", "about": "The b." },
    { "name": "Topics", "type": "[]Topic", "versions": "0+", "about": "The topics.", "fields": [
      { "name": "Name", "type": "string", "versions": "0+", "about": "The name." },
      { "name": "Index", "type": "int32", "versions": "0+", "about": "The index." }
    ]}
  ]
}
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "XRequest.json").write_text(BASE)
    (tmp_path / "base" / "YRequest.json").write_text(BASE.replace("XRequest", "YRequest").replace("900", "901"))
    return tmp_path / "base"


def read(text: str, base: Path | None) -> Kip:
    page = (base or Path()).parent / "page.md"
    page.write_text(text)
    return read_kip(str(page), Originals(load(base)) if base else None)


def fields(read: Kip) -> list[str]:
    (definition,) = read.definitions
    assert definition.source.problems == ()
    assert definition.source.message is not None
    return list(describe(definition.source.message.fields))


def describe(fields: Iterable[Field]) -> Iterator[str]:
    for field in fields:
        yield f"{field.path} {field.type} {field.versions}"
        yield from describe(field.struct.fields if field.struct else ())


def part(fields: str, versions: str = "0-2") -> str:
    return f'{{ "name": "XRequest", "type": "request", "validVersions": "{versions}", "fields": [{fields}] }}'


A, B = "A int32 0+", "B int8 1+"
TOPICS = ["Topics []Topic 0+", "Topics.Name string 0+", "Topics.Index int32 0+"]
NEW, NEW_FIELD = '{ "name": "C", "type": "uuid", "versions": "2+" }', "C uuid 2+"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"\n...\n{NEW}\n", [A, B, *TOPICS, NEW_FIELD]),
        (f"{NEW},\n// other fields unchanged\n", [NEW_FIELD, A, B, *TOPICS]),
        (f'{{ "name": "A", "type": "int32", "versions": "0+" }}, {NEW}, ...', [A, NEW_FIELD, B, *TOPICS]),
        (f'…\n{NEW},\n{{ "name": "B", "type": "int8", "versions": "1" }}, ...', [A, NEW_FIELD, "B int8 1", *TOPICS]),
        (f'... {{ "name": "Topics", "type": "[]Topic", "versions": "0+", "fields": [ <existing fields>, {NEW} ] }}',
         [A, B, *TOPICS, "Topics.C uuid 2+"]),
        (f'/* existing fields */ {{ "name": "Topics", "type": "[]Topic", "versions": "0+" }}, {NEW}',
         [A, B, *TOPICS, NEW_FIELD]),
    ],
    ids=["at the end", "at the start", "after", "before", "nested", "without its fields"],
)  # fmt: skip
def test_the_base_fills_what_a_part_leaves_out(text: str, expected: list[str], base: Path) -> None:
    assert fields(read(part(text), base)) == expected


def test_a_part_keeps_the_rest_of_the_message(base: Path) -> None:
    (definition,) = read('{ "name": "XRequest", "type": "request", "fields": [ ... ] }', base).definitions
    message = definition.source.message
    assert message is not None
    assert (message.api_key, str(message.valid), str(message.flexible)) == (900, "0-1", "1+")
    assert definition.block.text.startswith("// Version 1 adds B.\n")


@pytest.mark.parametrize(
    ("comment", "kind"),
    [
        ("// New fields begin.", "definition"),
        ("// Version 1 has the same fields as version 0.", "definition"),
        ("// Unchanged since KIP-1.", "definition"),
        ("// ...", "part"),
        ("// the other fields are unchanged", "part"),
        ("// Fields omitted", "part"),
        ("/* unchanged */", "part"),
        ('"about": "So it goes ...", ', "definition"),
    ],
)
def test_what_a_comment_must_say_to_stand_for_fields(comment: str, kind: str, base: Path) -> None:
    text = part("").replace('"fields": [', f'"fields": [ {comment}\n') if "/" in comment else part("")
    (definition,) = read(text, base).definitions
    assert definition.kind == kind


def make_page(*lines: str, head: str = "@@ -4,5 +4,5 @@\n") -> str:
    return "Now:\n\n```diff\n" + head + "".join(f"{line}\n" for line in lines) + "```\n\nThen prose.\n"


PATCH = ('   "apiKey": 900, "type": "request", "listeners": ["broker"], "name": "XRequest",',
         '-  "validVersions": "0-1", "flexibleVersions": "1+",', '+  "validVersions": "0-2", "flexibleVersions": "1+",',
         '   "fields": [', "-    { \"name\": \"A\", \"type\": \"int32\", \"versions\": \"0+\", \"about\": \"The a.\" },",
         "+    { \"name\": \"A\", \"type\": \"int33\", \"versions\": \"0+\", \"about\": \"The a.\" },")  # fmt: skip


@pytest.mark.parametrize(
    "head", ["@@ -3,3 +3,3 @@\n", "", "--- a/x/XRequest.json\n+++ b/x/XRequest.json\n@@ -3,3 +3,3 @@\n"]
)
def test_a_patch_applies_to_the_base(head: str, base: Path) -> None:
    text = make_page(*PATCH, head=head)
    result = check_page(text, base)
    (finding,) = [finding for finding in result.findings if finding.rule == "fields/unknown-type"]
    line = text.splitlines()[finding.span.line - 1]
    assert line[finding.span.column - 1 : finding.span.end_column - 1] == '"type": "int33"'
    assert {finding.rule for finding in result.findings} >= {"compat/new-version"}
    assert {change.rule for change in result.kips[0].changes} >= {"compat/layout-changed", "compat/new-version"}


def check_page(text: str, base: Path) -> KipResult:
    page = base.parent / "page.md"
    page.write_text(text)
    return kip(page, base=base, config={})


def test_findings_about_what_the_base_has_are_left_out(base: Path) -> None:
    file = base / "XRequest.json"
    file.write_text(BASE.replace('"int8"', '"int9"'))
    assert {
        finding.rule for finding in check_page(make_page(*PATCH), base).findings if finding.message_name == "XRequest"
    } >= {"fields/unknown-type"}
    assert [
        finding.span.line
        for finding in check_page(make_page(*PATCH), base).findings
        if finding.rule == "fields/unknown-type"
    ] == [10]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("-nothing that is there", "+new"), "is a patch that applies to no files of base"),
        (('-    { "name": "B", "type": "int8", "versions": "1+", "about": "The b." },', "+"),
         "is a patch that applies to 2 files of base"),
    ],
    ids=["none", "two"],
)  # fmt: skip
def test_a_patch_that_does_not_apply(lines: tuple[str, ...], reason: str, base: Path) -> None:
    (unread,) = read(make_page(*lines), base).unread
    assert (unread.line, unread.reason.replace(str(base), "base")) == (4, reason)


def test_a_patch_of_a_whole_definition_needs_no_base(tmp_path: Path) -> None:
    lines = [f" {line}" for line in BASE.splitlines()[1:]]
    lines[4:5] = [f"-{lines[4][1:]}", f"+{lines[4][1:].replace('int32', 'int64')}"]
    page = tmp_path / "page.md"
    page.write_text(make_page(*lines))
    assert fields(read_kip(str(page)))[0] == "A int64 0+"


@pytest.mark.parametrize(
    "page", ["```json\n{}\n```\n", "<html><body><pre>{}</pre></body></html>"], ids=["fence", "html"]
)
def test_signs_before_changed_lines_make_a_patch(page: str, tmp_path: Path) -> None:
    lines = BASE.splitlines()[1:]
    lines[4:5] = [f"-{lines[4]}", f"+{lines[4].replace('int32', 'int64')}"]
    (tmp_path / "page").write_text(page.replace("{}", "\n".join(lines)))
    assert fields(read_kip(str(tmp_path / "page")))[0] == "A int64 0+"


@pytest.mark.parametrize(
    "piece",
    ["@@ -1 +1 @@\n-a\n+b\n", "```diff\n", "| Name | Type | Versions |\n| A | int8 | 0+ |\n", "XRequest => a\n", "a => [b]\n",
     "XRequestV0 {\n a int8\n", "a: int8\n", "...", "{...}", "[ // ...\n", '+"', "<td>", "new Schema("],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str, tmp_path: Path) -> None:
    (tmp_path / "page").write_text(piece * 5_000)
    assert read_kip(str(tmp_path / "page")).current == ()


TABLE: Final = """## XRequest, version 2

| Name | Type | Versions | Ignorable | Description |
|------|:----:|---------:|-----------|-------------|
| C | `INT64` | 2+ | yes | The c. |
| Topics.Id | uuid | 2+ | | |
"""


def test_a_table_adds_fields_to_the_base(base: Path) -> None:
    document = read(TABLE, base)
    assert fields(document) == [A, B, *TOPICS, "Topics.Id uuid 2+", "C int64 2+"]
    assert document.definitions[0].source.message is not None
    assert str(document.definitions[0].source.message.valid) == "0-2"


@pytest.mark.parametrize(
    ("row", "errors"),
    [
        ("| C | int65 | 2+ |", [("fields/unknown-type", 5, 7)]),
        ("| A | int8 | 0+ |", [("compat/layout-changed", 5, 7)]),
        ("| C | int8 | 2+ |", []),
    ],
)
def test_what_a_table_gets_wrong(row: str, errors: list[tuple[str, int, int]], base: Path) -> None:
    result = check_page("XRequest:\n\n| Name | Type | Versions |\n|---|---|---|\n" + row + "\n\n", base)
    findings = [
        (finding.rule, finding.span.line, finding.span.column)
        for finding in result.findings
        if finding.severity == "error"
    ]
    assert [
        finding for finding in findings if finding[0] not in ("rpc/response-missing", "compat/response-not-bumped")
    ] == errors


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("Prose.\n\n| Name | Type | Versions |\n| A | int8 | 0+ |", 3,
         "is a table of fields, and no message is named above it"),
        ("XRequest\n\nName\tType\nA\tint8", 3, "is a table of fields without a column for versions"),
        ("XRequest\n\nName\tType\tVersions\nA\tint8\tnew", 4, 'is in a table where A has the versions "new"'),
        ("XRequest\n\nName\tType\tVersions\nA\t?\t0+", 4, 'is in a table where A has the type "?"'),
        ("ZRequest\n\nName\tType\tVersions\nA\t[]Item\t0+", 4, "is a table that does not list the fields of A"),
        (part("..."), 1, "leaves out what only a release has: name the release with --base"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_listed(text: str, line: int, reason: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    document = read_kip(str(page))
    assert [(block.line, block.reason) for block in document.unread] == [(line, reason)]
    assert document.definitions == ()
