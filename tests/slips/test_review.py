"""Slips as pull requests: `review` has an entry for each finding that a reviewer wants. KIPLINT_SLIPS=149 runs all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplint import review
from kiplint.sources.git import close_repositories
from slips.table import SLIPS, Slip
from slips.test_slips import SET
from sources.support import make_repository

RUN = int(os.environ.get("KIPLINT_SLIPS", "5"))
SAMPLE = SLIPS[:: max(len(SLIPS) // RUN, 1)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with the small broker set, which is the working directory."""
    root = tmp_path_factory.mktemp("slips")
    make_repository(root, {file.relative_to(SET).as_posix(): file.read_bytes() for file in SET.glob("*/*.json")})
    close_repositories()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield root


@pytest.mark.parametrize("slip", SAMPLE, ids=lambda slip: slip.name)
def test_a_review_has_what_a_reviewer_wants(slip: Slip, checkout: Path) -> None:
    file = checkout / f"{slip.file}.json"
    text = file.read_text("utf-8")
    file.write_text(text.replace(slip.find, slip.put), "utf-8")
    entries = review(base="HEAD").findings
    file.write_text(text, "utf-8")
    expected = {mistake.partition(" @ ")[0].rpartition(": ")[2] for mistake in slip.found}
    assert expected <= {entry.rule for entry in entries} | {also.rule for entry in entries for also in entry.also}
