"""Invented pull requests: `review` has no entry for the right ones, and one for the mistake of each of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def read_texts(root: Path) -> dict[str, str]:
    """The definitions in the folders of a directory, by folder and name."""
    files = sorted(root.glob("*/*.json"))
    return {file.relative_to(root).with_suffix("").as_posix(): file.read_text("utf-8") for file in files}


@pytest.mark.parametrize("pull_request", PULL_REQUESTS, ids=lambda pull_request: pull_request.name)
def test_a_review_has_an_entry_for_each_mistake(pull_request: PullRequest, checkout: Path) -> None:
    tag = "2.0.0" if pull_request.is_migrated else "1.0.0"
    git(checkout, "reset", "-q", "--hard", tag)
    git(checkout, "clean", "-q", "-f", "-d")
    texts = read_texts(checkout)
    new_texts = edited(pull_request, texts)
    for name in texts.keys() - new_texts:
        (checkout / f"{name}.json").unlink()
    for name, text in new_texts.items():
        if text != texts.get(name):
            (checkout / f"{name}.json").write_text(text, "utf-8")
    entries = review(base=tag, released=[tag]).findings
    summaries = [
        (f"{entry.rule} {entry.path.removesuffix('.json')}", tuple(other.rule for other in entry.also))
        for entry in entries
    ]
    assert summaries == ([(pull_request.entry, pull_request.also)] if pull_request.entry else [])


def edited(pull_request: PullRequest, texts: Mapping[str, str]) -> dict[str, str]:
    """The definitions after the edits of a pull request, by folder and name."""
    result = dict(texts)
    for name, edits in pull_request.edits.items():
        if isinstance(edits, bool):
            del result[name]
        elif isinstance(edits, str):
            result[name] = edits
        else:
            for before, after in edits:
                assert result[name].count(before) == 1, f"{before} is not unique in {name}"
                result[name] = result[name].replace(before, after)
    return result


def test_the_table_is_long_enough() -> None:
    assert len(PULL_REQUESTS) >= 34
    assert sum(bool(pull_request.entry) for pull_request in PULL_REQUESTS) >= 20
