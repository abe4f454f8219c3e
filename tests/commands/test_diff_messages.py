"""A diff of only the messages that were asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplint import diff
from kiplint.engine.errors import UsageError
from tools import definition, field

A = field("A")


def sides(folder: Path) -> tuple[Path, Path]:
    """Two sets: an RPC that was bumped, and a record that got a version."""
    for side, versions in (("old", "0-5"), ("new", "0-6")):
        (folder / side).mkdir()
        default = field("D", default="1" if side == "old" else "2")
        (folder / side / "XRequest.json").write_bytes(definition(A, default, validVersions=versions))
        (folder / side / "XResponse.json").write_bytes(
            definition(A, name="XResponse", type="response", validVersions=versions)
        )
        (folder / side / "YRecord.json").write_bytes(
            definition(A, name="YRecord", type="metadata", apiKey=7, validVersions=versions)
        )
    return folder / "old", folder / "new"


def test_a_diff_of_some_messages_only(tmp_path: Path) -> None:
    old, new = sides(tmp_path)

    def message_names(*globs: str) -> list[str]:
        result = diff(old, new, messages=globs)
        return sorted({change.message_name for change in result.changes})

    assert message_names("X") == ["XRequest", "XResponse"]
    assert message_names("*Response") == ["XResponse"]
    assert message_names("*Response", "Y*") == ["XResponse", "YRecord"]
    assert diff(old, new, messages=["Y*"]).messages == 1
    with pytest.raises(
        UsageError, match=r"^--message YRecrd: neither of the two has such a message; did you mean YRecord\?$"
    ):
        diff(old, new, messages=["YRecrd"])
