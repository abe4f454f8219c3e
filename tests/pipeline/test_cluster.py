from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from benchmarks.sample import arguments

from conftest import ROOT
from kiplint.pipeline.session import java_home
from pipeline.cluster import Servers, servers, start_connect, start_master, start_worker, wait_for
from pipeline.support import Content, content, quick_settings, settings, surroundings

ENGINE = shlex.join(("--stages", "ingest,lint,describe,compare", *settings()))
"""The stages that put the engine to work; the others are made of columns only."""
GUIDE = ROOT / "docs" / "guide" / "pipeline.md"
SOURCE, LAKE, HOST = "--source kafka=/shared/kafka.git#trunk", "/shared/lake", "host:7077"
"""What the guide's commands name; a test puts its own in their place."""
BLOCKING_GIT = """#!/bin/sh
# Git that never answers who asks it for contents: its task is there until it is killed.
case " $* " in
  *" cat-file "*) touch '{reached}'; while :; do sleep 1; done ;;
esac
exec '{git}' "$@"
"""


@pytest.fixture
def local_content(request: pytest.FixtureRequest) -> Callable[[Content], Content]:
    """What the same tables hold when all is done on one machine, and nothing happens meanwhile."""

    def read_tables(tables: Content) -> Content:
        whole = content(request.getfixturevalue("lake").path)
        return {name: whole[name] for name in tables}

    return read_tables


@pytest.fixture
def cluster(tmp_path: Path, cache: Path) -> Iterator[Servers]:
    with servers(tmp_path / "servers", cache) as result:
        yield result


def test_through_connect(
    history: Path,
    local_content: Callable[[Content], Content],
    cluster: Servers,
    cache: Path,
    tmp_path: Path,
) -> None:
    """The server's executors fetch and unpack the bundle themselves."""
    lake, bundle = tmp_path / "lake", str(history)
    remote = start_connect(cluster, **{name: text for name, text in os.environ.items() if name.startswith("AWS_")})
    sources = quote(f"sample={bundle}#main", f"sample={bundle}#tags", f"fork={bundle}#fork")
    command = as_printed("--remote", {"sc://host:15002": remote, SOURCE: sources, LAKE: lake})
    assert run_script(f"{command} --quiet {ENGINE}", tmp_path, cache) == ""
    tables = content(lake)
    assert {"findings", "layouts", "changes"} < set(tables)
    assert {row[3] for row in tables.pop("sources")} == {bundle}
    assert tables == local_content(tables)


def test_a_worker_dies(
    sources: tuple[str, ...],
    local_content: Callable[[Content], Content],
    cluster: Servers,
    cache: Path,
    tmp_path: Path,
) -> None:
    """The driver is started by `spark-submit` of the package's own entry, and then by kiplint itself.

    The worker that survives starts when the other one has a task that does not end.
    """
    lake, marker, events = tmp_path / "lake", tmp_path / "reached", tmp_path / "events"
    events.mkdir()
    doomed_env = {"PATH": f"{blocking_git(tmp_path / 'bin', marker)}:{os.environ['PATH']}"}
    address = start_master(cluster)
    start_worker(cluster, "doomed", address, **doomed_env)
    put_environment(tmp_path)
    places: dict[str, str | Path] = {HOST: address.removeprefix("spark://"), SOURCE: quote(*sources), LAKE: lake}
    env = {"SPARK_CONF_DIR": str(put_settings(tmp_path / "conf", events)), "JAVA_HOME": str(java_home(cache))}
    submit = f"{as_printed('spark-submit', places)} --quiet --stages ingest,lint"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_script, submit, tmp_path, cache, **env)
        try:
            wait_for(lambda: marker.exists() or running.done(), lambda: "the doomed worker was given nothing to do")
            assert marker.exists(), running.result()
            start_worker(cluster, "survivor", address)
        finally:
            cluster.kill("doomed")  # what it was given would never end
        head, separator, rest = running.result().partition('Setting Spark log level to "OFF".')
    assert separator
    assert head.count("\n") < 20
    assert not re.search(r"\[Stage | (?:INFO|WARN) ", rest)
    assert "ExecutorLostFailure" in reasons(events)
    command = as_printed("kiplint pipeline run --master", places)
    assert run_script(f"{command} --quiet --stages describe", tmp_path, cache, **env) == ""
    tables = content(lake)
    assert {"findings", "problems", "layouts"} < set(tables)
    assert tables == local_content(tables)


def quote(*sources: str) -> str:
    """Sources as they are named to a shell."""
    return shlex.join(arguments(sources))


def as_printed(part: str, places: Mapping[str, str | Path]) -> str:
    """The guide's command with a part in it, with other names and places."""
    (block,) = (
        block
        for block in re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
        if part in block
    )
    for theirs, ours in places.items():
        assert block.count(theirs) == 1
        block = block.replace(theirs, str(ours))
    return block.rstrip()


def run_script(command: str, where: Path, cache: Path, **others: str) -> str:
    """What a line for the shell prints, with the commands of this environment; raises AssertionError when it fails."""
    env = surroundings(cache, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}", **others)
    process = subprocess.run(
        ["bash", "-c", command],
        cwd=where,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    lines = (process.stdout + process.stderr).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("NOTE: Picked up JDK_JAVA_OPTIONS"))  # of the tests


def put_environment(where: Path) -> None:
    """An environment beside the driver and as an archive, as the guide makes both: its Python is that of this one."""
    python = where / "kiplint-env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    python.chmod(0o755)
    with tarfile.open(where / "kiplint-env.tar.gz", "w:gz") as archive:
        archive.add(where / "kiplint-env", ".")


def put_settings(folder: Path, events: Path) -> Path:
    """Spark's own configuration for small runs on two workers of a core each."""
    more = {
        "spark.cores.max": "2",
        "spark.executor.memory": "512m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.driver.bindAddress": "127.0.0.1",
    }
    return quick_settings(folder, more)


def blocking_git(where: Path, marker: Path) -> Path:
    """A directory with a git that blocks, and says in a file that it was asked."""
    where.mkdir()
    git = where / "git"
    git.write_text(BLOCKING_GIT.format(reached=marker, git=shutil.which("git")))
    git.chmod(0o755)
    return where


def reasons(events: Path) -> set[str]:
    """Why tasks failed, out of Spark's log of events."""
    logs = events.rglob("events_*")
    rows = (json.loads(line) for file in logs for line in file.read_text().splitlines() if line)
    ends = (event["Task End Reason"]["Reason"] for event in rows if event.get("Event") == "SparkListenerTaskEnd")
    return set(ends) - {"Success"}
