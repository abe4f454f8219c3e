"""The sample history and its lake, the same for all processes that the tests run in."""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.sample import sources_of

from conftest import ROOT
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.storage import Storage
from pipeline.cluster import wait_for
from pipeline.guide import begin_session
from pipeline.support import once
from ports import free_port


@pytest.fixture(scope="session")
def history(shared_folder: Path) -> Path:
    """The sample history as a repository."""
    return begin_session(shared_folder) / "kiplint" / "history"


@pytest.fixture(scope="session")
def sources(history: Path) -> tuple[str, ...]:
    """The sample history and its fork, as sources."""
    return sources_of(history)


@pytest.fixture(scope="session")
def lake(shared_folder: Path) -> Lake:
    """The lake of the sample history, which the tests outside of the guide's page do not write."""
    with once(shared_folder / "lake") as place:
        if place:
            shutil.copytree(begin_session(shared_folder) / "kiplint" / "lake", place)
    return Lake(shared_folder / "lake")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An S3 of moto's on loopback, in a process of its own, and a bucket in it."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    settings = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1"}
    with subprocess.Popen(command, **quiet) as server, pytest.MonkeyPatch.context() as patch:  # type: ignore[call-overload]
        for name, value in {**settings, "AWS_ENDPOINT_URL": address}.items():
            patch.setenv(name, value)
        try:
            wait_for(lambda: _make_bucket(f"{address}/bucket"), lambda: "moto's server does not answer")
            yield "s3://bucket"
        finally:
            server.kill()


def _make_bucket(url: str) -> bool:
    try:
        return bool(urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=5).status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def sources_uri(bucket: str, history: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of the bucket with the sample history as a bundle, and a schema set as an archive."""
    own = tmp_path_factory.mktemp("stored")
    bundle = own / "sample.bundle"
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "--branches", "--tags"], check=True)
    shutil.make_archive(str(own / "set"), "zip", ROOT / "fixtures" / "sets" / "broker")
    store = Storage(f"{bucket}/sources")
    for file in own.iterdir():
        store.write(file.name, file.read_bytes())
    return store.uri
