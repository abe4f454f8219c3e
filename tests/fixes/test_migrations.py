"""Migrations of whole sets, to KIP-1313 and to a new version of each RPC: nothing is lost, and nothing breaks."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fixes.support import Files, after, comments_of, folder, is_within, parse, release, schemas, wire, without_abouts
from kiplint.compat.rollout import API_VERSIONS_HEADER, rollout, summary
from kiplint.compat.tree import Tree
from kiplint.engine.config import Config, RuleTable, load_rules, make_ruleset
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.migration import Migration, MigrationRow, bump, verify
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.model.message import Message
from kiplint.model.schemas import partner
from kiplint.sources.schema_files import SchemaFile, SchemaFiles
from kiplint.text.decode import blank_comments
from tools import changes_between, check, definition, field

TREES = ("trunk", "3.9.0-rc3", "confluent-8.3.0", "fixtures")
RULES = make_ruleset(Config(), load_rules(Config(), ""))


@pytest.fixture(scope="module", params=TREES)
def files(request: pytest.FixtureRequest, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The clients' definitions of a tree before KIP-1313."""
    if request.param == "fixtures":
        return folder(repo / "fixtures" / "sets" / "broker" / "clients")
    corpus: Path = request.getfixturevalue("corpus")
    if request.param == "trunk":
        return folder(corpus / "kafka-trunk-2026-08" / "clients")
    clone = tmp_path_factory.getbasetemp() / "history.git"
    return release(corpus / "kafka-schema-history.bundle", request.param, clone)


@pytest.fixture(scope="module")
def migrated_files(files: Files) -> Files:
    """The same after the migration."""
    return after(files, migrate(schemas(files)))


Steps = list[tuple[Files, Files]]


@pytest.fixture(scope="module")
def steps(files: Files, migrated_files: Files) -> Steps:
    """What was before and after the migration, and before and after a bump of all RPCs then."""
    bumped_files = migrated_files
    for pair in schemas(migrated_files).rpcs:
        if pair.request and not pair.is_dead and not pair.is_coordinator:
            migration = bump(pair)
            assert bool(migration.files) is (pair.name != "SaslHandshake" and not pair.request.unstable)
            bumped_files = after(bumped_files, migration)
    return [(files, migrated_files), (migrated_files, bumped_files)]


def test_the_result_has_no_new_error_or_warning(steps: Steps) -> None:
    for step in steps:
        before, now = (
            {
                (finding.rule, finding.path, finding.pointer)
                for finding in check(tree, single_file=False)
                if finding.severity != "info" and finding.rule != API_VERSIONS_HEADER
            }
            for tree in step
        )
        assert now <= before


def unstable(message: Message) -> bool:
    """Whether the latest version of a request, or of the request of a response, is unstable."""
    request = message if message.type == "request" else partner(message)
    return request is not None and request.unstable


def test_the_rollout_is_done_for_every_live_rpc(files: Files, migrated_files: Files) -> None:
    rows = rollout(schemas(migrated_files), schemas(files))
    counts = summary(rows)
    dead = sum(rpc.is_dead for rpc in schemas(files).rpcs)
    early = sum(unstable(message) for message in schemas(migrated_files).messages if message.type == "request")
    assert counts == {
        "done": len(rows) - 1 - dead - early, "unstable": early, "missing": 0, "wrong": 0, "new": 0, "exempt": 1, "dead": dead,
    }  # fmt: skip
    assert [row.name for row in rows if row.status == "exempt"] == ["SaslHandshake"]


def test_the_difference_breaks_nothing(steps: Steps) -> None:
    for before, now in steps:
        old, new = (Tree("", {"": schemas(tree)}, tree) for tree in (before, now))
        findings = changes_between(RULES, old, new)
        assert {(change.rule, change.breaks) for change in findings} <= {
            ("compat/new-version", "none"),
            ("compat/new-field", "none"),
            ("compat/field-ended", "none"),
            ("compat/flexible-later", "none"),
            ("compat/header-later", "none"),
            ("compat/comment-changed", "none"),
            ("compat/unstable-changed", "none"),
        }
        messages = schemas(now).by_name
        for message in schemas(before).messages:  # what may still change is not released by the way
            assert messages[message.name].unstable is message.unstable, message.name


def test_all_comments_are_there(steps: Steps) -> None:
    for before, now in steps:
        for name, data in before.items():
            assert is_within(comments_of(data), comments_of(now[name])), name


