"""Edits that are tried together: which are dropped, and for which reasons."""

from __future__ import annotations

import pytest

from fixes.support import Files
from kiplint.fixes.regressions import SAFE, CheckedFiles, Limits
from kiplint.fixes.regressions import Files as SomeFiles
from kiplint.fixes.trial import EditGroup, try_edits
from kiplint.text.edit import Edit
from render.findings import finding

BEFORE = {"ARequest": b"-", "BRequest": b"-", "CRequest": b"-", "D": b"-"}


def check(files: SomeFiles) -> CheckedFiles:
    """A set in which each file is wrong whose first byte is `!`, and D while one of A and B, but not both, has a `+`."""
    wrong = [path for path, data in files.items() if data.startswith(b"!")]
    if (files["ARequest"] == b"+") is not (files["BRequest"] == b"+"):
        wrong.append("D")
    return CheckedFiles(files, [finding("wrong", "error", path, path, fingerprint=path) for path in wrong])


def group(path: str, text: str) -> EditGroup:
    return EditGroup((path,), (Edit(path, 0, 1, text),) if text else ())


@pytest.mark.parametrize(
    ("texts", "after", "reasons"),
    [
        pytest.param({"ARequest": "+", "BRequest": "+"}, {"ARequest": b"+", "BRequest": b"+"}, {},
                     id="each would be wrong alone"),
        pytest.param({"ARequest": "!", "CRequest": "+"}, {"CRequest": b"+"}, {"ARequest": ["ARequest"]},
                     id="the group of the file is to blame"),
        pytest.param({"ARequest": "+", "BRequest": "!", "CRequest": "+"}, {},
                     {"ARequest": ["D"], "BRequest": ["BRequest"], "CRequest": ["D"]},
                     id="what is worse elsewhere counts against all, once no other is to blame"),
        pytest.param({"ARequest": "+", "CRequest": "+", "D": ""}, {"ARequest": b"+", "CRequest": b"+"}, {"D": ["D"]},
                     id="what is worse in the files of a dropped group counts against no other"),
    ],
)  # fmt: skip
def test_which_groups_are_dropped(texts: dict[str, str], after: Files, reasons: dict[str, list[str]]) -> None:
    groups = [group(path, text) for path, text in texts.items()]
    trial = try_edits(check(BEFORE), groups, check, SAFE)
    assert trial.after.files == {**BEFORE, **after}
    dropped = {groups[number].paths[0]: [reason.path for reason in items] for number, items in trial.dropped.items()}
    assert dropped == reasons


def test_limits_say_what_is_worse() -> None:
    groups = [group("ARequest", "!")]
    assert try_edits(check(BEFORE), groups, check, Limits(severities=("error",))).dropped.keys() == {0}
    assert not try_edits(check(BEFORE), groups, check, Limits(severities=("warning",))).dropped


def test_edits_that_are_still_wrong_after_some_rounds_are_all_dropped() -> None:
    """Each round shows one mistake more."""

    def show_first(files: SomeFiles) -> CheckedFiles:
        return CheckedFiles(files, check(files).findings[:1])

    files = {**{f"{letter}Request": b"-" for letter in "ABCEFGH"}, "D": b"-"}
    groups = [group(path, "!") for path in files if path != "D"]
    trial = try_edits(show_first(files), groups, show_first, SAFE)
    assert trial.after.files == files
    assert trial.dropped.keys() == set(range(len(groups)))
    assert all(trial.dropped.values())
