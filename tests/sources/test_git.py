"""Sets out of git revisions."""

from __future__ import annotations

import os
import shutil
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kiplint.limits import GIT_OBJECTS, Limit
from kiplint.pipeline.commits import read_folders
from kiplint.sources import repository as sources_repository
from kiplint.sources.open import open_sets
from kiplint.sources.repository import HERE, open_repository
from kiplint.sources.schema_files import SourceError
from sources.support import GOOD, commit, error, git, make_repository, paths, sets, write
from tools import kiplint

MESSAGE = "clients/message"
BOTH = [f"1.0.0:{MESSAGE}/ARequest.json", f"1.0.0:{MESSAGE}/AResponse.json"]


def test_whole_revision(kafka: Path) -> None:
    first, second = sets("1.0.0:")
    assert (first.directory, first.relative) == (f"1.0.0:{MESSAGE}", MESSAGE)
    assert [(file.path, file.data, file.is_reported) for file in first.files] == [(path, GOOD, True) for path in BOTH]
    assert (second.directory, second.relative, len(second.files)) == ("1.0.0:metadata", "metadata", 1)
    for revision in ("trunk", "HEAD~0", "1.0.0^{commit}", "HEAD@{2024-01-01 10:00:00}", "HEAD^{/fix: a colon}"):
        assert paths(f"{revision}:{MESSAGE}/ARequest.json") == [f"{revision}:{MESSAGE}/ARequest.json"]


def test_links_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "links", {"set/ARequest.json": GOOD, "links/README": b""})
    for folder in ("set", "links"):
        (top / folder / "Link.json").symlink_to("../set/ARequest.json")
    (top / "below").symlink_to("set")
    commit(top, {}, "2.0.0")
    monkeypatch.chdir(top)
    (whole,), (beside,) = sets("HEAD:"), sets("HEAD:set/ARequest.json")
    assert [file.path for file in (*whole.files, *beside.files)] == ["HEAD:set/ARequest.json"] * 2
    assert whole.links == ("HEAD:links/Link.json", "HEAD:set/Link.json")
    assert error("HEAD:links") == "nothing to check: no message definition in HEAD:links; links are not followed"
    assert error("HEAD:set/Link.json") == "cannot read HEAD:set/Link.json: it is a symbolic link"


def test_files_of_a_revision_are_one_set_with_their_siblings(kafka: Path) -> None:
    (alone,) = sets(BOTH[0])
    assert [(file.path, file.is_reported) for file in alone.files] == [(BOTH[0], True), (BOTH[1], False)]
    assert (alone.directory, alone.relative, alone.single_file) == (f"1.0.0:{MESSAGE}", "", False)
    assert paths(*BOTH) == BOTH
    assert sets("1.0.0:metadata/TopicRecord.json")[0].single_file
    write(kafka, {"HEAD:metadata": GOOD})
    assert paths("HEAD:metadata") == ["HEAD:metadata"]  # what exists comes before revisions


def test_exclusions_see_the_paths_of_the_work_tree(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(kafka / "metadata")
    folder = str(kafka / "clients")
    (open_set,) = open_sets(["1.0.0:"], lambda path: not path.startswith(folder)).sets
    assert open_set.relative == "metadata"
    assert open_sets([BOTH[0]], lambda path: not path.startswith(folder)).sets == ()


def test_variables_of_a_hook_count_where_it_stands_and_for_no_other_repository(
    kafka: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository(elsewhere / "other", {"B.json": GOOD})
    shutil.copy(other / ".git/index", elsewhere / "index")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere / "index"))
    write(other, {"C.json": GOOD})
    git(other, "add", "C.json")  # to the index of the repository, not to that of the hook
    assert paths(f"1.0.0:{MESSAGE}", repository=str(kafka)) == BOTH
    assert paths("1.0.0:") == ["1.0.0:B.json"]
    staged_names = [name for name in ("B.json", "C.json") if HERE.find(f":{name}")]
    assert staged_names == ["B.json"]
    assert open_repository(other).find(":C.json")


def tree_commit(where: Path, entries: bytes) -> str:
    """The id of a commit of a tree object that no `git add` would make."""
    tree = git(where, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=entries)
    return git(where, "commit-tree", tree, "-m", "odd")


