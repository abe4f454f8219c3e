"""`check --fix` and `--diff`, and `migrate`, as they are run."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fixes.support import comments_of
from kiplint import check, migrate_kip_1313
from sources.support import make_repository
from tools import definition, field, kiplint

SLIPS = (
    b'{\r\n  // \xc3\xa9\r\n  "name": "XData", "type": "data", "validVersions": "0-1", "flexibleVersions": "0+",\r\n'
    b'  "fields": [{ "name": "A", "type": "int32[]", "versions": "1+", "ignorable": "true", "about": "It.", },]\r\n}'
)
CLEAN = SLIPS.replace(b"int32[]", b"[]int32").replace(b'"true"', b"true").replace(b", },]", b" }]")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "XData.json").write_bytes(SLIPS)
    return tmp_path


@pytest.fixture
def broker(tmp_path: Path, repo: Path) -> Path:
    shutil.copytree(repo / "fixtures" / "sets" / "broker" / "clients", tmp_path / "clients")
    return tmp_path


def contents(where: Path) -> dict[str, bytes]:
    return {path.relative_to(where).as_posix(): path.read_bytes() for path in where.rglob("*") if path.is_file()}


def test_diff_prints_a_patch_that_does_what_fix_does(here: Path) -> None:
    before = contents(here)
    result = kiplint("check", "--diff", cwd=here)
    assert result.code == 1
    assert result.err.startswith("would fix 4 findings in 1 file: fields/unknown-type, shape/coerced-value, ")
    assert contents(here) == before
    subprocess.run(["git", "apply", "-"], cwd=here, input=result.out.encode(), check=True)
    patched_files = contents(here)
    (here / "XData.json").write_bytes(SLIPS)
    result = kiplint("check", "--fix", cwd=here)
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("fixed 4 findings in 1 file: ")
    assert (here / "XData.json").read_bytes() == CLEAN
    assert contents(here) == patched_files
    result = kiplint("check", "--fix", "--diff", cwd=here)
    assert (result.code, result.out, result.err) == (0, "", "nothing to fix, 0 left\n")


def test_remaining_findings_are_reported_and_unsafe_fixes_need_an_option(here: Path) -> None:
    (here / "XData.json").write_bytes(CLEAN.replace(b'"about"', b'"abuot"'))
    result = kiplint("check", "--fix", "--output-format", "concise", cwd=here)
    assert result.code == 1
    assert "shape/unknown-property" in result.out
    assert result.err == "nothing to fix, 2 left, 1 of them fixable with --unsafe-fixes\n"
    result = kiplint("check", "--fix", "--unsafe-fixes", cwd=here)
    assert (result.code, result.out) == (0, "")
    assert (here / "XData.json").read_bytes() == CLEAN
    result = kiplint("check", "--unsafe-fixes", cwd=here)
    assert (result.code, result.err) == (2, "error: --unsafe-fixes requires --fix or --diff\n")


def test_the_effects_of_unsafe_fixes_are_listed(tmp_path: Path) -> None:
    fields = (field(name, "string", about="It.") for name in ("GroupId", "TopicName"))
    (tmp_path / "XRequest.json").write_bytes(definition(*fields))
    result = kiplint("check", "--fix", "--unsafe-fixes", "--select", "fields", cwd=tmp_path)
    effects = result.err.splitlines()[1:]
    assert len(effects) == 2
    assert all(line.startswith("review: XRequest.json:") for line in effects)
    assert effects[0].endswith(": fields/entity-type-missing changes what tools know about the value")


def test_a_fix_that_would_make_something_worse_is_marked_and_then_refused_once(tmp_path: Path) -> None:
    header = {"validVersions": "0-1", "flexibleVersions": "1+", "headerVersions": {"1+": "2"}}
    (tmp_path / "XRequest.json").write_bytes(definition(field(about="It."), **header))
    words = ("check", "--select", "kip-1313/header-start,kip-1313/header-not-flexible", "--output-format")
    finding = json.loads(kiplint(*words, "json", cwd=tmp_path).out)["findings"][0]
    assert (finding["rule"], finding["fixable"], finding["fix"]["applicability"]) == (
        "kip-1313/header-start", True, "safe",
    )  # fmt: skip
    result = kiplint(*words, "text", cwd=tmp_path)
    assert "error[kip-1313/header-start]: [*] " in result.out
    assert result.out.endswith("\n[*] 1 fixable with `kiplint check --fix`.\n")
    result = kiplint(*words, "text", "--fix", cwd=tmp_path)
    assert "fixable" not in result.out and "[*]" not in result.out
    assert re.fullmatch(
        r"nothing to fix, 1 left\nnot fixed: XRequest.json:\d+: kip-1313/header-start: .*"
        r"\(kip-1313/body-not-flexible\)\n", result.err,
    )  # fmt: skip
    assert not json.loads(kiplint(*words, "json", "--fix", cwd=tmp_path).out)["findings"][0]["fixable"]


def test_a_check_tries_no_fix(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    monkeypatch.setattr("kiplint.fixes.fix.try_edits", lambda *arguments: tried.append(arguments))
    assert [finding.fixable for finding in check(here, isolated=True).findings] == [True] * 4
    assert not tried


def test_json_has_edits_that_do_what_fix_does(here: Path) -> None:
    findings = json.loads(kiplint("check", "--output-format", "json", cwd=here).out)["findings"]
    edits = [edit for finding in findings for edit in finding["fix"]["edits"]]
    assert all(finding["fixable"] and finding["fix"]["applicability"] == "safe" for finding in findings)
    data = SLIPS
    for edit in sorted(edits, key=lambda edit: -edit["start"]):
        assert edit["path"] == "XData.json"
        data = data[: edit["start"]] + edit["text"].encode() + data[edit["end"] :]
    assert data == CLEAN
    assert '"artifactChanges"' in kiplint("check", "--output-format", "sarif", cwd=here).out


def test_what_a_baseline_records_is_left_alone(here: Path) -> None:
    words = ("check", "--baseline", "debt.json")
    kiplint(*words, "--update-baseline", cwd=here)
    for unsafe in ((), ("--unsafe-fixes",)):
        result = kiplint(*words, "--fix", *unsafe, cwd=here)
        assert (result.code, result.out, result.err) == (0, "", "nothing to fix, 0 left, 4 known and not fixed\n")
    new = b'{ "name": "B", "type": "int8[]", "versions": "1+", "ignorable": true, "about": "That." },\r\n  '
    (here / "XData.json").write_bytes(SLIPS.replace(b'[{ "name": "A"', b"[" + new + b'{ "name": "A"'))
    result = kiplint(*words, "--fix", "--diff", cwd=here)
    assert result.code == 1
    assert result.err == "would fix 1 finding in 1 file: fields/unknown-type, 0 left, 4 known and not fixed\n"
    result = kiplint(*words, "--fix", cwd=here)
    assert result.err == "fixed 1 finding in 1 file: fields/unknown-type, 0 left, 4 known and not fixed\n"
    expected = SLIPS.replace(b'[{ "name": "A"', b"[" + new.replace(b"int8[]", b"[]int8") + b'{ "name": "A"')
    assert (here / "XData.json").read_bytes() == expected


def test_of_equal_findings_a_baseline_counts_so_many(here: Path) -> None:
    """The baseline records one of two copies of a definition: the other is fixed, wherever it is."""
    kiplint("check", "--baseline", "debt.json", "--update-baseline", cwd=here)
    (here / "copy").mkdir()
    (here / "copy" / "XData.json").write_bytes(SLIPS)
    result = kiplint("check", ".", "--baseline", "debt.json", "--fix", cwd=here)
    assert (result.code, result.out) == (0, "")
    assert result.err.endswith(", 0 left, 4 known and not fixed\n")
    assert sorted((here / folder / "XData.json").read_bytes() for folder in (".", "copy")) == sorted([SLIPS, CLEAN])


def test_what_is_older_than_the_change_is_left_alone(here: Path) -> None:
    make_repository(here, {"XData.json": SLIPS})
    (here / "YData.json").write_bytes(SLIPS.replace(b"XData", b"YData"))
    result = kiplint("check", "--base", "HEAD", "--fix", cwd=here)
    assert (result.code, result.out) == (0, "")
    assert result.err.endswith(", 0 left, 4 known and not fixed\n")
    assert (here / "XData.json").read_bytes() == SLIPS
    assert (here / "YData.json").read_bytes() == CLEAN.replace(b"XData", b"YData")


def test_what_a_check_reports_is_fixed_whatever_head_has(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    make_repository(here, {"XData.json": SLIPS})
    for where, words in ((here, ()), (tmp_path_factory.mktemp("elsewhere"), ("--all",))):
        (here / "XData.json").write_bytes(SLIPS)
        result = kiplint("check", here, cwd=where)
        assert "[*] 4 fixable with `kiplint check --fix`." in result.out
        assert kiplint("check", here, "--fix", *words, cwd=where).err.startswith("fixed 4 findings in 1 file: ")
        assert (here / "XData.json").read_bytes() == CLEAN


def test_with_a_base_the_hint_names_it(here: Path) -> None:
    make_repository(here, {"YData.json": CLEAN.replace(b"XData", b"YData")})
    (here / "XData.json").write_bytes(SLIPS.replace(b'"about"', b'"abuot"'))
    base = "--base HEAD"
    assert kiplint("check", *base.split(), cwd=here).out.endswith(
        f"[*] 4 fixable with `kiplint check {base} --fix`, "
        f"[?] 1 more fixable with `kiplint check {base} --fix --unsafe-fixes` (review the result).\n"
    )


DATA: dict[str, Any] = {"type": "data", "apiKey": None, "listeners": None}


def many_commas(count: int) -> bytes:
    """A definition with a trailing comma in each of so many fields."""
    fields = [field(f"Field{number}", about="It.") for number in range(count)]
    return definition(*fields, name="X", **DATA).replace(b'"about": "It."', b'"about": "It.",')


def many_tags(count: int) -> bytes:
    """A definition with so many tagged fields without a tag."""
    return definition(
        *(field(f"Field{number}", versions="3+", taggedVersions="3+", about="It.") for number in range(count)),
        name="X",
        **DATA,
    )


@pytest.mark.parametrize("data", [many_commas(30), many_commas(450), many_tags(30), many_tags(250)])
def test_a_second_run_finds_nothing_to_fix(tmp_path: Path, data: bytes) -> None:
    """Also beyond the number of problems that are reported of one file."""
    make_repository(tmp_path, {"YData.json": CLEAN.replace(b"XData", b"YData")})
    (tmp_path / "X.json").write_bytes(data)
    result = kiplint("check", "--fix", "--unsafe-fixes", cwd=tmp_path)
    assert (result.code, result.out, result.err[:6]) == (0, "", "fixed ")
    assert kiplint("check", "--fix", "--unsafe-fixes", cwd=tmp_path)[:3] == (0, "", "nothing to fix, 0 left\n")


@pytest.mark.parametrize(
    ("words", "said_of_it"),
    [
        (("check", "--fix", "-"), "standard input cannot be changed"),
        (("check", "--fix", "HEAD:"), "HEAD: is a revision: nothing in it can be changed"),
        (("check", "--fix", "a.zip"), "a.zip is an archive: nothing in it can be changed"),
        (("migrate", "kip-1313", "HEAD:"), "HEAD: is a revision: nothing in it can be changed"),
        (("migrate", "kip-1313", "nothing"), "no such file or directory: nothing"),
        (("migrate", "kip-1313", ".", "--only", "Fetsch"), "there is no RPC Fetsch"),
        (("migrate", "bump", "Nothing"), "there is no RPC Nothing"),
        (("migrate", "kip-1313", ".", "--only", ""), "--only names no RPC; omit the option to change all RPCs"),
        (("migrate", "kip-1313", "XData.json"), "there are no RPCs; name the directory with"),
    ],
)
def test_what_cannot_be_changed_is_refused(here: Path, words: tuple[str, ...], said_of_it: str) -> None:
    import zipfile

    subprocess.run(["git", "init", "-q"], cwd=here, check=True)
    with zipfile.ZipFile(here / "a.zip", "w") as archive:
        archive.write(here / "XData.json", "XData.json")
    before = contents(here)
    result = kiplint(*words, cwd=here, stdin=SLIPS)
    assert result.code == 2
    assert said_of_it in result.err
    assert contents(here) == before


def test_only_for_what_can_be_changed_a_command_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path, {"XData.json": SLIPS})
    hint = "[*] 4 fixable with `kiplint check --fix`"
    for name, expected in ((".", True), ("XData.json", True), ("HEAD:", False), ("-", False)):
        result = kiplint("check", name, cwd=tmp_path, stdin=SLIPS)
        assert (name, result.code, hint in result.out, "--fix" in result.out) == (name, 1, expected, expected)
        assert "error[syntax/trailing-comma]: [*] " in result.out


def test_a_read_only_file_is_refused_and_nothing_is_written(broker: Path) -> None:
    (broker / "clients" / "MetadataResponse.json").chmod(0o444)
    before = contents(broker)
    result = kiplint("migrate", "kip-1313", ".", cwd=broker)
    assert (result.code, result.err) == (2, "error: ./clients/MetadataResponse.json is read-only\n".replace("./", ""))
    assert contents(broker) == before


def test_the_migration_is_complete_and_is_reported(broker: Path, repo: Path) -> None:
    original = repo / "fixtures" / "sets" / "broker" / "clients"
    result = kiplint("migrate", "kip-1313", "clients", "--dry-run", cwd=broker)
    assert result.code == 0
    assert result.out.endswith("10 migrated, 1 exempt and 1 dead; 21 files would change.\n")
    assert contents(broker / "clients") == contents(original)
    patch = kiplint("migrate", "kip-1313", "clients", "--diff", cwd=broker)
    assert patch.code == 1  # as check --diff ends, where there is something to change
    again = kiplint("migrate", "kip-1313", "clients", cwd=broker)
    assert (again.code, again.out) == (0, result.out.replace("would change", "changed"))
    assert kiplint("migrate", "kip-1313", "clients", "--diff", cwd=broker)[:2] == (0, "")
    assert kiplint("check", ".", cwd=broker).code == 0
    rollout = kiplint("rollout", original, "clients", cwd=broker)
    assert (rollout.code, rollout.out.splitlines()[-1]) == (0, "Request header 3: 9 done, 1 exempt and 1 dead.")
    now = contents(broker / "clients")
    shutil.rmtree(broker / "clients")
    shutil.copytree(original, broker / "clients")
    subprocess.run(["git", "apply", "-"], cwd=broker, input=patch.out.encode(), check=True)
    assert contents(broker / "clients") == now
    for name, data in contents(original).items():
        assert set(comments_of(data)) <= set(comments_of(now[name]))


def test_a_named_file_brings_its_other_half(broker: Path) -> None:
    result = kiplint("migrate", "kip-1313", "clients/MetadataRequest.json", "--output-format", "json", cwd=broker)
    document = json.loads(result.out)
    states = {rpc["name"]: rpc["state"] for rpc in document["rpcs"]}
    assert {name for name, state in states.items() if state == "migrated"} == {"RequestHeader", "Metadata"}
    assert set(states.values()) == {"migrated", "declared", "exempt"}  # once some declare headers, all have to
    assert document["summary"]["files"] == 21
    schema = json.loads(kiplint("schema", "migrate", cwd=broker).out)
    Draft202012Validator(schema).validate(document)
    (shape,) = (definition for name, definition in schema["$defs"].items() if name == "MigrationDocument")
    assert sorted(shape["required"]) == sorted(document)


def test_several_directories_are_distinguished(broker: Path) -> None:
    shutil.copytree(broker / "clients", broker / "fork")
    before = contents(broker)
    result = kiplint("migrate", "bump", "Metadata", cwd=broker)
    assert (result.code, result.err) == (
        2, "error: Metadata is in clients and in fork: name the directory to change\n",
    )  # fmt: skip
    result = kiplint("migrate", "kip-1313", ".", "--dry-run", "--only", "Metadata", cwd=broker)
    assert "\n  clients: Metadata " in result.out
    assert "\n  fork: Metadata " in result.out
    assert result.out.endswith("\n4 migrated, 16 declared and 2 exempt; 42 files would change.\n")
    result = kiplint("migrate", "kip-1313", ".", "--dry-run", "--output-format", "json", cwd=broker)
    assert {rpc["directory"] for rpc in json.loads(result.out)["rpcs"]} == {"clients", "fork"}
    result = kiplint("migrate", "kip-1313", "clients/LeaderAndIsrRequest.json", cwd=broker)
    assert (result.code, result.out) == (0, "1 dead; 0 files changed.\n")
    result = kiplint("migrate", "bump", "clients/MetadataRequest.json", "--set", "clients", cwd=broker)
    assert result.err == "error: there is no RPC clients/MetadataRequest.json\n"
    assert contents(broker) == before


def test_a_bump_passes_check(broker: Path) -> None:
    bump = ("migrate", "bump", "--set", "clients")
    result = kiplint(*bump, "Metadata", "--note", "two\nlines\u2028and more", "--unstable", cwd=broker)
    assert (result.code, result.out.splitlines()[-1]) == (0, "1 migrated; 2 files changed.")
    assert "9-14: 2" in result.out  # the header of the new version too
    assert b"// Version 14 two lines and more\n" in (broker / "clients" / "MetadataRequest.json").read_bytes()
    assert kiplint("check", "clients", cwd=broker).code == 0
    result = kiplint(*bump, "SaslHandshake", cwd=broker)
    assert result.code == 1
    assert "it is frozen at versions 0-1" in result.out


def test_only_declare_and_fix_pass_the_rule_that_wants_it(broker: Path) -> None:
    (broker / "kiplint.toml").write_text('[rules."kip-1313/header-missing".params]\nrequire = true\n')
    before = contents(broker / "clients")
    assert kiplint("check", "clients", cwd=broker).code == 1
    assert kiplint("migrate", "kip-1313", "clients", "--only-declare", cwd=broker).code == 0
    assert kiplint("check", "clients", cwd=broker).code == 0
    after = contents(broker / "clients")
    for name, data in before.items():
        (broker / "clients" / name).write_bytes(data)
    assert kiplint("check", "clients", "--fix", cwd=broker).code == 0
    assert contents(broker / "clients") == after


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # the other thread is xdist's
@pytest.mark.parametrize("renames", [0, 1, 12, 20])
def test_a_migration_that_is_killed_leaves_old_or_new_bytes_and_is_finished(broker: Path, renames: int) -> None:
    here, fresh = broker / "clients", broker / "fresh"
    shutil.copytree(here, fresh)
    migrate_kip_1313(fresh)
    original, final = contents(here), contents(fresh)

    def kill(event: str, args: tuple[object, ...]) -> None:
        nonlocal renames
        if event == "os.rename":
            renames -= 1
            if renames < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if not child:
        sys.addaudithook(kill)
        try:
            migrate_kip_1313(here)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    now = {name: data for name, data in contents(here).items() if name.endswith(".json")}
    assert sum(now[name] != original[name] for name in original) == renames
    assert {name for name, data in now.items() if data not in (original[name], final[name])} == set()
    migrate_kip_1313(here)
    assert {name: data for name, data in contents(here).items() if name.endswith(".json")} == final


def test_a_patch_is_no_report(here: Path) -> None:
    result = kiplint("check", "--diff", "--output-format", "sarif", cwd=here)
    text = "error: --diff prints a patch instead of a report; remove --output-format\n"
    assert result == (2, "", text)


def test_a_patch_names_files_as_git_and_patch_take_them(here: Path, tmp_path: Path) -> None:
    """From a directory beside, of a revision, and with a blank in the name."""
    inner = here / "of them"
    inner.mkdir()
    (here / "beside").mkdir()
    (here / "XData.json").rename(inner / "XData.json")
    make_repository(here, {})
    before = (inner / "XData.json").read_bytes()
    for where, name in (("beside", "../of them"), (".", "HEAD:"), ("beside", "HEAD:of them")):
        patch = kiplint("check", name, "--diff", cwd=here / where).out
        assert patch.startswith("--- a/of them/XData.json\t\n+++ b/of them/XData.json\t\n"), name
        for tool in (["git", "apply", "-"], ["patch", "-p1", "--binary", "--silent"]):
            (inner / "XData.json").write_bytes(before)
            subprocess.run(tool, cwd=here, input=patch.encode(), check=True)
            assert (inner / "XData.json").read_bytes() == CLEAN


def test_a_migration_in_steps_ends_where_a_whole_one_does(broker: Path) -> None:
    original = contents(broker / "clients")
    shutil.copytree(broker / "clients", broker / "before")
    kiplint("migrate", "kip-1313", "clients", cwd=broker)
    whole = contents(broker / "clients")
    for name, data in original.items():
        (broker / "clients" / name).write_bytes(data)
    for step, text in (
        (("--only", "OffsetDelete"), "1 done, 8 missing, 1 exempt and 1 dead"),
        (("--except-telemetry",), "7 done, 2 missing, 1 exempt and 1 dead"),
        ((), "9 done, 1 exempt and 1 dead"),
    ):
        assert kiplint("migrate", "kip-1313", "clients", *step, cwd=broker).code == 0
        assert text in kiplint("rollout", "before", "clients", cwd=broker).out
    assert contents(broker / "clients") == whole