def test_a_second_run_changes_nothing(migrated_files: Files) -> None:
    again = migrate(schemas(migrated_files))
    assert not again.files
    assert {row.state for row in again.rows} <= {"unchanged", "exempt", "dead"}


def test_layout_and_header_of_every_version_stay(steps: Steps) -> None:
    for before, now in steps:
        messages = schemas(now).by_name
        for message in schemas(before).messages:
            if message.valid:
                wire_by_version = {version: rest for version, *rest in wire(messages[message.name])}
                for version, *rest in wire(message):
                    if version < message.valid.highest or not unstable(message):
                        assert wire_by_version[version] == rest, f"{message.name}@{version}"


def test_each_new_version_has_the_body_of_the_one_before(files: Files, migrated_files: Files) -> None:
    now = schemas(migrated_files).by_name
    for message in schemas(files).messages:
        if not message.is_rpc or not message.valid or message.name.startswith("SaslHandshake"):
            continue
        *_, (version, header, body) = wire(now[message.name])
        *_, (_, _, before) = wire(message)
        assert version == message.valid.highest + (not unstable(message))
        assert header == (3 if message.type == "request" else 0 if message.api_key == 18 else 1)
        if message.valid.highest in message.flexible:
            names = [line for line in before if line[1] != "ClientInstanceId" or "Telemetry" not in message.name]
            assert body == names, message.name


def test_only_declare_writes_what_flexible_versions_implies(files: Files) -> None:
    result = after(files, migrate(schemas(files), only_declare=True))
    before, now = schemas(files).by_name, schemas(result).by_name
    for name, message in before.items():
        live = message.is_rpc and bool(message.valid)
        assert now[name].declares_headers is live
        assert now[name].valid == message.valid
        if live:
            assert list(wire(now[name])) == list(wire(message))
            assert now[name].header_ranges[0].versions.lowest == 0
            assert now[name].header_ranges[-1].versions.open
            headers = [entry.header for entry in now[name].header_ranges]
            assert all(header != two for header, two in itertools.pairwise(headers))
    config = Config(select=["kip-1313"], rules={"kip-1313/header-missing": RuleTable(params={"require": True})})
    assert not check(result, config, single_file=False)
    assert not migrate(schemas(result), only_declare=True).files


KIPS_OWN = (
    "OffsetDeleteRequest",
    "OffsetDeleteResponse",
    "GetTelemetrySubscriptionsRequest",
    "GetTelemetrySubscriptionsResponse",
    "PushTelemetryRequest",
    "PushTelemetryResponse",
    "RequestHeader",
)


def _schemas_of_page(text: str) -> dict[str, object]:
    """The schemas that the KIP prints, the last of a name."""
    result = {}
    for block in re.findall(r"^\{$.*?^\}$", text, re.MULTILINE | re.DOTALL):
        value = json.loads(blank_comments(block.encode()))
        result[value["name"]] = without_abouts(value)
    return result


def test_the_kips_own_schemas_come_out(corpus: Path, tmp_path: Path) -> None:
    page = corpus.parent / "kips" / "kip-1313.txt"
    if not page.is_file():
        pytest.skip(f"the KIPs are not at {page.parent}")
    kip_schemas = _schemas_of_page(page.read_text().replace("\u00a0", " "))
    trunk = folder(corpus / "kafka-trunk-2026-08" / "clients")
    result = after(trunk, migrate(schemas(trunk)))
    for name in KIPS_OWN:
        assert without_abouts(parse(result[f"{name}.json"])) == kip_schemas[name], name
    # The KIP was written when DeleteGroups had three versions.
    old = release(corpus / "kafka-schema-history.bundle", "confluent-8.3.0", tmp_path / "history.git")
    result = after(old, migrate(schemas(old), only=["DeleteGroups"]))
    request = without_abouts(parse(result["DeleteGroupsRequest.json"]))
    assert request == kip_schemas["DeleteGroupsRequest"]
    response = parse(result["DeleteGroupsResponse.json"])
    assert response["validVersions"] == "0-3"  # the KIP left it at 0-2, and a request without its response


