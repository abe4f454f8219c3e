"""Forks beside upstream: the fork of the sample history, against what the two trees hold, and many forks."""

from __future__ import annotations

import json
import random
import subprocess
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from kiplint.commands.pipeline.result import LakeAnswer
from kiplint.commands.pipeline.text import MOST_FORKS, write
from kiplint.commands.schema import schema
from kiplint.compat.tree import load
from kiplint.pipeline.answers.documents import ForkMessage
from kiplint.pipeline.answers.forks import forks
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.tables import Revisions, Trees
from pipeline.support import ask, fill_rows, put, stdout
from pipeline.test_listing import revisions
from tools import complaint


def rows_of(messages: tuple[ForkMessage, ...]) -> list[tuple[str, str, str | None]]:
    return [(message.message_name, message.versions, message.breaks) for message in messages]


def test_the_fork_beside_the_newest_release(lake: Lake) -> None:
    document = forks(Reader(lake))
    (row,) = document.forks
    assert (document.upstream, document.against, document.messages) == ("sample", "2.0.0", 28)
    assert (row.source, row.lineage, (row.commit or "")[:10]) == ("fork", "fork", "188067049d")
    assert (row.base_by, (row.base_commit or "")[:10], row.base_release) == ("commit", "8b8f7d7160", None)
    assert (row.behind, row.days_behind) == (6, 196)
    assert (row.own, rows_of(row.collisions)) == ((), [("FindCoordinatorRequest", "0-6", None)])
    assert {finding.rule for finding in row.fixed_upstream} == {
        "kip-1313/frozen-rpc",
        "rpc/versions-differ",
        "versions/field-above-valid",
    }
    assert [(*message, breaks.reason) for message, breaks in zip(rows_of(row.breaks), row.breaks, strict=True)] == [
        ("FindCoordinatorRequest", "0-6", "wire", "other bytes than in 2.0.0"),
        ("SaslHandshakeRequest", "2", "support", "2.0.0 has versions 0-1 only"),
        ("SaslHandshakeResponse", "2", "support", "2.0.0 has versions 0-1 only"),
    ]


@pytest.mark.parametrize("merging", ["1.1.0", "1.2.0", "2.0.0", "next"])
def test_lacks_what_the_trees_say(lake: Lake, history: Path, merging: str) -> None:
    (row,) = forks(Reader(lake), merging=merging).forks
    theirs = load(f"{'main' if merging == 'next' else merging}:", history).messages
    ours = {message.name: message.valid for message in load("fork:", history).messages}
    missing = {message.name: message.valid - ours[message.name] for message in theirs}
    assert rows_of(row.lacks) == sorted((name, str(versions), None) for name, versions in missing.items() if versions)


def test_merging_what_is_merged_already_breaks_nothing(lake: Lake) -> None:
    (row,) = forks(Reader(lake), merging="1.0.0").forks
    assert row.breaks == ()


def test_unknown_forks_and_revisions(lake: Lake) -> None:
    reader = Reader(lake)
    assert complaint(lambda: forks(reader, ["forc"])) == "the lake has no fork forc; did you mean fork?"
    assert complaint(lambda: forks(reader, merging="fork:next")) == (
        "--merging takes a revision of upstream, sample, not fork:next"
    )
    assert len(forks(reader, ["f*"]).forks) == 1


def test_forks_with_the_same_definitions_share_a_row(lake: Lake) -> None:
    document = forks(Reader(lake))
    (row,) = document.forks
    alike = [replace(row, source=f"copy{number}") for number in range(5)]
    others = [replace(row, source=f"other{number}", content=str(number)) for number in range(MOST_FORKS + 2)]
    out = StringIO()
    write(LakeAnswer(document=replace(document, forks=(*alike, *others))), out, color=False)
    lines = out.getvalue().splitlines()
    assert lines[0] == f"{5 + len(others)} forks against sample 2.0.0"
    assert lines[2].split()[:6] == ["copy0", "fork", "and", "4", "more", "8b8f7d7160"]
    assert len(lines) == 3 + MOST_FORKS
    assert lines[-1].startswith("  3 more forks: --source shows some of them")


def test_as_a_command(lake: Lake) -> None:
    place = str(lake.path)
    document = json.loads(stdout("forks", place, "--output-format", "json"))
    jsonschema.validate(document, schema("pipeline-forks"))
    assert [message["message_name"] for message in document["forks"][0]["lacks"]] == [
        "DeleteGroupsRequest",
        "DeleteGroupsResponse",
        "RequestHeader",
    ]
    assert stdout("forks", place, "--output-format", "markdown").startswith("## 1 fork against sample 2.0.0\n")
    assert ask("forks", place, "--merging", "3.0.0").code == 2


def test_the_base_of_a_fork_is_what_git_says(tmp_path: Path) -> None:
    """Forks that leave upstream anywhere and merge it now and then, against `git merge-base`."""
    chance = random.Random(1)
    place, names = str(tmp_path / "repository"), [f"fork{number}" for number in range(20)]
    stream, marks = [], 0

    def commit(line: str, before: int, merge: int = 0) -> int:
        nonlocal marks
        marks += 1
        links = f"from :{before}\n" * bool(before) + f"merge :{merge}\n" * bool(merge)
        head = f"commit refs/heads/{line}\nmark :{marks}\ncommitter M <m@example.com> {1700000000 + marks} +0000\n"
        stream.append(f"{head}data 1\nx\n{links}M 100644 inline {line}.json\ndata {len(str(marks))}\n{marks}\n")
        return marks

    main = [commit("main", 0)]
    main += [commit("main", main[0] + step) for step in range(30)]
    for name in names:
        base = chance.randrange(20)
        last = main[base]
        for _ in range(chance.randrange(1, 9)):
            index = chance.randrange(base, len(main)) if chance.random() < 0.4 else 0
            base = index or base
            last = commit(name, last, main[index] if index else 0)
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)

    lake = Lake(tmp_path / "lake")
    sources = ["up=" + place + "#main", *(f"{name}={place}#{name}" for name in names)]
    rows = [{**row, "root": row["tree"]} for source in sources for row in revisions(source)[:-1]]
    with lake.writing():
        parts = {
            "revisions": put(lake, Revisions, fill_rows(Revisions, rows)),
            "trees": put(lake, Trees, sorted({(row["root"], "", row["root"]) for row in rows})),
        }
        lake.publish(replace(lake.snapshot(), request={"sources": sources}), parts, "ingest")
    bases = {row["source"]: row["base_commit"] for row in Reader(lake).duck.rows("SELECT * FROM behind_upstream")}
    merge_base = ["git", "-C", place, "merge-base", "main"]
    assert bases == {
        name: subprocess.run([*merge_base, name], check=True, capture_output=True, text=True).stdout.strip()
        for name in names
    }
    assert len({*bases.values()}) > 5
