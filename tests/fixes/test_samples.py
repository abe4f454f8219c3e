"""Samples of what people have and write: releases and partial migrations."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fixes.mutations import mutate
from fixes.support import Files, comments_of, fix_set, folder, is_within, release, schemas
from kiplint.compat.released import Releases, released_versions
from kiplint.compat.rollout import rollout
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.kip_1313 import migrate
from kiplint.fixes.migration import Migration, real_rpcs, rpc_names, verify
from kiplint.fixes.regressions import SAFE_BREAKS, UNSAFE_BREAKS, breaks_between, tree_of, worse_findings
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.model.layout import layout, lines
from kiplint.model.load import load
from kiplint.model.schemas import SchemaSet
from kiplint.sources.schema_files import SchemaFile, SchemaFiles
from kiplint.text.edit import NotEditable

TAGS = int(os.environ.get("KIPLINT_TAGS", "1"))
"""How many releases and branches of forks are fixed, of nine."""
PARTIALS = int(os.environ.get("KIPLINT_PARTIALS", "8"))
"""How many partial or wrong migrations are continued, in four sets; 2,000 take some minutes."""
MUTATIONS = int(os.environ.get("KIPLINT_MUTATIONS", "12"))
"""How many mutations of trunk are fixed and migrated; 2,000 take some minutes."""

RULES = make_ruleset(Config(), load_rules(Config(), ""))


def findings_in(files: Mapping[str, bytes]) -> list[Finding]:
    return check_set([SchemaFile(*item) for item in files.items()], RULES, fixer=make_fix).findings


def of_directory(files: Files) -> SchemaFiles:
    return SchemaFiles("", tuple(SchemaFile(path, data) for path, data in files.items()))


def with_changes(files: Files, migration: Migration) -> Files:
    return {**files, **{file.path: file.after for file in migration.files}}


@pytest.fixture(scope="module")
def releases(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Files]:
    clones = tmp_path_factory.mktemp("clones")
    cache: dict[str, Files] = {}

    def files(name: str) -> Files:
        if name == "trunk":
            return folder(corpus / "kafka-trunk-2026-08" / "clients")
        bundle = "kafka-forks" if name in FORKS else "kafka-schema-history"
        if name not in cache:
            cache[name] = release(corpus / f"{bundle}.bundle", name, clones / bundle, PLACES.get(name, "clients"))
        return cache[name]

    return files


FORKS = ("automq", "linkedin", "redpanda")
PLACES = {"redpanda": "src/v/kafka/protocol/schemata"}
SOURCES = ("trunk", "2.2.2", "2.8.2", "3.3.2", "3.9.0-rc3", "confluent-8.3.0", *FORKS)
FIX_CASES = [(name, unsafe) for unsafe in (False, True) for name in random.Random(f"{unsafe}").sample(SOURCES, TAGS)]


@pytest.mark.parametrize(("name", "unsafe"), FIX_CASES)
def test_fixes_of_releases_break_nothing_and_bring_no_finding(
    releases: Callable[[str], Files], name: str, *, unsafe: bool
) -> None:
    files = releases(name)
    result = fix_set(files, findings_in, unsafe=unsafe)
    after = {**files, **result.after}
    assert list(breaks_between(tree_of(files), tree_of(after), UNSAFE_BREAKS if unsafe else SAFE_BREAKS)) == []
    assert list(worse_findings(findings_in(files), findings_in(after), result.after)) == []


def intact(release: Files, files: Mapping[str, bytes]) -> set[tuple[str, int]]:
    """The names and released versions of the messages whose bytes are those of the release."""
    now = {message.name: message for message in _set_of(files).messages}
    return {
        (message.name, version)
        for message in _set_of(release).messages
        for low, high in released_versions(message).intervals
        for version in range(low, high + 1)
        if message.name in now
        and version in now[message.name].valid
        and list(lines(layout(message, version))) == list(lines(layout(now[message.name], version)))
    }


def _set_of(files: Mapping[str, bytes]) -> SchemaSet:
    return SchemaSet(definition for path, data in files.items() if (definition := load(path, data)).is_readable)


def _repair(files: Files) -> Files:
    """The files with texts that are JSON, as far as fixes of the texts alone make them so."""
    syntax = make_ruleset(Config(select=["syntax"]), load_rules(Config(), ""))

    def check(files: Mapping[str, bytes]) -> list[Finding]:
        return check_set([SchemaFile(*item) for item in files.items()], syntax, fixer=make_fix).findings

    return {**files, **fix_set(files, check, unsafe=True).after}


@pytest.mark.parametrize("part", range(4))
def test_no_fix_or_migration_of_a_mutation_breaks_a_release(releases: Callable[[str], Files], part: int) -> None:
    """With errors in the file or without: what has the bytes of the release keeps them."""
    trunk = releases("trunk")
    names = [name for name in sorted(trunk) if not name.endswith("Header.json")]
    fixes = rewrites = versions = 0
    for number in range(part, MUTATIONS, 4):
        chance = random.Random(f"mutation {number}")
        name = chance.choice(names)
        stem = re.sub(r"(Request|Response)\.json$", "", name)
        group = {
            file: data
            for file, data in trunk.items()
            if file == name or file.startswith((f"{stem}Re", "RequestH", "ResponseH"))
        }
        files = {**group, name: mutate(trunk[name].decode(), chance).encode()}
        before = intact(group, _repair(files))
        release = Releases(["trunk"], [tree_of(group)])
        result = fix_set(files, findings_in, unsafe=number % 3 > 0, releases=release)
        after = {**files, **result.after}
        _is_no_worse(files, after, {item.path for item in result.fixed})
        assert not fix_set(after, findings_in, unsafe=number % 3 > 0, releases=release).after, (number, name)
        readable = {file for file, data in after.items() if load(file, data).is_readable}
        own = {item for item in before if f"{item[0]}.json" in readable}
        assert own - intact(group, after) == set(), (number, name)
        try:
            migration = verify(of_directory(after), migrate(_set_of(after)), RULES, HEADER_WITH_ID)
        except NotEditable:
            continue
        assert own - intact(group, with_changes(after, migration)) == set(), (number, name)
        fixes, rewrites, versions = fixes + bool(result.fixed), rewrites + bool(migration.files), versions + len(own)
    assert versions
    print(f"{fixes} fixed, {rewrites} migrated, {versions} versions intact")


def _is_no_worse(files: Files, after: Files, paths: set[str]) -> None:
    """After fixes there are no new findings, no others to be made, and all comments."""
    before = findings_in(files)
    assert Counter(finding.rule for finding in findings_in(after)) <= Counter(finding.rule for finding in before)
    for path in paths:
        assert is_within(comments_of(files[path]), comments_of(after[path])), after[path].decode()


def _swap(pattern: bytes, by: bytes) -> Callable[[bytes], bytes]:
    return lambda data: re.sub(pattern, by, data, count=1)


WRONG: tuple[Callable[[bytes], bytes], ...] = (
    _swap(rb'\s*"flexibleVersions": "[^"]*",', b""),
    _swap(rb'"flexibleVersions": "[^"]*"', b'"flexibleVersions": "0+"'),
    _swap(rb'"flexibleVersions": "([0-9]+)\+"', rb'"flexibleVersions": "\1-9"'),
    _swap(rb'("fields": \[)', rb'"headerVersions": {"0-12": "1"}, \1'),
    _swap(rb'("fields": \[)', rb'"headerVersions": {"0+": "1"}, \1'),
    _swap(rb'("fields": \[)', rb'"headerVersions": {"0+": "2"}, \1'),
    _swap(rb'("fields": \[)', rb'"headerVersions": {"0-1": "1", "3+": "2"}, \1'),
    _swap(rb'"validVersions": "([0-9]+)[^"]*"', rb'"validVersions": "\1"'),
    _swap(rb'"versions": "0\+"', b'"versions": "0"'),
    _swap(rb'("type": "request",)', rb'\1 "latestVersionUnstable": true,'),
    _swap(rb'("name": "ClientInstanceId", "type": )"uuid"', rb'\1"string"'),
    _swap(rb'"validVersions": "1-2"', b'"validVersions": "1-3"'),
)
SPECIAL = {"ApiVersions", "GetTelemetrySubscriptions", "OffsetDelete", "PushTelemetry", "SaslHandshake"}


def _part(files: Files, chance: random.Random) -> Files:
    """The special RPCs with some others, and the headers: a set that is quick to check."""
    rpcs = real_rpcs(schemas(files))
    names = {rpc.name for rpc in chance.sample(rpcs, min(5, len(rpcs)))} | SPECIAL
    paths = {message.file for rpc in rpcs if rpc.name in names for message in (rpc.request, rpc.response) if message}
    return {name: data for name, data in files.items() if name in paths or name.endswith("Header.json")}


def _finish_migration(release: Files, chance: random.Random) -> tuple[int, int]:
    """Continue a partial migration with mistakes, and prove its end; the numbers of RPCs that are done, and left."""
    files = _part(release, chance)
    names = [rpc.name for rpc in real_rpcs(schemas(files))]
    steps = {name for name in names if chance.random() < 0.4}
    if steps:
        files = with_changes(files, migrate(schemas(files), only=steps))
    for name in chance.sample(sorted(files.keys() - {"ResponseHeader.json"}), chance.randrange(4)):
        files[name] = chance.choice(WRONG)(files[name])
    before = schemas(files)
    migration = verify(of_directory(files), migrate(before), RULES, HEADER_WITH_ID)
    after = with_changes(files, migration)
    now = schemas(after)
    assert list(breaks_between(tree_of(files), tree_of(after))) == []
    worse = list(worse_findings(findings_in(files), findings_in(after), {file.path for file in migration.files}))
    states = {row.name: row.state for row in migration.rows}
    rows = {row.name: row.status for row in rollout(now, before)}
    done_names = {name for name, state in states.items() if state in ("migrated", "unchanged")} & rows.keys()
    unstable = {rpc.name for rpc in real_rpcs(now) if rpc.request and rpc.request.unstable}
    assert {rows[name] for name in done_names - unstable} <= {"done", "new", "exempt"}
    assert {rows[name] for name in done_names & unstable} <= {"done", "new", "exempt", "unstable"}
    waiting = {"RequestHeader"} if states.get("RequestHeader") == "left" else set()
    left_names = {name for name, state in states.items() if state == "left"}
    reasons = {row.name: "; ".join(row.look) for row in migration.rows}
    assert all(reasons[name] for name in left_names)
    for rpc in real_rpcs(before):
        if rpc.name in left_names | waiting:
            assert all(files[item.file] == after[item.file] for item in (rpc.request, rpc.response) if item)
    owners = rpc_names(before)
    severe = [item for item in worse if item.severity != "info" and item.rule != "kip-1313/header-missing"]
    assert [item for item in severe if str(item) not in reasons.get(owners.get(item.path, ""), "")] == []
    again = verify(of_directory(after), migrate(now), RULES, HEADER_WITH_ID)
    assert again.files == ()
    return len(done_names), len(left_names)


MIGRATION_SOURCES = ("trunk", "3.9.0-rc3", "automq", "linkedin")


@pytest.mark.parametrize("name", MIGRATION_SOURCES)
def test_partial_and_wrong_migrations_end_well_or_are_left(releases: Callable[[str], Files], name: str) -> None:
    numbers = range(max(PARTIALS // len(MIGRATION_SOURCES), 1))
    ends = [_finish_migration(releases(name), random.Random(f"{name} {number}")) for number in numbers]
    good, rest = (sum(counts) for counts in zip(*ends, strict=True))
    print(f"{name}: {len(ends)} partial migrations: {good} RPCs done, {rest} left")
    assert (rest if name == "redpanda" else good) > 4 * len(ends)  # Redpanda's definitions are without headers
