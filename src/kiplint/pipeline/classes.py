"""An archive of Spark's classes, in the form that Java has for it: with it Spark starts at half the cost.

To make one takes as long as some four starts save. So it is made after the fourth: whoever starts Spark once or twice
never pays for it. Java maps it instead of reading and verifying 16,000 classes. One that is of another Java or of other
jars, or is damaged, Java leaves alone without a word; it is removed then.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

FIRST: Final = 4
"""The start whose classes are written down; after it, if nothing came of that, the next power of two."""
KEPT: Final = 2
"""How many archives there may be, each of nearly 200 MB; those that were used last stay."""
LEFT: Final = 3600.0
"""Seconds after which what a process was about to write is nobody's any more."""
LONGEST: Final = 300.0
"""Seconds that making an archive may take."""
QUIET: Final = "-Xlog:disable"
LISTING: Final = "-XX:DumpLoadedClassList="
MAPPING: Final = "-XX:SharedArchiveFile="
FORM: Final = "1"
MEMORY: Final = "spark.driver.memory"
UNUSED: Final = 90 * 86400.0
"""Seconds after which a count of starts is nobody's any more."""

_OURS: Final = re.compile(r"spark-[0-9a-f]{12}(\.jsa|\.starts|\.[0-9a-f]{16}\.(?:classes|jsa))")
_OF_THE_USER: Final = (
    *("CLASSPATH", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_CLASSPATH"),
    *("SPARK_DIST_CLASSPATH", "SPARK_PREPEND_CLASSES", "SPARK_SUBMIT_OPTS"),
    *("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
)
"""Variables by which a user has other classes or options than ours."""


def key_of(
    home: Path, spark: Path, version: str, options: str, asked: Mapping[str, str], environment: Mapping[str, str]
) -> str | None:
    """What an archive is of: a Java by its launcher, Spark, and how the JVM is started; None where that is a user's.

    `spark` is the directory with its `jars`.
    """
    own = any(name.startswith(("spark.driver.", "spark.jars")) and name != MEMORY for name in asked)
    if own or any(environment.get(name) for name in _OF_THE_USER):
        return None
    try:
        changed = (spark / "jars").stat().st_mtime_ns
    except OSError:
        return None
    words = (FORM, home.name, str(spark), version, str(changed), options, asked.get(MEMORY, ""))
    return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def options_of(folder: Path, key: str) -> Sequence[str]:
    """What to start the JVM with: the archive if there is one; else, now and then, a list of classes to be written."""
    if ":" in str(folder):  # Java would take it for two files
        return ()
    archive = folder / f"spark-{key}.jsa"
    with suppress(OSError):
        os.utime(archive)
        return (f"{MAPPING}{archive}", "-Xshare:auto", QUIET)
    with suppress(OSError):
        starts = _count(folder / f"spark-{key}.starts")
        if starts >= FIRST and not starts & (starts - 1):
            return (f"{LISTING}{folder}/spark-{key}.{os.urandom(8).hex()}.classes", QUIET)
    return ()


def forget_unused(options: Sequence[str], info: Callable[[], str]) -> None:
    """Remove the archive that a JVM was started with but does not use: its `java.vm.info` then lacks a word."""
    for archive in _named(options, MAPPING):
        if "sharing" not in info():
            archive.unlink(missing_ok=True)


def is_listing(options: Sequence[str]) -> bool:
    """Whether a JVM that was started so writes down what classes it loads."""
    return bool(_named(options, LISTING))


def make_archive(java: Path, options: Sequence[str], path: str) -> None:
    """Make an archive out of the list that a JVM has written, which has ended; `path` is its class path.

    It is written under another name first. Whatever goes wrong, there is none then, and no word of it. Raises what
    interrupts it.
    """
    for listed in _named(options, LISTING):
        fresh = listed.with_suffix(".jsa")
        rest = [word for word in options if word != QUIET and not word.startswith(LISTING)]
        words = ["-Xshare:dump", f"-XX:SharedClassListFile={listed}", f"{MAPPING}{fresh}", QUIET, *rest, "-cp", path]
        try:
            if _is_done([str(java), *words]):
                with open(fresh, "rb") as written:
                    os.fsync(written.fileno())
                kept = listed.with_name(listed.name.partition(".")[0])
                fresh.replace(kept.with_suffix(".jsa"))
                kept.with_suffix(".starts").unlink(missing_ok=True)
        except OSError:
            pass
        finally:
            for one in (listed, fresh):
                one.unlink(missing_ok=True)
        with suppress(OSError):
            _tidy(listed.parent)


def _is_done(words: Sequence[str]) -> bool:
    none = subprocess.DEVNULL
    try:
        return subprocess.run(words, stdin=none, stdout=none, stderr=none, timeout=LONGEST, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _count(file: Path) -> int:
    """One more, as a byte that is appended, so that nobody is missed who starts at the same time."""
    with open(file, "ab") as out:
        out.write(b".")
        return out.tell()


def _named(options: Sequence[str], flag: str) -> list[Path]:
    files = [Path(word.removeprefix(flag)) for word in options if word.startswith(flag)]
    return [file for file in files if _OURS.fullmatch(file.name)]


def _tidy(folder: Path) -> None:
    """Remove archives beyond those that may be there, and what was to become one and has no process any more."""
    ours: list[tuple[float, str, Path]] = []
    for file in folder.iterdir():
        if found := _OURS.fullmatch(file.name):
            with suppress(OSError):
                ours.append((file.lstat().st_mtime, found[1], file))
    archives = sorted((when, file) for when, kind, file in ours if kind == ".jsa")
    for _, file in archives[:-KEPT]:
        file.unlink(missing_ok=True)
    for when, kind, file in ours:
        if kind != ".jsa" and when < time.time() - (UNUSED if kind == ".starts" else LEFT):
            file.unlink(missing_ok=True)
