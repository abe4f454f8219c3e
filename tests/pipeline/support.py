"""Shared by the tests of the pipeline: runs of the command, and what a lake holds."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from conftest import ROOT
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.delta import Parts, write_rows
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.schema import TableFrame, table
from kiplint.pipeline.session import FIRST_COMPILER
from kiplint.pipeline.tables import TABLES
from tools import Ran, environment, kiplint

Content: TypeAlias = dict[str, list[tuple[Any, ...]]]
KIPLINT = (sys.executable, "-m", "kiplint")
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    # A plan runs once or twice here: interpreting it takes a third less time than compiling it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings that make a small run short."""


@contextmanager
def once(place: Path) -> Iterator[Path | None]:
    """Where to make something that no process has made yet; None when it is there. Others wait for the block's end."""
    with open(place.with_name(f"{place.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists():
            yield None
            return
        staging = place.with_name(f"{place.name}.staged")
        yield staging
        staging.rename(place)


def content(path: str | Path) -> Content:
    """The rows of every table in a lake's newest snapshot, sorted."""
    reader = Reader(Lake(path))
    there = (kind for kind in TABLES.values() if kind.NAME in reader.snapshot.tables)
    return {kind.NAME: sorted((tuple(row.values()) for row in reader.rows(kind)), key=repr) for kind in there}


def put(lake: Lake, kind: type[TableFrame], rows: Iterable[tuple[object, ...]]) -> Parts:
    """Rows of a table, which belong to no version of it yet."""
    return write_rows(table(kind.COLUMNS, rows), kind, lake.storage, lake.ticket())


def fill_rows(kind: type[TableFrame], rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Rows with a value for each column."""
    nothing = {"string": "", "int": 0, "bigint": 0, "boolean": False}
    plain = {name: nothing.get(of) if name in kind.REQUIRED else None for name, of in kind.COLUMNS.items()}
    return (tuple({**plain, **{name: row[name] for name in row if name in plain}}.values()) for row in rows)


def pipeline(*words: str | Path, cache: Path, start: Sequence[str | Path] = KIPLINT, **others: str) -> None:
    """Run `kiplint pipeline` in a process of its own; raises AssertionError when it fails."""
    command = [*start, "pipeline", *words]
    env = surroundings(cache, **others)
    process = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


def ask(*words: str) -> Ran:
    """Run `kiplint pipeline` as a user does."""
    return kiplint("pipeline", *words, cwd=ROOT)


def stdout(*words: str) -> str:
    """What such a run prints; raises AssertionError when it complains."""
    result = ask(*words)
    assert (result.code, result.err) == (0, "")
    return result.out


def settings(**others: str) -> tuple[str, ...]:
    """The arguments for a small run; in names, two underscores stand for a dot."""
    conf = {name.replace("__", "."): value for name, value in others.items()}
    return tuple(word for pair in (QUICK | conf).items() for word in ("--conf", "=".join(pair)))


def quick_settings(folder: Path, more: Mapping[str, str] = {}) -> Path:
    """A directory, to be SPARK_CONF_DIR, with the settings for a small run, and more."""
    folder.mkdir(exist_ok=True)
    (folder / "spark-defaults.conf").write_text(
        "".join(f"{name} {value}\n" for name, value in {**QUICK, **more}.items())
    )
    return folder


def surroundings(cache: Path, **others: str) -> dict[str, str]:
    """The environment of a run and of a cluster's processes, without settings of this machine's for Spark.

    What killed processes leave behind in temporary directories is below the cache, too.
    """
    env = {name: value for name, value in environment().items() if not name.startswith(("SPARK_", "JDK_"))}
    scratch = cache / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    places = {"TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch), "XDG_CACHE_HOME": str(cache)}
    quick = f"{FIRST_COMPILER} -XX:-UsePerfData -Djava.io.tmpdir={scratch}"
    return {**env, **places, "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": quick, **others}
