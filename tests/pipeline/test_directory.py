"""The directory of a lake: what it may be called, that no link leads out of it, and what it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers import Answers
from kiplint.pipeline.directory import (
    FORMAT,
    MARK,
    NEW_SETTINGS,
    SETTINGS,
    Settings,
    lake_path,
    locked,
    read_settings,
    write_settings,
)


@pytest.mark.parametrize(
    "address", ["s3://bucket/lake", "s3a://bucket", "hdfs://host/lake", "gs://b/l", "file:///lake"]
)
def test_an_address_is_no_lake(address: str) -> None:
    with pytest.raises(UsageError, match=f"^a lake is a directory that all executors share, not {address}: write to"):
        lake_path(address)


@pytest.mark.parametrize("name", ["lake[1]", "a%20b", "a^b"])
def test_a_path_that_delta_cannot_open(name: str) -> None:
    with pytest.raises(UsageError, match="Delta's library cannot open a path with "):
        lake_path(name)


def test_a_path() -> None:
    assert lake_path("la{ke}/50%/a b") == Path.cwd() / "la{ke}/50%/a b"


@pytest.mark.parametrize("link", ["contents", "blobs", "blobs/run-1", "spans/_delta_log", SETTINGS, NEW_SETTINGS, MARK])
def test_no_link_is_followed(link: str, tmp_path: Path) -> None:
    """Neither by a run, before it reads a source, nor by an answer."""
    lake, victim = tmp_path / "lake", tmp_path / "victim"
    (victim / "run-0" / "x").mkdir(parents=True)
    with locked(lake):
        pass
    (lake / link).parent.mkdir(exist_ok=True)
    (lake / link).unlink(missing_ok=True)
    (lake / link).symlink_to(victim)
    if link == "contents":  # is no table
        with locked(lake):
            assert (victim / "run-0" / "x").exists()
        return
    with (
        pytest.raises(UsageError, match=f"^{lake / link} is a link, and links inside a lake are not followed"),
        locked(lake),
    ):
        pass
    with pytest.raises(UsageError, match="is a link"):
        Answers(lake)
    assert (victim / "run-0" / "x").exists()


def test_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings(FORMAT)
    settings = Settings(FORMAT, "/kiplint.toml", [{"source": "kafka"}])
    write_settings(tmp_path, settings)
    assert read_settings(tmp_path) == settings
    (tmp_path / SETTINGS).write_text(f'{{"format": {FORMAT + 1}, "of a newer kiplint": 1}}')
    with pytest.raises(
        UsageError, match=f"is a lake of a newer kiplint .format {FORMAT + 1}, not {FORMAT}.: update kiplint$"
    ):
        read_settings(tmp_path)
    (tmp_path / SETTINGS).write_text("{")
    with pytest.raises(UsageError, match=f"^{tmp_path / SETTINGS} is damaged: remove it, and name the sources"):
        read_settings(tmp_path)
