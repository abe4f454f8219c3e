"""`kiplint review`: what a change brings and breaks, an entry for each cause, and nothing for what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplint import review
from kiplint.commands.review import ReviewDocument
from kiplint.compat.base import Base, find_base
from kiplint.engine.errors import UsageError
from kiplint.sources.schema_files import SourceError
from sources.support import git, make_repository, write
from tools import complaint, definition, expanding, field, kiplint

NOTE = b"// Version 1 is like version 0.\n"


def definition_of(suffix: str, *fields: dict[str, Any], name: str = "Thing", key: int = 1, **others: Any) -> bytes:
    """A request or a response with an id, and more fields."""
    listeners = {"listeners": ["broker"]} if suffix == "Request" else {}
    common = {"type": suffix.lower(), "apiKey": key, "validVersions": "0-1", "flexibleVersions": "0+", **listeners}
    id_field = field("Id", "int32", about="Which thing.")
    return NOTE + definition(id_field, *fields, name=f"{name}{suffix}", **{**common, **others}) + b"\n"


def things(*fields: dict[str, Any], **others: Any) -> dict[str, bytes]:
    """A request, and a response with more fields."""
    return {
        "schemas/ThingRequest.json": definition_of("Request"),
        "schemas/ThingResponse.json": definition_of("Response", *fields, **others),
    }


OLD = field("Old", "int63", about="An old mistake.")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, a repository whose one commit, the release 1.0.0, has an old mistake."""
    make_repository(tmp_path / "work", things(OLD))
    for name in ("GITHUB_BASE_REF", "GITHUB_SHA", "CHANGE_TARGET", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def commit(where: Path, files: Mapping[str, bytes]) -> None:
    write(where, files)
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "change")


def entries(**options: Any) -> list[tuple[str, str]]:
    """The rules of the entries of a review, and what they break."""
    return [(entry.rule, entry.breaks) for entry in review(**options).findings]


SIZE = field("Size", "int64", about="How large.")


RESPONSE = things(OLD)["schemas/ThingResponse.json"]
TAGGED = {"tag": 0, "taggedVersions": "0+"}


@pytest.mark.parametrize(
    ("files", "expected", "additions"),
    [
        ({"schemas/ThingResponse.json": b"// Another comment.\n" + RESPONSE}, [], []),
        ({"schemas/ThingResponse.json": RESPONSE.replace(b'  "type"', b'    "type"')}, [], []),
        ({"README.md": b"Nothing about schemas."}, [], []),
        (things(OLD | {"about": "An older mistake."}), [], []),
        (things(OLD, SIZE | TAGGED), [], ["compat/new-tag"]),
        (
            things(OLD, SIZE | {"about": ""}),
            [("compat/layout-changed", "wire"), ("style/about-missing", "none")],
            [],
        ),
    ],
)
def test_what_a_change_brings_and_breaks(
    checkout: Path, files: dict[str, bytes], expected: list[tuple[str, str]], additions: list[str]
) -> None:
    write(checkout, files)
    result = review()
    assert [(entry.rule, entry.breaks) for entry in result.findings] == expected
    assert [change.rule for change in result.additions] == additions
    assert (result.older, result.status) == (1, "findings" if expected else "ok")


def test_a_message_that_cannot_be_compared_does_not_hide_the_changes_of_others(checkout: Path) -> None:
    large: dict[str, Any] = {"name": "LargeRequest", "apiKey": 8}
    commit(checkout, {"schemas/LargeRequest.json": expanding(**large)})
    result = kiplint("review", "--base", "HEAD", "--output-format", "concise", cwd=checkout)
    assert result.code == 0
    write(checkout, things(OLD, SIZE) | {"schemas/LargeRequest.json": expanding("int64", **large)})
    result = kiplint("review", "--base", "HEAD", "--output-format", "concise", cwd=checkout)
    assert (result.code, [line.split(" ")[2] for line in result.out.splitlines()]) == (
        2,
        ["compat/not-compared", "compat/layout-changed"],
    )