def test_odd_entries_of_trees(kafka: Path) -> None:
    blob = bytes.fromhex(git(kafka, "rev-parse", f"HEAD:{MESSAGE}/ARequest.json"))
    tree = bytes.fromhex(git(kafka, "rev-parse", "HEAD:clients"))
    entries = b"".join(b"100644 " + name + b"\0" + blob for name in (b"..", b".", b"/etc/A.json", b"A.json"))
    entries += b"120000 L.json\0" + blob + b"160000 S.json\0" + blob + b"040000 T\0" + tree
    odd = tree_commit(kafka, entries)
    files = ["A.json", "T/message/ARequest.json", "T/message/AResponse.json"]
    assert paths(f"{odd}:") == [f"{odd}:{name}" for name in files]
    assert error(f"{odd}:L.json") == f"cannot read {odd}:L.json: it is a symbolic link"
    assert error(f"{odd}:S.json") == f"cannot read {odd}:S.json: it is a submodule"
    assert error(f"{odd}:A.json/x") == f"no such path in {odd}: A.json/x"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("1.0.1:", "no such revision: 1.0.1; did you mean 1.0.0?"),
        ("trunc~3:x", "no such revision: trunc~3; did you mean trunk?"),
        ("HEAD..trunk:", "no such revision: HEAD..trunk"),
        ("{{{{:", "no such file or directory: {{{{:"),
        ("1.0.0:clients/mesage", "no such path in 1.0.0: clients/mesage; did you mean clients/message?"),
        ("1.0.0:clients/mesage/X.json", "no such path in 1.0.0: clients/mesage/X.json"),
        ("1.0.0:/clients", None),
        ("--output=f:", "a revision cannot begin with a hyphen: --output=f:"),
        (":clients", "no such file or directory: :clients"),
        ("1.0.0:clients/message/README.md", None),
        ("C:/x", "no such file or directory: C:/x"),
        ("1.0.0", "no such file or directory: 1.0.0; for the revision, write 1.0.0:"),
    ],
)
def test_errors(kafka: Path, name: str, line: str | None) -> None:
    if line is None:
        assert sets(name)
    else:
        assert error(name) == line


