"""Where lakes lie: how places are named, and a lake in an object store."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.storage import Storage, claim, unclaim
from kiplint.pipeline.tables import Problems
from pipeline.support import put
from tools import complaint


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("/a/b/", "/a/b"),
        ("/a/../b", "/b"),
        ("file:///a/b%20c", "/a/b c"),
        ("file:/a/b", "/a/b"),
        ("file://localhost/a", "/a"),
        ("s3://bucket/lake/", "s3://bucket/lake"),
        ("s3a://bucket/lake", "s3://bucket/lake"),
        ("S3://bucket", "s3://bucket"),
        ("gs://bucket/lake", "gs://bucket/lake"),
        ("abfss://files@account.dfs.core.windows.net/lake", "abfss://files@account.dfs.core.windows.net/lake"),
    ],
)
def test_places(text: str, uri: str) -> None:
    assert Storage(text).uri == uri


def test_a_path_that_looks_like_a_windows_drive_is_a_path() -> None:
    assert Storage("c:lake").path == Path.cwd() / "c:lake"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "hdfs://host:9000/lake",
            "a lake cannot be kept at hdfs://host:9000/lake: it takes a directory, file://, or one",
        ),
        (
            "http://host/lake",
            "a lake cannot be kept at http://host/lake: it takes a directory, file://, or one of s3://",
        ),
        ("dbfs:/lake", "a lake cannot be kept at dbfs:/lake"),
        ("s3://", "s3:// names no bucket"),
        ("s3:/bucket/lake", "s3:/bucket/lake names no bucket"),
        ("file://other/lake", "invalid file URI file://other/lake: write file:///path, a path on this machine"),
        ("file://[", "invalid file URI file://[: write file:///path"),
        ("file:///a\nb", "invalid file URI file:///a\nb: write file:///path"),
        ("file:///a%00b", "invalid file URI file:///a%00b: write file:///path"),
        ("s3://b/\nx", "invalid URI: illegal character at offset 7 of s3://b/\nx"),
        ("s3://b/a\u202eb", "invalid URI: illegal character at offset 8 of s3://b/a\u202eb"),
        ("s3://b/\ud800", "invalid URI: illegal character at offset 7 of s3://b/\ud800"),
        ("s3://" + "b" * 3_000, f"s3://{'b' * 35}... is too long: a URI has at most 2,048 characters"),
        ("s3://\n/x", "invalid URI: illegal character at offset 5 of s3://\n/x"),
        ("s3://b:9/x", "s3://b:9/x names no bucket"),
        ("s3://../x", "s3://../x names no bucket"),
        ("s3://[::1/x", "s3://[::1/x names no bucket"),
        ("s3://b//x", "invalid URI: s3://b//x has a part that leads out of the bucket"),
        ("s3://b/../x", "invalid URI: s3://b/../x has a part that leads out of the bucket"),
        ("s3://b/%2e%2E/x", "invalid URI: s3://b/%2e%2E/x has a part that leads out of the bucket"),
        ("s3://b/a%2fb", "invalid URI: s3://b/a%2fb has a part that leads out of the bucket"),
        ("s3://b/x#y", "invalid URI: s3://b/x#y has a part that leads out of the bucket"),
    ],
)
def test_invalid_places(text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert complaint(lambda: Lake(text)).startswith(expected)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://AKIA:SECRET@bucket/lake", "s3://...@bucket/lake contains credentials: remove them"),
        ("s3://SECRET@bucket/lake", "s3://...@bucket/lake contains"),
        ("abfss://files:SECRET@account.net/lake", "abfss://files@account.net/lake contains credentials"),
        ("az://files/lake?sv=1&sig=SECRET#x", "az://files/lake?... contains credentials"),
        ("s3:/A:SECRET@bucket/lake", "s3:/...@bucket/lake names no bucket"),
        ("file://A:SECRET@localhost/lake", "invalid file URI file://...@localhost/lake: write file:///path"),
        ("https://A:SECRET@host/lake?token=SECRET", "a lake cannot be kept at https://...@host/lake?...: it takes"),
    ],
)
def test_no_secret_is_shown(text: str, expected: str) -> None:
    error = complaint(lambda: Lake(text))
    assert error.startswith(expected)
    assert "SECRET" not in error


def _grow(lake: Lake, problem: str) -> None:
    with lake.writing():
        state = lake.snapshot()
        rows = put(lake, Problems, [("ingest", "x", problem)])
        lake.publish(state, {"problems": (*lake.parts("problems", state.tables.get("problems")), *rows)}, "ingest")


def test_a_full_disk_leaves_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Storage, name: str, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Storage, "write", full)
    with pytest.raises(OSError, match="No space left"):
        claim(Storage(str(tmp_path / "lake")), ())
    assert not (tmp_path / "lake").exists()


def test_a_run_that_wrote_nothing_leaves_no_empty_folders(tmp_path: Path) -> None:
    for rest, stays in ((None, False), ("blobs/part.parquet", True)):
        lake = tmp_path / f"lake {stays}"
        storage = Storage(str(lake))
        lake_claim = claim(storage, ())
        (lake / "blobs" / "_delta_log").mkdir(parents=True)
        if rest:
            (lake / rest).touch()
        unclaim(storage, lake_claim)
        assert lake.exists() == stays
        assert not (lake / "blobs" / "_delta_log").exists()