def pair(**others: object) -> Files:
    """A request and its response, and the request header."""
    header = {"type": "header", "name": "RequestHeader", "apiKey": None, "flexibleVersions": "2+"}
    return {
        "XRequest.json": definition(field(), **others),
        "XResponse.json": definition(field(), **{**others, "name": "XResponse", "type": "response"}),
        "RequestHeader.json": definition(field("ClientId", "string"), **{**header, "validVersions": "1-2"}),
    }


FLEXIBLE = '"3+": "2"'


@pytest.mark.parametrize(
    ("others", "file", "old", "new", "options", "expected"),
    [
        ({"headerVersions": {"0-2": "1", "3+": "2"}}, "XRequest", FLEXIBLE, f"// flexible\n    {FLEXIBLE} // since 3", {},
         '// flexible\n    "3-5": "2", // since 3\n    "6+": "3"\n'),
        ({}, "XResponse", '"0-5"', '"0-4"', {}, '"validVersions": "0-6"'),
    ],
    ids=["a map keeps its comments", "a response lags behind"],
)  # fmt: skip
def test_the_text_after_a_migration(
    others: dict[str, object], file: str, old: str, new: str, options: dict[str, Any], expected: str
) -> None:
    files = pair(**others)
    path = f"{file}.json"
    files[path] = files[path].decode().replace(old, new).encode()
    assert expected in after(files, migrate(schemas(files), **options))[path].decode()


@pytest.mark.parametrize(
    ("others", "problem"),
    [
        ({"flexibleVersions": "3-4"}, "which is not an open range"),
        ({"headerVersions": {"0-2": "1", "4+": "2"}}, "have gaps or mistakes"),
        ({"validVersions": "0+"}, "the valid versions of XRequest are 0+"),
    ],
)
def test_what_cannot_be_migrated_is_left_to_a_person(others: dict[str, object], problem: str) -> None:
    files = pair(**others)
    migration = migrate(schemas(files))
    assert [file.path for file in migration.files] == ["RequestHeader.json"]
    row = next(row for row in migration.rows if row.name == "X")
    assert row.state == "left"
    assert problem in row.look[0]


def test_an_unstable_version_gets_the_header_and_stays_unstable() -> None:
    files = {**pair(latestVersionUnstable=True), "XResponse.json": pair()["XResponse.json"]}
    migration = migrate(schemas(files))
    row = next(row for row in migration.rows if row.name == "X")
    assert (row.state, row.done, row.look) == ("migrated", ("version 5 stays unstable",), ())
    now = after(files, migration)
    request, response = parse(now["XRequest.json"]), parse(now["XResponse.json"])
    assert (request["validVersions"], request["latestVersionUnstable"]) == ("0-5", True)
    assert request["headerVersions"] == {"0-2": "1", "3-4": "2", "5+": "3"}
    assert (response["validVersions"], response["headerVersions"]) == ("0-5", {"0-2": "0", "3+": "1"})
    assert comments_of(now["XResponse.json"]) == []
    assert not migrate(schemas(now)).files


def proved_rows(files: Files, **others: Any) -> tuple[Files, dict[str, MigrationRow]]:
    """The files after a migration that was proved, and the rows by name; what is left to a person has no edits."""
    schema_files = SchemaFiles("", tuple(SchemaFile(path, data) for path, data in files.items()))
    migration = verify(schema_files, migrate(schemas(files), **others), RULES, HEADER_WITH_ID)
    rows = {row.name: row for row in migration.rows}
    paths = {file.path for file in migration.files}
    for name, row in rows.items():
        if row.state == "left":
            assert not paths & {f"{name}.json", f"{name}Request.json", f"{name}Response.json"}
            assert row.look
    return after(files, migration), rows


ID = '{ "name": "ClientInstanceId", "type": "uuid", "versions": "3+" }'
HEADER_MAP = '"flexibleVersions": "9+",\n  "headerVersions": { "0-9": "1", "10+": "2" },'