def test_no_repository_no_commits_and_no_git(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert error("1.0.0:x") == f"not a git repository: {elsewhere}"
    assert error("release") == "no such file or directory: release"
    assert error("1.0.0:", repository="zzz") == "cannot read the repository zzz: No such file or directory"
    write(elsewhere, {"A.json": GOOD})
    assert error("1.0.0:", repository="A.json") == "neither a git repository nor a bundle: A.json"
    git(elsewhere, "init", "-q")
    assert error("HEAD:") == "no such revision: HEAD"
    monkeypatch.setenv("PATH", str(elsewhere))
    assert error("1.0.0:") == "revisions and bundles are read with git, which cannot run: No such file or directory"
    assert error("release") == "no such file or directory: release"


def test_shallow_clone(kafka: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", "--no-tags", kafka.as_uri(), "shallow")
    line = "no such revision: 7.7; the clone is shallow; run `git fetch --unshallow --tags`"
    assert error("7.7:", repository=str(tmp_path / "shallow")) == line


def test_damaged_repository(kafka: Path) -> None:
    odd = tree_commit(kafka, b"100644 A.json\0123")
    blob = git(kafka, "rev-parse", f"HEAD:{MESSAGE}/ARequest.json")
    tree = git(kafka, "rev-parse", "HEAD:metadata")
    for damaged in (blob, tree):
        (kafka / ".git/objects" / damaged[:2] / damaged[2:]).unlink()
    for name, missing in (("HEAD:clients", blob), ("HEAD:metadata", "HEAD:metadata"), (f"{odd}:", f"{odd}:")):
        start = f"the git repository {kafka} is damaged or partial: {missing} is not in it; kiplint fetches nothing"
        assert error(name).startswith(start)
    git(kafka, "config", "core.repositoryFormatVersion", "99")
    assert error("HEAD:", repository=str(kafka)) == (
        f"git cannot read the repository {kafka}: Expected git repo version <= 1, found 99"
    )


def test_an_object_with_the_bytes_of_another(kafka: Path) -> None:
    """Git does not verify what it reads, and what has this id elsewhere is not this."""
    blob = git(kafka, "rev-parse", f"HEAD:{MESSAGE}/ARequest.json")
    file = kafka / ".git/objects" / blob[:2] / blob[2:]
    file.unlink()
    file.write_bytes(zlib.compress(b"blob 2\0{}"))
    assert git(kafka, "cat-file", "blob", blob) == "{}"
    assert open_repository(str(kafka)).find(blob) is None
    assert f"{blob} is not in it" in error("HEAD:clients")


def test_too_much(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = git(kafka, "rev-parse", "HEAD:metadata")
    for _ in range(12):  # a tree without end
        entries = b"".join(b"40000 d%d\0" % at + bytes.fromhex(tree) for at in range(10))
        tree = git(kafka, "hash-object", "-t", "tree", "-w", "--stdin", stdin=entries)
    monkeypatch.setattr(sources_repository, "GIT_LISTING", Limit(5_000, "bytes in its list of files", "git"))
    assert error(f"{tree}:") == f"{tree}: has more than 5,000 bytes in its list of files"
    monkeypatch.setattr(sources_repository, "GIT_OBJECTS", Limit(150, "bytes", "git"))
    assert error("1.0.0:") == f"the git repository {kafka} has more than 150 bytes"


def test_a_cube_of_folders_takes_little_memory(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of 1,000 folders, each of as many folders, each of as many files, in three objects."""
    blob = git(kafka, "rev-parse", "HEAD:metadata/TopicRecord.json")
    entry = "".join(f"100644 blob {blob}\tf{at:04}.json\n" for at in range(1_000))
    for _ in range(2):
        tree = git(kafka, "mktree", stdin=entry.encode())
        entry = "".join(f"040000 tree {tree}\td{at:04}\n" for at in range(1_000))
    tree = git(kafka, "mktree", stdin=entry.encode())
    monkeypatch.setattr(sources_repository, "GIT_LISTING", Limit(1 << 20, "bytes in its list of files", "git"))
    objects = open_repository(None)
    tracemalloc.start()
    with pytest.raises(SourceError, match="more than 1 MiB in its list of files"):
        read_folders(objects, tree)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < GIT_OBJECTS + (10 << 20)  # a request may take as much


# What git does to its caller: it warns without end, hangs, is killed, and fails


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that puts a shell script in the place of git."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def fake(script: str) -> None:
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git").chmod(0o755)

    return fake


def test_warnings_without_end_do_not_block(kafka: Path, fake_git: Callable[[str], None]) -> None:
    """Git writes more to standard error than a pipe takes before it answers, and the reason comes last."""
    fake_git("yes 'warning: a broken ref' | head -n 100000 >&2; echo answer")
    assert HERE.run("for-each-ref") == "answer\n"
    fake_git("yes 'warning: a broken ref' | head -n 100000 >&2; echo 'fatal: no space' >&2; exit 128")
    with pytest.raises(SourceError, match=rf"^git cannot read the repository {kafka}: no space$"):
        HERE.run("for-each-ref")


REMEDY = "simplify the patterns in .gitignore, or name the files"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "git was killed (SIGKILL)"),
        ("echo part; exec 1>&-; exec sleep 600", f"git took more than 0.2 seconds, and was stopped; {REMEDY}"),
        ("exec sleep 600", f"git took more than 0.2 seconds, and was stopped; {REMEDY}"),
        ("yes", "has more than 1,000 bytes"),
    ],
)
def test_a_git_that_does_not_end_well_is_an_error(
    kafka: Path, fake_git: Callable[[str], None], script: str, reason: str
) -> None:
    fake_git(script)
    with pytest.raises(SourceError) as caught:
        HERE.files(Limit(1_000, "bytes", "git"), seconds=0.2)
    assert str(caught.value) in (f"the git repository {kafka}: {reason}", f"the git repository {kafka} {reason}")


@pytest.mark.parametrize("end", ["kill -KILL $$", "echo 'fatal: out of memory' >&2; exit 128"])
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("merge-base", ("review",)),
        *(("for-each-ref", words) for words in (("review", "--base=HEAD"), ("rollout", "HEAD:", "."))),
        *(
            ("cat-file", words)
            for words in (("review", "--base=HEAD"), ("rollout", "HEAD:", "."), ("diff", "HEAD:", "."))
        ),
        ("ls-files", ("check", ".")),
    ],
)
def test_no_verdict_without_an_answer_of_git(
    kafka: Path, fake_git: Callable[[str], None], command: str, end: str, words: tuple[str, ...]
) -> None:
    """A git that fails is not a repository without tags, without a branch or without an object."""
    git(kafka, "checkout", "-q", "-b", "topic")
    real_git = shutil.which("git")
    fake_git(f'case " $* " in *" {command} "*) {end};; esac; exec {real_git} "$@"')
    result = kiplint(*words, cwd=kafka)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ") and ("(SIGKILL)" in result.err or "out of memory" in result.err)


def test_a_pattern_that_git_cannot_finish_is_an_error(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git matches `*a*a*a*b` by trying, for an hour; then ignored files must not be read in silence."""
    write(kafka, {".gitignore": b"*a*a*a*a*a*a*a*a*a*ab\n", f"{'a' * 200}.json": GOOD})
    with pytest.raises(
        SourceError, match=r"git took more than 0.3 seconds, and was stopped; simplify the patterns in \.gitignore"
    ):
        open_repository(kafka).files(seconds=0.3)
