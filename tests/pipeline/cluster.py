"""Spark's own servers on loopback, started and ended by tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

import pyspark

from kiplint.pipeline.session import java_home
from pipeline.support import surroundings
from ports import free_port

SPARK = Path(pyspark.__file__).parent
MARK = "KIPLINT_TEST_SERVERS"
LONGEST = 600
"""Seconds to wait for anything before a test gives up."""


class Servers:
    """Processes that end together, with all that they started."""

    def __init__(self, where: Path, cache: Path) -> None:
        self._where = where
        self._mark = token_hex(8)
        self._env = surroundings(
            cache,
            **{MARK: self._mark},
            JAVA_HOME=str(java_home(cache)),
            PYSPARK_PYTHON=sys.executable,
            SPARK_DAEMON_MEMORY="1g",
            SPARK_LOG_DIR=str(where),
        )
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str | Path, **others: str) -> subprocess.Popen[bytes]:
        """Start a server that writes to a log of its name."""
        with open(self._where / f"{name}.log", "wb") as log:
            self.running[name] = subprocess.Popen(
                command,
                env={**self._env, **others},
                cwd=self._where,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self.running[name]

    def await_(self, name: str, there: Callable[[str], bool]) -> None:
        """Wait until a server's log is as wanted; raises AssertionError with the log when that does not come."""
        log = self._where / f"{name}.log"
        wait_for(
            lambda: there(log.read_text("utf-8", "replace")) or self.running[name].poll() is not None,
            lambda: log.read_text("utf-8", "replace"),
        )
        assert self.running[name].poll() is None, log.read_text("utf-8", "replace")

    def kill(self, name: str) -> None:
        """End one server as a machine ends that loses its power."""
        process = self.running[name]
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End all servers, and whatever has their mark."""
        for name in self.running:
            self.kill(name)
        wait_for(self._is_alone, lambda: f"left over: {sorted(pids_of(self._mark))}")

    def _is_alone(self) -> bool:
        processes = pids_of(self._mark)
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return not processes


@contextmanager
def servers(where: Path, cache: Path) -> Iterator[Servers]:
    """Servers that are gone after the block, whatever happens in it."""
    where.mkdir()
    result = Servers(where, cache)
    try:
        yield result
    finally:
        result.close()


CLASS = SPARK / "bin" / "spark-class"
LOOPBACK = ("--host", "127.0.0.1", "--webui-port", "0")


def start_master(servers: Servers) -> str:
    """A master; gives its address."""
    port = free_port()
    servers.start("master", CLASS, "org.apache.spark.deploy.master.Master", *LOOPBACK, "--port", str(port))
    servers.await_("master", lambda log: "New state: ALIVE" in log)
    return f"spark://127.0.0.1:{port}"


def start_worker(servers: Servers, name: str, master: str, **env: str) -> None:
    """A worker with one core, with more in its environment."""
    size = ("--cores", "1", "--memory", "1g", "--work-dir", name)
    servers.start(name, CLASS, "org.apache.spark.deploy.worker.Worker", *LOOPBACK, *size, master, **env)
    servers.await_(name, lambda log: "Successfully registered with master" in log)


def start_connect(servers: Servers, **env: str) -> str:
    """A Connect server that works on this machine, with more in its environment; gives its address."""
    port = free_port()
    place = {"binding.address": "127.0.0.1", "binding.port": str(port)}
    conf = [f"--conf=spark.connect.grpc.{name}={value}" for name, value in place.items()]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    quiet = ("--conf=spark.ui.enabled=false", "--conf=spark.sql.catalogImplementation=in-memory")
    submit = (SPARK / "bin" / "spark-submit", "--master=local[2]")
    servers.start("connect", *submit, *conf, *quiet, "--class", main, "spark-internal", **env)
    servers.await_("connect", lambda log: "Spark Connect server started" in log)
    return f"sc://127.0.0.1:{port}"


def wait_for(there: Callable[[], bool], output: Callable[[], str]) -> None:
    """Wait for a condition; raises AssertionError with the `output` when it does not hold in time."""
    end = time.monotonic() + LONGEST
    while not there():
        assert time.monotonic() < end, output()
        time.sleep(0.05)


def pids_of(mark: str) -> set[int]:
    """The processes that were started with a mark in their environment, as far as this system tells."""
    result = set()
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark.encode() in file.read_bytes():
                result.add(int(file.parent.name))
    return result