@pytest.mark.parametrize(
    ("file", "changes", "row_name", "look"),
    [
        ("RequestHeader", {'"1-2"': '"1-3"', '"fields": [': f'"fields": [ {ID.replace("uuid", "string")},'},
         "RequestHeader", "ClientInstanceId"),
        ("RequestHeader", {'"1-2"': '"1-3"', '"fields": [': f'"fields": [ {ID.replace("3+", "2+")},'},
         "RequestHeader", "ClientInstanceId"),
        ("MetadataRequest", {'"flexibleVersions": "9+",': ""}, "Metadata", "flexibleVersions is missing"),
        ("MetadataRequest", {'"9+",': '"8+",'}, "Metadata", "rpc/flexible-differ"),
        ("MetadataRequest", {'"flexibleVersions": "9+",': HEADER_MAP}, "Metadata", "kip-1313/header-not-flexible"),
        ("ApiVersionsResponse", {'"flexibleVersions": "3+",': '"flexibleVersions": "3+", "headerVersions": { "0+": "1" },'},
         "ApiVersions", "kip-511/response-header-zero"),
        ("PushTelemetryRequest",
         {'"validVersions": "0",': '"validVersions": "0-1", "headerVersions": { "0": "2", "1+": "3" },'},
         "PushTelemetry", "ClientInstanceId"),
    ],
)  # fmt: skip
def test_what_would_not_reach_the_goal_is_left(
    repo: Path, file: str, changes: dict[str, str], row_name: str, look: str
) -> None:
    files = folder(repo / "fixtures" / "sets" / "broker" / "clients")
    text = files[f"{file}.json"].decode()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new, 1)
    files[f"{file}.json"] = text.encode()
    if file == "PushTelemetryRequest":
        answer = files["PushTelemetryResponse.json"].replace(b'"validVersions": "0"', b'"validVersions": "0-1"')
        files["PushTelemetryResponse.json"] = answer
    now, rows = proved_rows(files)
    assert rows[row_name].state == "left"
    assert look in " ".join(rows[row_name].look)
    states = {row.state for name, row in rows.items() if name not in {row_name, "SaslHandshake"}}
    assert states == ({"left", "dead"} if row_name == "RequestHeader" else {"migrated", "dead"})
    ours = [finding for finding in check(now, single_file=False) if row_name not in finding.path]
    expected = ("kip-1313/header-missing", API_VERSIONS_HEADER)
    assert not [finding for finding in ours if finding.severity != "info" and finding.rule not in expected]


def test_where_no_rpc_can_be_migrated_nothing_is_written() -> None:
    """SaslHandshake, which only declares its headers, would require them of all others."""
    same = {"apiKey": 17, "validVersions": "0-1", "flexibleVersions": "none"}
    files = pair(flexibleVersions=None)
    for kind in ("Request", "Response"):
        name = f"SaslHandshake{kind}"
        files[f"{name}.json"] = definition(field(), **{**same, "name": name, "type": kind.lower()})
    now, rows = proved_rows(files)
    assert now == files
    assert rows["SaslHandshake"].look == ("no RPC can be migrated, so no file changes",)


def test_an_id_that_ended_with_version_0_stays_ended(repo: Path) -> None:
    files = folder(repo / "fixtures" / "sets" / "broker" / "clients")
    name = "GetTelemetrySubscriptionsRequest.json"
    usual = after(files, migrate(schemas(files)))
    text = re.sub(r'("ClientInstanceId", "type": "uuid", "versions": )"0\+"', r'\1"0"', files[name].decode())
    assert text != files[name].decode()
    now, rows = proved_rows({**files, name: text.encode()})
    assert now == usual
    assert rows["GetTelemetrySubscriptions"].state == "migrated"


@pytest.mark.parametrize("comment", ["  // Version 5 is new.\n", "  // Version 5 is new.\n  //\n"])
def test_a_note_on_the_version_follows_the_others(comment: str) -> None:
    files = pair()
    text = files["XRequest.json"].decode().replace('  "validVersions"', f'{comment}  "validVersions"')
    result = after(changed_files := {**files, "XRequest.json": text.encode()}, migrate(schemas(changed_files)))
    assert "  // Version 5 is new.\n  //\n  // Version 6 uses" in result["XRequest.json"].decode()


def bump_x(files: Files, **options: Any) -> Migration:
    """The bump of X."""
    return bump(next(rpc for rpc in schemas(files).rpcs if rpc.name == "X"), **options)


def after_bump(files: Files, **options: Any) -> Files:
    """The files after it."""
    return after(files, bump_x(files, **options))


def test_after_an_unstable_version_there_is_a_new_one_only_if_it_is_asked_for() -> None:
    files = {**pair(latestVersionUnstable=True), "XResponse.json": pair()["XResponse.json"]}
    assert bump_x(files).rows[0].state == "left"
    later = parse(after_bump(files, new_version=True)["XRequest.json"])
    assert (later["validVersions"], later["latestVersionUnstable"]) == ("0-6", False)


