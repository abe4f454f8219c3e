"""Options and defaults where people meet them (issue 11): paths without a list, what is left out."""

from __future__ import annotations

import json
from pathlib import Path

from tools import definition, field, kiplint

DEFINITION = definition(field("A", "strnig"))


def test_rollout_is_about_the_working_directory_by_default(repo: Path) -> None:
    folder = repo / "fixtures/kip-1313"
    assert kiplint("rollout", cwd=folder) == kiplint("rollout", ".", cwd=folder)
    assert kiplint("rollout", "a", "b", "c", cwd=folder).code == 2


def test_what_is_left_out_is_counted_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "XRequest.json").write_bytes(DEFINITION)
    (tmp_path / "package.json").write_text('{"name": "x", "type": "module"}')
    result = kiplint("check", ".", cwd=tmp_path)
    assert "in 1 file; 1 file that is not a definition: package.json; " in result.out
    summary = json.loads(kiplint("check", ".", "--output-format", "json", cwd=tmp_path).out)["summary"]
    assert (summary["files"], summary["left_out"]) == (1, 1)


def test_an_empty_directory_beside_a_good_one_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "XRequest.json").write_bytes(DEFINITION)
    result = kiplint("check", "empty", "good", "--output-format", "concise", cwd=tmp_path)
    assert result.code == 1
    assert "good/XRequest.json" in result.out
    assert "nothing to check: no message definition in empty" in result.err
    alone = kiplint("check", "empty", cwd=tmp_path)
    assert (alone.code, alone.err) == (2, "error: nothing to check: no message definition in empty\n")
    both = kiplint("check", "empty", "empty/.", cwd=tmp_path)
    assert both.code == 2
