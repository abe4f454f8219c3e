"""What commits say of themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kiplint.sources.git import open_repository
from kiplint.sources.history import CommitText, branch, commit_text, tags


@pytest.mark.parametrize(
    ("message", "subject", "request_number", "kips", "jiras"),
    [
        ("KAFKA-17: Add it (#1234)\n\nAs KIP-848 has it, and kip-0848 too.\n", "KAFKA-17: Add it (#1234)", 1234, ("KIP-848",), ("KAFKA-17",)),
        ("MINOR: UTF-8 and SHA-256 (#7)", "MINOR: UTF-8 and SHA-256 (#7)", 7, (), ()),
        ("KIP-1313: headers, see KAFKA-2 and KAFKA-1", "KIP-1313: headers, see KAFKA-2 and KAFKA-1", None, ("KIP-1313",), ("KAFKA-2", "KAFKA-1")),
        ("[fork] CONF-99: ours", "[fork] CONF-99: ours", None, (), ("CONF-99",)),
        ("Merge pull request #8 from a/b\n\nKIP-5, KIP-35", "Merge pull request #8 from a/b", 8, ("KIP-5", "KIP-35"), ()),
        ("See (#3) for more", "See (#3) for more", None, (), ()),
        ("\n\n", "", None, (), ()),
    ],
)  # fmt: skip
def test_numbers(
    message: str, subject: str, request_number: int | None, kips: tuple[str, ...], jiras: tuple[str, ...]
) -> None:
    assert commit_text("a b", "Jo", "jo@example.org", message) == CommitText(
        "Jo", subject, ("a", "b"), request_number, kips, jiras, "jo@example.org"
    )


def test_of_a_repository(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=Jo Łuk", "-c", "user.email=jo@example.org")
        return subprocess.run(
            ["git", "-C", tmp_path, *who, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "main")
    first = [git("commit", "-q", "--allow-empty", "-m", "one\x1f (#1)\n\nKIP-4"), git("rev-parse", "HEAD")][1]
    git("tag", "1.0.0")
    second = [git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", ""), git("rev-parse", "HEAD")][1]
    objects = open_repository(str(tmp_path))
    text = CommitText("Jo Łuk", "one\x1f (#1)", (), 1, ("KIP-4",), (), "jo@example.org")
    assert [(revision.commit, revision.text) for revision in branch(objects, "main")] == [
        (first, text),
        (second, CommitText("Jo Łuk", "", (first,), None, (), (), "jo@example.org")),
    ]
    assert [(tag.commit, tag.release, tag.text) for tag in tags(objects)] == [(first, "1.0.0", text)]