def test_the_new_version_can_be_unstable_and_have_a_note() -> None:
    now = after_bump(pair(), unstable=True, comment="is for KIP-1.")
    assert parse(now["XRequest.json"])["latestVersionUnstable"] is True
    assert "latestVersionUnstable" not in parse(now["XResponse.json"])
    assert comments_of(now["XResponse.json"]) == ["Version 6 is for KIP-1."]


LATER = [
    field("Epoch", versions="6+"),
    field("Rack", "string", "0+", nullableVersions="6+"),
    field("Zone", "string", "0+", tag=0, taggedVersions="6+"),
    field("Part", "Part", "6+", fields=[field("Id", versions="6+")]),
]


@pytest.mark.parametrize(
    ("fields", "others", "comment"),
    [
        ([], {}, "is the same as version 5"),
        ([], {"flexibleVersions": "6+"}, "is the first flexible version"),
        (LATER[:1], {}, "adds Epoch"),
        (LATER[1:2], {}, "lets Rack be null"),
        (LATER[2:3], {}, "tags Zone"),
        (
            LATER,
            {"flexibleVersions": "6+"},
            "is the first flexible version, adds Epoch and Part, tags Zone and lets Rack be null",
        ),
        ([field("Ends", versions="0-5")], {}, "is the same as version 5"),
        ([field("Name", "string", "0+", flexibleVersions="6+")], {"flexibleVersions": "3+"}, "makes Name flexible"),
        ([], {"headerVersions": {"0-2": "1", "3-5": "2", "6+": "3"}}, "uses request header 3"),
    ],
)
def test_the_comment_on_a_new_version_says_what_begins(
    fields: list[dict[str, Any]], others: dict[str, object], comment: str
) -> None:
    files = {**pair(**others), "XRequest.json": definition(*fields, **others)}
    assert comments_of(after_bump(files)["XRequest.json"]) == [f"Version 6 {comment}."]


@pytest.mark.parametrize("name", ["versions", "nullableVersions", "taggedVersions", "flexibleVersions"])
def test_a_range_that_ends_with_the_latest_version_includes_the_new_one(name: str) -> None:
    files = {**pair(), "XRequest.json": definition(field("Name", "string", **{"versions": "0+", name: "3-5"}))}
    assert parse(after_bump(files)["XRequest.json"])["fields"][0][name] == "3+"


def test_a_migration_says_what_begins_in_its_version() -> None:
    files = {**pair(flexibleVersions="6+"), "XRequest.json": definition(*LATER[:1], flexibleVersions="6+")}
    now = after(files, migrate(schemas(files)))
    uses = "uses request header 3, which carries ClientInstanceId (KIP-1313)."
    assert comments_of(now["XRequest.json"]) == [f"Version 6 is the first flexible version, adds Epoch and {uses}"]
    assert comments_of(now["XResponse.json"]) == ["Version 6 is the first flexible version (KIP-1313)."]


def test_a_map_without_the_new_version_is_left() -> None:
    row = bump_x(pair(headerVersions={"0-2": "1", "3-5": "2"})).rows[0]
    assert (row.state, row.look) == ("left", ("headerVersions of XRequest have gaps or mistakes: fix them first",))


def test_a_response_that_ends_earlier_gets_the_version_of_its_request() -> None:
    files = {**pair(), "XResponse.json": pair(validVersions="0-4")["XResponse.json"]}
    assert parse(after_bump(files)["XResponse.json"])["validVersions"] == "0-5"


def test_an_unstable_request_that_ends_earlier_does_not_stay_unstable() -> None:
    files = {**pair(latestVersionUnstable=True, validVersions="0-4"), "XResponse.json": pair()["XResponse.json"]}
    for migration in (bump_x(files), migrate(schemas(files))):
        assert parse(after(files, migration)["XRequest.json"])["latestVersionUnstable"] is False
        assert not any("unstable" in action for row in migration.rows for action in row.done)
    assert bump_x(files, unstable=True).rows[0].done == ("the new version is unstable",)


def test_a_range_that_cannot_be_read_is_named() -> None:
    files = pair(validVersions="0-2,4")
    for migration in (bump_x(files), migrate(schemas(files)), migrate(schemas(files), only_declare=True)):
        row = migration.rows[-1]
        assert (row.state, row.look) == ("left", ("validVersions of XRequest is '0-2,4', which is not a range",))
