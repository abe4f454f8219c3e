"""A process that has imported kiplint's command line, and forks for each run of it: what takes long is done once.

A run sees a process of its own: its arguments, directory, environment and standard streams. Only its imports are
there already, so tests about imports and about starting the command do without.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

AVAILABLE = hasattr(os, "fork")
SOURCE = Path(__file__).resolve().parent.parent / "src"
GUARD = Path(__file__).resolve().parent / "guard"
MODULES = os.pathsep.join(map(str, (SOURCE, GUARD)))
"""Where processes find kiplint, and what keeps them from the network."""
IMPORTED = (
    "kiplint.cli.app",
    *(
        f"kiplint.runs.{name}"
        for name in ("check", "diff", "negotiate", "upgrade", "rollout", "show", "readers", "kip")
    ),
    *(f"kiplint.runs.bytes.{name}" for name in ("encode", "decode")),
    "kiplint.cli.bytes",
    "kiplint.cli.output",
    "kiplint.cli.process",
    "kiplint.text.diagnose",
    "jinja2",
    "jsonschema",
    "networkx",
)
OF_LAKES = ("pyspark.sql", "pyarrow.dataset", "pyarrow.parquet", "duckdb", "kiplint.pipeline.run")
"""What runs of the pipeline import besides: half a second, which no other run is to carry along."""
SECONDS, BYTES = 10, 4 << 30
"""What a run may take at most when it is asked to be limited."""
STREAMS = ("stdin", "stdout", "stderr")
REDIRECTED = "ZYGOTE_STREAMS"
"""Streams that are redirected, as a shell is told it: `2>&-`, `>/dev/full`."""


class Zygote:
    """The process, as a test sees it."""

    def __init__(self, *imported: str) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), *imported]
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # others are not forked
        environment = {**os.environ, **one_thread, "PYTHONPATH": MODULES}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        atexit.register(self.close)

    def run(
        self, words: Sequence[str], cwd: str, environment: Mapping[str, str], stdin: bytes
    ) -> tuple[int, bytes, bytes]:
        """The exit code of `kiplint` with these words, and what it wrote."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in STREAMS]
            files[0].write_bytes(stdin)
            request = {"words": words, "cwd": cwd, "environment": environment, "files": list(map(str, files))}
            print(json.dumps(request), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return code, files[1].read_bytes(), files[2].read_bytes()

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def zygote(words: Sequence[str]) -> Zygote:
    """The process of a test session that forks for such a run."""
    return _zygote(*(OF_LAKES if words[:1] == ["pipeline"] else ()))


@cache
def _zygote(*imported: str) -> Zygote:
    return Zygote(*imported)


def _serve() -> None:
    for name in (*IMPORTED, *sys.argv[1:]):
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(request: dict[str, Any]) -> NoReturn:
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, mode) in enumerate(zip(request["files"], modes, strict=True)):
        os.dup2(os.open(name, mode), number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    if "ZYGOTE_LIMITS" in os.environ:  # a run that may wait without end, or read without end
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    redirect(os.environ.pop(REDIRECTED, ""))
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    sys.stdin = _stream(0, "r", encoding)
    sys.stdout = _stream(1, "w", encoding, errors or "strict")
    sys.stderr = _stream(2, "w", encoding, "backslashreplace")
    if sys.stderr:
        sys.stderr.reconfigure(line_buffering=True)
    sys.argv = ["kiplint", *request["words"]]
    code: object = 1
    try:
        from kiplint.cli import main

        main()
    except SystemExit as done:
        code = done.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def redirect(words: str) -> None:
    """Do with this process's streams what a shell does with a command's."""
    for number, way, place in re.findall(r"([0-2]?)([<>])(\S+)", words):
        stream = int(number or way == ">")
        if place == "&-":
            os.close(stream)
        else:
            os.dup2(os.open(place, os.O_RDONLY if way == "<" else os.O_WRONLY), stream)


def _stream(number: int, mode: str, encoding: str, errors: str = "strict") -> Any:
    """A stream as Python has it when it begins: None where there is none."""
    try:
        return open(number, mode, encoding=encoding, errors=errors, closefd=False)
    except OSError:
        return None


if __name__ == "__main__":
    sys.path[0] = ""
    _serve()