def test_two_sets_with_one_rpc_are_two_places_to_correct(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(checkout, {name.replace("schemas", "copy"): data for name, data in things(OLD).items()})
    broken = definition_of("Request", SIZE)
    write(checkout, {f"{directory}/ThingRequest.json": broken for directory in ("copy", "schemas")})
    (checkout / "schemas/ThingResponse.json").unlink()  # which its request, in the same set, explains
    monkeypatch.chdir(checkout / "copy")
    assert [(entry.rule, entry.path) for entry in review(base="HEAD").findings] == [
        ("rpc/response-missing", "../schemas/ThingRequest.json"),
        ("compat/layout-changed", "../copy/ThingRequest.json"),
        ("compat/layout-changed", "../schemas/ThingRequest.json"),
    ]


def test_the_advice_about_a_new_field_leads_to_a_true_comment(checkout: Path) -> None:
    commit(checkout, things())
    write(checkout, things(SIZE))
    (entry,) = review(base="HEAD").findings
    assert entry.help == 'give Size "versions": "2+", then run `kiplint migrate bump Thing`'
    write(checkout, things(SIZE | {"versions": "2+"}))
    assert kiplint("migrate", "bump", "Thing", cwd=checkout).code == 0
    assert "// Version 2 adds Size.\n" in (checkout / "schemas/ThingResponse.json").read_text()
    assert review(base="HEAD").status == "ok"


def test_a_moved_file_is_moved(checkout: Path) -> None:
    git(checkout, "mv", "schemas", "messages")
    assert entries() == []
    assert entries(base="none") == [("fields/unknown-type", "none")]


def test_the_proof_of_changes_of_the_same_versions_is_shown_once(checkout: Path) -> None:
    request = definition_of("Request").replace(b"Id", b"Name").replace(b"int32", b"string")
    write(checkout, {"schemas/ThingRequest.json": request})  # one field is gone, and another one is new
    for form in ("text", "markdown"):
        text = kiplint("review", "--output-format", form, cwd=checkout).out
        lines = [line for line in text.splitlines() if " writes version " in line]
        assert len(lines) == len({*lines}) == 2


@pytest.mark.parametrize("path", [".", "schemas"])
def test_definitions_that_are_all_gone_are_missed(checkout: Path, path: str) -> None:
    for file in (checkout / "schemas").iterdir():
        file.unlink()
    result = review(path)
    assert {(entry.rule, entry.breaks) for entry in result.findings} == {("compat/message-removed", "support")}
    assert review(path, rollout="always").findings


def test_what_two_paths_have_is_old_once(checkout: Path) -> None:
    """Copies of old mistakes are new, as the base has them once, whatever paths lead there."""
    write(checkout, {f"copies/{name.partition('/')[2]}": data for name, data in things(OLD).items()})
    one, two = (review(*paths) for paths in (["."], [".", "schemas"]))
    assert [finding.rule for finding in one.findings] == ["fields/unknown-type"]
    assert [finding.rule for finding in two.findings] == ["fields/unknown-type"]


@pytest.mark.parametrize("paths", [(".", "schemas"), ("schemas/ThingResponse.json", "./schemas", "schemas")])
def test_a_path_that_is_named_twice_is_compared_once(checkout: Path, paths: tuple[str, ...]) -> None:
    write(checkout, things(OLD, SIZE | TAGGED))
    assert [change.rule for change in review(*paths).additions] == ["compat/new-tag"]


def test_what_fails(checkout: Path) -> None:
    write(checkout, things(OLD, SIZE | {"about": ""}))
    assert review(fail_on_breaks=["storage"], fail_on="warning").status == "findings"
    assert review(fail_on="never").status == "ok"


def test_one_entry_for_a_cause(checkout: Path) -> None:
    """That the response was not bumped is found by check and by diff."""
    write(checkout, {"schemas/ThingRequest.json": definition_of("Request", validVersions="0-2")})
    (entry,) = (entry for entry in review().findings if entry.severity == "error")
    assert (entry.rule, entry.breaks) == ("rpc/versions-differ", "support")
    assert [also.rule for also in entry.also] == ["compat/response-not-bumped"]


def test_unsafe_fixes_are_left_to_check(checkout: Path) -> None:
    write(checkout, things(OLD, SIZE | TAGGED | {"versions": "0-4"}))
    step = "`kiplint check --base HEAD --fix --unsafe-fixes`"
    assert review(base="HEAD").fix_hint == f"1 fixable with {step} (review the result)."
    names = ("check", "schemas", "--base", "HEAD", "--fix", "--unsafe-fixes")
    assert kiplint(*names, cwd=checkout).code == 0
    assert entries() == []


def test_only_what_the_change_brought_is_fixed(checkout: Path) -> None:
    file = checkout / "schemas/ThingResponse.json"
    sizes, old = (field(name, "int64[]", about="How large.", tag=0, taggedVersions="0+") for name in ("Sizes", "Old"))
    commit(checkout, {"schemas/OldResponse.json": definition_of("Response", old, name="Old", key=2), **things(OLD)})
    write(checkout, things(OLD, sizes))
    before = (checkout / "schemas/OldResponse.json").read_bytes()
    assert review(base="HEAD").fix_hint == "1 fixable with `kiplint review --fix`."
    assert [entry.rule for entry in review(base="HEAD", fix=True).findings] == []
    assert b'"[]int64"' in file.read_bytes()
    assert (checkout / "schemas/OldResponse.json").read_bytes() == before


def test_infos_are_counted(checkout: Path) -> None:
    write(checkout, things(OLD, SIZE | {"about": "", "versions": "0+", "tag": 0, "taggedVersions": "0+"}))
    output = kiplint("review", cwd=checkout).out
    assert output.splitlines()[-1].endswith("; --all lists the infos. `kiplint explain RULE` explains a rule.")
    assert "about-missing" not in output
    assert "style/about-missing" in kiplint("review", "--output-format", "concise", cwd=checkout).out


def test_a_fix_touches_only_files_of_the_change(tmp_path: Path) -> None:
    """Once a message declares its headers all have to; that is no fix of this change, but a command for the set."""
    files = {
        f"schemas/{name}{suffix}.json": definition_of(suffix, name=name, key=key)
        for key, name in enumerate(("Thing", "Pause", "Resume"))
        for suffix in ("Request", "Response")
    }
    work = make_repository(tmp_path / "work", files)
    header = definition_of("Request", name="Resume", key=2, headerVersions={"0+": "2"})
    write(work, {"schemas/ResumeRequest.json": header.rstrip()[:-1].rstrip() + b",\n}\n"})
    result = kiplint("review", "--fix", "--output-format", "json", cwd=work)
    (finding,) = (item for item in json.loads(result.out)["findings"] if item["rule"] == "kip-1313/header-missing")
    assert (finding["path"], finding["fixable"]) == ("schemas/ResumeRequest.json", False)
    assert (
        finding["message"]
        == "ResumeRequest declares headerVersions, but PauseRequest and 4 other messages of this set do not"
    )
    assert finding["help"] == "in 5 files: run `kiplint migrate kip-1313 --only-declare schemas`"
    changed = git(work, "diff", "--name-only").split()
    assert changed == ["schemas/ResumeRequest.json"]
    assert (work / changed[0]).read_bytes() == header
    assert kiplint(*finding["help"].partition("`")[2].rstrip("`").split()[1:], cwd=work).code == 0
    rules = [
        item["rule"] for item in json.loads(kiplint("review", "--output-format", "json", cwd=work).out)["findings"]
    ]
    assert "kip-1313/header-missing" not in rules


def test_one_map_of_headers_gives_a_summary_that_is_read(tmp_path: Path) -> None:
    """The RPCs that lack headers are one line."""
    names = [f"Thing{key:02}" for key in range(60)]
    files = {
        f"schemas/{name}{suffix}.json": definition_of(suffix, name=name, key=key)
        for key, name in enumerate(names, 100)
        for suffix in ("Request", "Response")
    }
    work = make_repository(tmp_path / "work", files)
    first = "schemas/Thing40Request.json"
    write(work, {first: definition_of("Request", name="Thing40", key=140, headerVersions={"0+": "2"})})
    result = kiplint("review", "--output-format", "json", "--output-format", "markdown=summary.md", cwd=work)
    rules = [finding["rule"] for finding in json.loads(result.out)["findings"]]
    assert rules.count("kip-1313/header-missing") == 1
    summary = (work / "summary.md").read_text("utf-8")
    assert summary.count("\n") <= 60
    assert "\nKIP-1313: Request header 3: 59 missing and 1 wrong. `kiplint rollout` lists the RPCs.\n" in summary


class TestBase:
    """The revision that a review finds by itself."""

    def test_where_the_branch_left_the_default_branch(self, checkout: Path) -> None:
        git(checkout, "checkout", "-q", "-b", "topic")
        commit(checkout, things(OLD, SIZE))
        git(checkout, "checkout", "-q", "trunk")
        commit(checkout, {"README.md": b"Meanwhile."})
        git(checkout, "checkout", "-q", "topic")
        base = git(checkout, "rev-parse", "--short", "1.0.0")
        assert find_base() == Base(base, f"compared with {base}, the merge base with trunk")
        assert entries() == [("compat/layout-changed", "wire")]

    def test_a_branch_without_commits_of_its_own(self, checkout: Path) -> None:
        commit(checkout, things(OLD, SIZE))
        git(checkout, "checkout", "-q", "-b", "topic")
        assert find_base().note.endswith(", the merge base with trunk")
        assert entries() == []

    def test_a_symbolic_name_is_resolved(self, checkout: Path) -> None:
        git(checkout, "update-ref", "refs/remotes/origin/trunk", "HEAD")
        git(checkout, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        git(checkout, "checkout", "-q", "-b", "topic")
        commit(checkout, things(OLD, SIZE))
        assert find_base().note.endswith(", the merge base with origin/trunk")

    def test_the_commit_before_on_the_default_branch(self, checkout: Path) -> None:
        assert find_base().note.endswith(", the only commit")
        commit(checkout, {"README.md": b"One more."})
        assert find_base().note.endswith(", the commit before HEAD")

    def test_the_branch_of_a_pull_request(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        git(checkout, "checkout", "-q", "-b", "topic")
        commit(checkout, things(OLD, SIZE))
        git(checkout, "checkout", "-q", "--detach", "trunk")
        git(checkout, "merge", "-q", "--no-ff", "-m", "merge", "topic")
        monkeypatch.setenv("GITHUB_SHA", git(checkout, "rev-parse", "HEAD"))
        assert find_base().note.endswith(", the target branch of the pull request")
        git(checkout.parent, "clone", "-q", "--depth=1", f"file://{checkout}", "shallow")
        monkeypatch.chdir(checkout.parent / "shallow")
        with pytest.raises(
            UsageError, match=r"^the clone lacks the target branch .* git fetch --depth=1 origin [0-9a-f]{40};"
        ):
            find_base()

    def test_a_rebase_makes_a_commit_on_head(self, checkout: Path) -> None:
        git(checkout, "checkout", "-q", "-b", "topic")
        commit(checkout, things(OLD, SIZE))
        commit(checkout, {"README.md": b"Ours."})
        git(checkout, "checkout", "-q", "trunk")
        commit(checkout, {"README.md": b"Theirs."})
        git(checkout, "checkout", "-q", "topic")
        assert entries() == [("compat/layout-changed", "wire")]
        assert git(checkout, "rebase", "trunk", fails=True)
        assert find_base() == Base("HEAD", "compared with HEAD, to which a rebase or a cherry-pick adds a commit")
        assert entries() == []

    def test_a_cherry_pick_makes_a_commit_on_head(self, checkout: Path) -> None:
        git(checkout, "checkout", "-q", "-b", "topic")
        commit(checkout, things(OLD, SIZE) | {"README.md": b"Ours."})
        git(checkout, "checkout", "-q", "-b", "other", "trunk")
        commit(checkout, {"README.md": b"Theirs."})
        assert git(checkout, "cherry-pick", "topic", fails=True)
        assert find_base().revision == "HEAD"
        assert entries() == [("compat/layout-changed", "wire")]

    def test_mistakes(self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(SourceError, match="no such revision: nowhere"):
            review(base="nowhere")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="not in a git repository"):
            review()
        with pytest.raises(SourceError, match="no such file or directory: nowhere"):
            review("nowhere", base="none")


def test_a_path_that_the_base_lacks(checkout: Path) -> None:
    write(checkout, {"schemas/OtherRequest.json": definition_of("Request", name="Other", key=2), **things(OLD, SIZE)})
    result = review("schemas/OtherRequest.json", "schemas/ThingResponse.json", base="1.0.0")
    assert [entry.rule for entry in result.findings] == ["rpc/response-missing", "compat/layout-changed"]
    assert "schemas/OtherRequest.json is not in 1.0.0, so there is nothing to compare it with" in result.notes


def test_the_rollout_is_a_remark_or_findings(checkout: Path) -> None:
    request, response = (
        definition_of("Request", headerVersions={"0+": "2"}),
        definition_of("Response", OLD, headerVersions={"0+": "1"}),
    )
    commit(checkout, {"schemas/ThingRequest.json": request, "schemas/ThingResponse.json": response})
    result = review(base="1.0.0")
    assert (result.findings, [row.status for row in result.rollout]) == ((), ["missing"])
    assert entries(base="1.0.0", rollout="always") == [("kip-1313/v3-missing", "none")]


PACK = """{ pack: "mine", title: "Mine.", rules: [
  { id: "no-size", each: "field", expect: "name != 'Size'", message: "no {name}", why: "It is too small." }
]}
"""
BASELINE = '{"version": 1, "checked": ["schemas"], "findings": []}'
SETTINGS: dict[str, bytes] = {
    "kiplint.toml": b'rule-packs = ["mine.json5"]\nbaseline = "known.json"\n',
    "mine.json5": PACK.encode(),
    "known.json": BASELINE.encode(),
    "pyproject.toml": b'[project]\nname = "x"\n',
}
CONFIG_CHANGED = "review/configuration-changed"


@pytest.fixture
def project(checkout: Path) -> Path:
    """The same, with a configuration, and a change after it that breaks the rule of its pack."""
    commit(checkout, SETTINGS)
    write(checkout, things(OLD, SIZE))
    return checkout


def findings_with(files: Mapping[str, bytes], **options: Any) -> list[tuple[str, str, str]]:
    """The rules, severities and paths of the entries of a review with these files."""
    write(Path(), files)
    result = review("schemas", **{"base": "HEAD", **options})
    return [(entry.rule, entry.severity, entry.path) for entry in result.findings]


MINE = ("mine/no-size", "error", "schemas/ThingResponse.json")


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ({}, []),
        ({"kiplint.toml": b'ignore = ["*"]'}, ["kiplint.toml"]),
        ({"kiplint.toml": b"# A comment.\n" + SETTINGS["kiplint.toml"]}, []),
        ({"schemas/kiplint.toml": b'ignore = ["*"]'}, ["schemas/kiplint.toml"]),
        ({"schemas/.kiplint.toml": b"exclude = 1"}, ["schemas/.kiplint.toml"]),
        ({"schemas/pyproject.toml": b"[tool.kiplint]\nignore = ['mine']"}, ["schemas/pyproject.toml"]),
        ({"pyproject.toml": b"[tool.other]\nx = 1"}, []),
        ({"mine.json5": b'{ pack: "mine", title: "Mine.", rules: [] }'}, ["mine.json5"]),
        ({"known.json": b"{}"}, ["known.json"]),
        ({"known.json": BASELINE.replace("\n", "\r\n").encode()}, []),
    ],
)
def test_a_change_does_not_decide_how_it_is_reviewed(
    project: Path, files: dict[str, bytes], changes: list[str]
) -> None:
    assert findings_with(files) == [MINE, *((CONFIG_CHANGED, "warning", path) for path in changes)]


def test_a_configuration_that_is_gone(project: Path) -> None:
    for name in SETTINGS:
        (project / name).unlink()
    names = ("kiplint.toml", "mine.json5", "known.json")
    assert findings_with({}) == [MINE, *((CONFIG_CHANGED, "warning", name) for name in names)]


def test_the_head_is_trusted_on_request(project: Path) -> None:
    files = {"schemas/kiplint.toml": b'ignore = ["*"]'}
    assert findings_with(files, trust_head=True) == [(CONFIG_CHANGED, "warning", "schemas/kiplint.toml")]
    result = review("schemas", base="HEAD", trust_head=True)
    assert (
        result.findings[0].message == "the change sets values that differ from those of HEAD, which this review trusts"
    )
    assert findings_with(files, base="none") == []


def test_a_configuration_that_is_a_link_of_the_base(checkout: Path) -> None:
    (checkout / "kiplint.toml").symlink_to("shared/lint.toml")
    commit(checkout, {"shared/lint.toml": b'[severity]\n"fields/unknown-type" = "info"\n', **things()})
    with pytest.raises(
        UsageError, match=r"kiplint.toml: it is a symbolic link in HEAD, which is not followed; --trust-head"
    ):
        review("schemas", base="HEAD")


def test_a_configuration_that_the_base_lacks(checkout: Path) -> None:
    write(checkout, {"other.toml": b""})
    with pytest.raises(UsageError, match=r"^cannot read the configuration other.toml: it is not in HEAD; --trust-head"):
        review("schemas", base="HEAD", config="other.toml")
    assert review("schemas", base="HEAD", config="other.toml", trust_head=True).findings == ()


def test_the_command(checkout: Path) -> None:
    """Its JSON is that of its schema, and an option says how to name a base."""
    write(checkout, things(OLD, SIZE))
    result = kiplint("review", "--output-format", "json", cwd=checkout)
    document = msgspec.json.decode(result.out, type=ReviewDocument)
    assert (result.code, [entry.rule for entry in document.findings]) == (1, ["compat/layout-changed"])
    assert json.loads(result.out)["summary"]["breaks"] == {"wire": 1}
    text = kiplint("review", cwd=checkout)
    assert text.err.splitlines()[0].endswith(", the only commit")
    assert ", compared with " in text.out.splitlines()[-1]
    clean = kiplint("review", "--base", "none", "--ignore", "fields", cwd=checkout)
    assert (clean, clean.closing) == ((0, "", ""), "2 files checked, no findings\n")
    assert "; name one with --base REV" in kiplint("review", cwd=checkout.parent).err
    assert kiplint("review", "1.0.0", cwd=checkout).err == (
        "error: no such file or directory: 1.0.0; to compare with a revision, use --base REV\n"
    )


class TestMerge:
    """A fork merges its upstream: of the merge counts what neither side has."""

    OURS = field("Fork", "int16", about="The fork's.")

    @pytest.fixture
    def fork(self, checkout: Path) -> Path:
        """On `trunk`, which has a field of the fork in a released version; `upstream` has another message broken."""
        write(checkout, {name.replace("Thing", "Other"): data for name, data in others().items()})
        commit(checkout, {})
        git(checkout, "tag", "-f", "1.0.0")
        git(checkout, "checkout", "-q", "-b", "upstream")
        commit(
            checkout,
            others(SIZE)
            | {"schemas/BadRequest.json": definition_of("Request", field("Bad", "int3"), name="Bad", key=9)},
        )
        git(checkout, "checkout", "-q", "trunk")
        commit(checkout, things(OLD, self.OURS))
        git(checkout, "merge", "-q", "--no-commit", "upstream")
        return checkout

    def test_in_progress(self, fork: Path) -> None:
        upstream = git(fork, "rev-parse", "--short", "upstream")
        assert find_base() == Base("HEAD", f"compared with both sides of the merge, HEAD and {upstream}", (upstream,))
        for base in (None, "HEAD", "hook"):
            assert entries(base=base) == []
        write(fork, others(SIZE, SIZE | {"name": "Third"}))
        assert entries() == [("compat/layout-changed", "wire")]
        assert entries(base="1.0.0") != entries()

    def test_as_head(self, fork: Path) -> None:
        git(fork, "commit", "-q", "-m", "merge")
        assert entries() == []
        assert find_base().merged
        assert [rule for rule, _ in entries(base="HEAD~1")] != []  # an explicit base is one side

    def test_a_mix_of_fields_is_a_layout_that_neither_side_has(self, fork: Path) -> None:
        git(fork, "commit", "-q", "-m", "merge")
        git(fork, "checkout", "-q", "-b", "topic", "upstream")
        commit(fork, things(OLD, SIZE))
        git(fork, "checkout", "-q", "trunk")
        assert git(fork, "merge", "-q", "topic", fails=True)
        commit(fork, things(OLD, self.OURS, SIZE))
        assert entries() == [("compat/layout-changed", "wire")]

    @pytest.fixture
    def request_of_fork(self, fork: Path) -> Path:
        """HEAD is a merge commit with the target branch as its first side, as CI servers make it of a request."""
        git(fork, "commit", "-q", "-m", "merge")
        git(fork, "update-ref", "refs/remotes/origin/trunk", "HEAD~1")
        git(fork, "update-ref", "refs/remotes/apache/trunk", "upstream")
        git(fork, "checkout", "-q", "--detach")
        return fork

    @pytest.mark.parametrize("target", ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET"])
    def test_a_request_does_not_hide_what_it_merges(
        self, request_of_fork: Path, monkeypatch: pytest.MonkeyPatch, target: str
    ) -> None:
        assert entries() == []
        monkeypatch.setenv(target, "trunk")
        assert entries(base="hook") == entries() == entries(base="origin/trunk") != []

    def test_a_request_may_merge_what_upstream_has(self, request_of_fork: Path) -> None:
        commit(request_of_fork, {"README.md": b"One more commit."})
        assert entries(base="origin/trunk", upstream="origin/trunk") == entries(base="origin/trunk") != []
        assert entries(base="origin/trunk", upstream="apache/trunk") == []
        result = kiplint("review", "--base", "origin/trunk", "--upstream", "apache/trunk", cwd=request_of_fork)
        merged = git(request_of_fork, "rev-parse", "--short", "upstream")
        note = f"compared with origin/trunk; what {merged} of apache/trunk has is not reported\n"
        assert (result.code, result.err.startswith(note)) == (0, True)
        commit(request_of_fork, things(OLD, SIZE))
        assert ("compat/layout-changed", "wire") in entries(base="origin/trunk", upstream="apache/trunk")

    def test_mistakes_in_upstream(self, fork: Path) -> None:
        git(fork, "checkout", "-q", "-f", "--orphan", "other")
        git(fork, "commit", "-q", "-m", "first")
        for upstream, problem in (
            ("nothing", "--upstream nothing: no such revision; fetch it"),
            ("--all", "--upstream --all: no such revision; fetch it"),
            ("trunk", "HEAD and trunk have no common commit in this clone; git fetch --unshallow"),
        ):
            assert complaint(partial(review, base="HEAD", upstream=upstream)) == problem

    def test_what_a_merge_drops_of_the_fork_is_reported(self, fork: Path) -> None:
        """Upstream never had it, so that the merge agrees with upstream is no excuse."""
        git(fork, "merge", "--abort")
        commit(fork, {"schemas/MineRequest.json": definition_of("Request", SIZE, name="Mine", key=77)}
            | {"schemas/MineResponse.json": definition_of("Response", name="Mine", key=77)})  # fmt: skip
        git(fork, "tag", "-f", "1.0.0")
        git(fork, "merge", "-q", "--no-commit", "upstream")
        assert entries() == []
        write(fork, {"schemas/MineRequest.json": definition_of("Request", name="Mine", key=77)})
        assert entries() == [("compat/layout-changed", "wire")]
        for name in ("schemas/MineRequest.json", "schemas/MineResponse.json"):
            git(fork, "rm", "-q", "-f", name)
        assert [rule for rule, _ in entries()] == ["compat/message-removed"]
        git(fork, "commit", "-q", "-m", "merge")
        assert [rule for rule, _ in entries()] == ["compat/message-removed"]
        git(fork, "tag", "-d", "1.0.0")
        git(fork, "update-ref", "refs/remotes/upstream/trunk", "upstream")
        assert [rule for rule, _ in entries()] == ["compat/message-removed"]
        git(fork, "branch", "-m", "feature")  # not the main branch of a fork
        assert find_base().note.endswith(", the merge base with upstream/trunk")
        git(fork, "update-ref", "refs/remotes/origin/main", "HEAD~1")
        assert [rule for rule, _ in entries(base="hook")] == ["compat/message-removed"]

    def test_upstream_s_configuration_is_no_change_of_the_merge(self, fork: Path) -> None:
        git(fork, "merge", "--abort")
        git(fork, "checkout", "-q", "upstream")
        commit(fork, {"kiplint.toml": b'fail-on = "warning"'})
        git(fork, "checkout", "-q", "trunk")
        git(fork, "merge", "-q", "--no-commit", "upstream")
        assert entries() == []
        write(fork, {"kiplint.toml": b'fail-on = "never"'})
        assert entries() == [("review/configuration-changed", "none")]


def others(*fields: dict[str, Any]) -> dict[str, bytes]:
    """A second request and response; the response has more fields."""
    return {
        "schemas/OtherRequest.json": definition_of("Request", name="Other", key=2),
        "schemas/OtherResponse.json": definition_of("Response", *fields, name="Other", key=2),
    }


def test_a_sparse_checkout_changes_no_configuration(checkout: Path) -> None:
    generator = "generator/src/main/java/org/apache/kafka/message/EntityType.java"
    commit(checkout, {generator: b'enum EntityType { @JsonProperty("thing") THING(null); }'})
    git(checkout, "sparse-checkout", "set", "schemas")
    assert not (checkout / generator).exists()
    assert entries(base="HEAD") == []
    git(checkout, "sparse-checkout", "disable")
    (checkout / generator).unlink()
    assert entries(base="HEAD") == [("review/configuration-changed", "none")]


def test_a_sparse_checkout_removes_no_definition(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(
        checkout, {name.replace("schemas", f"{copy}/set"): data for name, data in things(OLD).items() for copy in "ab"}
    )
    git(checkout, "sparse-checkout", "set", "schemas", "a")
    assert not (checkout / "b").exists()
    write(checkout, things(OLD, SIZE))
    monkeypatch.chdir(checkout / "a")
    assert entries(base="HEAD") == [("compat/layout-changed", "wire")]
    git(checkout, "rm", "-q", "-r", "a/set")
    git(checkout, "rm", "-q", "-r", "--sparse", "--cached", "b/set")
    removed = [("compat/message-removed", "support")] * 2
    monkeypatch.chdir(checkout)
    assert sorted(entries(base="HEAD")) == [("compat/layout-changed", "wire"), *removed]


@pytest.mark.parametrize("target", ["real", "../outside"])
@pytest.mark.parametrize("path", ["schemas", "schemas/ThingResponse.json", "schemas/."])
def test_a_link_does_not_choose_what_is_compared(checkout: Path, target: str, path: str) -> None:
    """`git mv schemas real; ln -s clean schemas` would compare nothing."""
    git(checkout, "mv", "schemas", "real")
    write(checkout.parent / "outside", {name.partition("/")[2]: data for name, data in things().items()})
    (checkout / "schemas").symlink_to(target)
    result = kiplint("review", path, cwd=checkout)
    assert (result.code, result.out) == (2, "")
    problem = (
        "leads through the symbolic link schemas, so it cannot be compared; --base none checks it without comparing"
    )
    assert result.err == f"error: {path} {problem}\n"
    assert kiplint("review", path, "--base", "none", cwd=checkout).code != 2


def test_a_link_before_two_dots_does_not_choose_what_is_compared(checkout: Path) -> None:
    commit(checkout, {"clients/README.md": b"A neighbour."})
    write(checkout, {"decoy/clients/x": b"", **{f"decoy/{name}": data for name, data in things().items()}})
    git(checkout, "rm", "-q", "-r", "clients")
    (checkout / "clients").symlink_to("decoy/clients")
    result = kiplint("review", "clients/../schemas", "--base", "HEAD", cwd=checkout)
    problem = "clients/../schemas leads through the symbolic link clients, so it cannot be compared"
    assert (result.code, result.err.partition(";")[0]) == (2, f"error: {problem}")


def _link_folder(checkout: Path) -> None:
    git(checkout, "mv", "schemas", "real")
    (checkout / "schemas").symlink_to("real")


def _link_files(checkout: Path) -> None:
    for suffix in ("Request", "Response"):
        git(checkout, "mv", f"schemas/Thing{suffix}.json", f"schemas/Thing{suffix}.txt")
        (checkout / f"schemas/Thing{suffix}.json").symlink_to(f"Thing{suffix}.txt")


def _submodule(checkout: Path) -> None:
    git(checkout, "rm", "-q", "-r", "schemas")
    make_repository(checkout / "schemas", {name.partition("/")[2]: data for name, data in things(SIZE).items()})


@pytest.mark.parametrize(
    ("replace", "problem"),
    [
        (_link_folder, "schemas is a symbolic link now"),
        (_link_files, "schemas/ThingRequest.json is a symbolic link now"),
        (_submodule, "schemas is another repository now"),
    ],
)
def test_what_replaces_a_definition_does_not_hide_it(
    checkout: Path, replace: Callable[[Path], None], problem: str
) -> None:
    """Its changes would count as a removal, which is a warning."""
    replace(checkout)
    result = kiplint("review", "--base", "HEAD", cwd=checkout)
    hint = "so it cannot be compared; --base none checks it without comparing"
    assert (result.code, result.out, result.err) == (2, "", f"error: {problem}, {hint}\n")
    commit(checkout, {})
    assert kiplint("review", "--base", "HEAD", cwd=checkout).code != 2
