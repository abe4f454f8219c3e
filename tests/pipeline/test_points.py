"""Changes between any two revisions of a lake: what `kiplint diff` says of their trees."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest

from kiplint import diff
from kiplint.commands.pipeline.result import lake_diff
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from pipeline.support import ask, stdout
from tools import complaint


@pytest.mark.parametrize(
    ("span", "old", "new"),
    [
        ("1.0.0..2.0.0", "1.0.0", "2.0.0"),
        ("2.0.0..1.0.0", "2.0.0", "1.0.0"),
        ("1.1.0..next", "1.1.0", "main"),
        ("1.2.0..", "1.2.0", "main"),
        ("sample:1.2.0..fork:next", "1.2.0", "fork"),
        ("fork:next..sample:next", "fork", "main"),
        ("{main~4}..{main~2}", "main~4", "main~2"),
        ("{fork}..{main~2}", "fork", "main~2"),
    ],
)
def test_equal_to_a_diff_of_the_trees(lake: Lake, history: Path, span: str, old: str, new: str) -> None:
    for name in (old, new):
        commit = subprocess.run(["git", "-C", history, "rev-parse", name], check=True, capture_output=True, text=True)
        span = span.replace(f"{{{name}}}", commit.stdout[:10])
    between = msgspec.to_builtins(lake_diff(Reader(lake), span).document)
    whole = msgspec.to_builtins(diff(f"{old}:", f"{new}:", repository=history, config={}).document)
    assert between["changes"]
    for document in (between, whole):
        for change in document["changes"]:
            for path in {"path", "old_path"} & change.keys():
                change[path] = change[path].rpartition(":")[2]
    assert between == whole


def test_as_a_command(lake: Lake, history: Path) -> None:
    output = stdout("changes", str(lake.path), "1.2.0..2.0.0", "--output-format", "json")
    whole = diff("1.2.0:", "2.0.0:", repository=history, config={}).document
    assert json.loads(output) == json.loads(msgspec.json.encode(whole))
    result = ask("changes", str(lake.path), "2.0.0..next")
    assert (result.code, result.out, result.closing) == (0, "", "30 messages compared, no changes\n")


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ("1.0.0", "two revisions are A..B, such as 3.5.0..3.8.0 or 3.8.0..next, not 1.0.0"),
        ("1.0.0..2.0.1", "there is no release and no commit 2.0.1 in the lake; did you mean 2.0.0?"),
        ("1.0.0..forc:next", "there is no source forc in the lake; did you mean fork?"),
        ("1.0.0..fork:1.0.0", "there is no release and no commit fork:1.0.0 in the lake"),
    ],
)
def test_unknown_revisions(lake: Lake, span: str, message: str) -> None:
    assert complaint(lambda: lake_diff(Reader(lake), span)) == message


def test_two_revisions_or_a_date(lake: Lake) -> None:
    result = ask("changes", str(lake.path), "1.0.0..2.0.0", "--since", "2024-01-01")
    assert result.err == "error: changes takes two revisions or --since, not 1.0.0..2.0.0 and --since 2024-01-01\n"
