"""The Spark session: the one that is active, one of a server, or a new one with defaults for a single machine."""

from __future__ import annotations

import os
import resource
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.pipeline.cache import cache_directory
from kiplint.pipeline.gateway import ending_with_us
from kiplint.pipeline.java import java_home
from kiplint.text.files import replace_file

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
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
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
}
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
    asked = dict(conf or {})
    if not master and not remote and (active := SparkSession.getActiveSession()):
        return _configured(active, asked)
    try:
        if remote:
            _await_server(remote)
            return _configured(SparkSession.builder.remote(remote).getOrCreate(), EVERYWHERE | asked)
        return _start(master, asked, quiet=quiet)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"Spark does not start: {first_line(error)}") from error


def silence(session: SparkSession) -> None:
    """Let the JVM log nothing any more: what is stopped in the midst of its work complains, task by task."""
    with suppress(Exception):
        session.sparkContext.setLogLevel("OFF")


def _start(master: str | None, asked: Mapping[str, str], *, quiet: bool) -> SparkSession:
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
        os.environ["JAVA_HOME"] = str(java_home(cache_directory()))
        defaults["spark.driver.extraJavaOptions"] = shlex.join((*JVM.split(), f"-Dlog4j2.configurationFile={_log4j()}"))
        defaults["spark.driver.memory"] = "2g"
        builder = builder.master(place)
    for name, value in {**defaults, **asked}.items():
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


def first_line(error: Exception) -> str:
    """The first line of an error's text; of one in the JVM the second, as the first only names a class."""
    lines = [line.lstrip(": ") for line in str(error).splitlines() if line.strip(": ")]
    told = [line for line in lines if not line.startswith("An error occurred while calling")]
    return next(iter(told or lines), type(error).__name__)


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
    file = cache_directory() / "log4j2.properties"
    if not file.exists() or file.read_text() != text:
        replace_file(str(file), text.encode())
    return file
