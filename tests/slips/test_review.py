"""Invented pull requests: `review` has no entry for the right ones, and one for the mistake of each of the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from kiplint import migrate_kip_1313, review
from slips.test_slips import SET, read_table
from sources.support import commit, git, make_repository


class PullRequest(msgspec.Struct):
    """A pull request, as `pull_requests.toml` describes it."""

    name: str
    edits: dict[str, list[tuple[str, str]] | str | bool]
    entry: str = ""
    also: tuple[str, ...] = ()
    is_migrated: bool = False


PULL_REQUESTS = msgspec.convert(read_table("pull_requests"), list[PullRequest])


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with the small broker set, tagged 1.0.0, and with the set after KIP-1313, tagged 2.0.0."""
    root = tmp_path_factory.mktemp("checkout")
    make_repository(root, {file.relative_to(SET).as_posix(): file.read_bytes() for file in SET.glob("*/*.json")})
    migrate_kip_1313(root)
    commit(root, {}, "2.0.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        yield root


@pytest.mark.parametrize("pull_request", PULL_REQUESTS, ids=lambda pull_request: pull_request.name)
def test_a_review_has_an_entry_for_each_mistake(pull_request: PullRequest, checkout: Path) -> None:
    tag = "2.0.0" if pull_request.is_migrated else "1.0.0"
    git(checkout, "reset", "-q", "--hard", tag)
    git(checkout, "clean", "-q", "-f", "-d")
    apply(pull_request, checkout)
    entries = review(base=tag, released=[tag]).findings
    summaries = [
        (f"{entry.rule} {entry.path.removesuffix('.json')}", tuple(other.rule for other in entry.also))
        for entry in entries
    ]
    assert summaries == ([(pull_request.entry, pull_request.also)] if pull_request.entry else [])


def apply(pull_request: PullRequest, checkout: Path) -> None:
    """Make the edits of a pull request."""
    for name, edits in pull_request.edits.items():
        file = checkout / f"{name}.json"
        if isinstance(edits, bool):
            file.unlink()
        elif isinstance(edits, str):
            file.write_text(edits, "utf-8")
        else:
            text = file.read_text("utf-8")
            for before, after in edits:
                assert text.count(before) == 1, f"{before} is not unique in {name}"
                text = text.replace(before, after)
            file.write_text(text, "utf-8")


def test_the_table_is_long_enough() -> None:
    assert len(PULL_REQUESTS) >= 34
    assert sum(bool(pull_request.entry) for pull_request in PULL_REQUESTS) >= 20
