"""A process that has imported kiplint's command line, and forks for each run of it: what takes long is done once.

A run sees a process of its own: its arguments, directory, environment and standard streams. Only its imports, the rules
and the template of pages are there already, so tests about imports and about starting the command do without.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

AVAILABLE = hasattr(os, "fork")
SOURCE = Path(__file__).resolve().parent.parent / "src"
MODULES = str(SOURCE)
"""Where processes find kiplint."""
APART = tuple(f"kiplint.{name}" for name in ("__main__", "commands.lsp", "commands.pipeline", "pipeline", "server"))
"""Modules that few runs need, and that take long to import."""
OTHERS = ("jinja2", "json5", "jsonschema", "networkx", "typer._click.decorators", "typer._click._textwrap")
OF_LAKES = ("pyspark.sql", "pyarrow.dataset", "pyarrow.parquet", "duckdb", "kiplint.pipeline.run")
"""What runs of the pipeline import besides: half a second, which no other run is to carry along."""
SECONDS, BYTES = 300, 4 << 30
"""What a run may take at most when it is asked to be limited."""
STREAMS = ("stdin", "stdout", "stderr")
START_OPTIONS = ["-P", "-m", "kiplint"]
"""How a script starts kiplint; when it is run here, that is one more fork."""
REDIRECTED = "ZYGOTE_STREAMS"
"""Streams that are redirected, as a shell is told it: `2>&-`, `>/dev/full`."""


class Zygote:
    """The process, as a test sees it."""

    def __init__(self, *modules: str) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), *modules]
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # others are not forked
        environment = {**os.environ, **one_thread, "PYTHONPATH": MODULES}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        atexit.register(self.close)

    def run(
        self, words: Sequence[str], cwd: str, environment: Mapping[str, str], stdin: bytes = b"", script: str = ""
    ) -> tuple[int, bytes, bytes]:
        """The exit code of `kiplint`, or of a script that starts it, with these words, and what it wrote."""
        request = {"words": words, "cwd": cwd, "environment": environment, "script": script}
        return _with_streams(request, stdin, self._ask)

    def _ask(self, request: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


def _with_streams(
    request: Mapping[str, Any], stdin: bytes, run: Callable[[Mapping[str, Any]], int]
) -> tuple[int, bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in STREAMS]
        files[0].write_bytes(stdin)
        code = run({**request, "files": list(map(str, files))})
        return code, files[1].read_bytes(), files[2].read_bytes()


def zygote(words: Sequence[str]) -> Zygote:
    """The process of a test session that forks for such a run."""
    return _zygote(*(OF_LAKES if words[:1] == ["pipeline"] else ()))


@cache
def _zygote(*modules: str) -> Zygote:
    return Zygote(*modules)


def import_all(*names: str) -> None:
    """Import kiplint, with its rules, and what of this is installed."""
    own = (module.name for module in walk_packages([str(SOURCE / "kiplint")], "kiplint."))
    for name in (*(name for name in own if not name.startswith(APART)), *OTHERS, *names):
        with suppress(ImportError):
            import_module(name)
    from kiplint import check
    from kiplint.render.formats import write

    write("text", check(SOURCE.parent / "fixtures" / "sets" / "broker", config={}), io.StringIO())  # loads the rules


def prepare(words: Sequence[str]) -> None:
    """Do what runs with such words do first, always with the same result."""


def _serve() -> None:
    import_all(*sys.argv[1:])
    gc.freeze()  # what is there already is not looked at again, and so not copied, by every fork
    for line in sys.stdin:
        print(_fork(json.loads(line)), flush=True)


def _fork(request: Mapping[str, Any]) -> int:
    prepare(request["words"])
    child = os.fork()
    if child == 0:
        _run(request)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _start(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """What a script starts: kiplint as a fork, anything else as ever."""
    if list(command[1:4]) != START_OPTIONS:
        return SUBPROCESS(command, **options)
    assert (options["stdin"], options["capture_output"]) == (subprocess.DEVNULL, True)
    sys.stdout.flush()
    request = {"words": command[4:], "cwd": os.getcwd(), "environment": options["env"], "script": ""}
    return subprocess.CompletedProcess(command, *_with_streams(request, b"", _fork))


SUBPROCESS: Callable[..., subprocess.CompletedProcess[bytes]] = subprocess.run


def _program(script: str) -> None:
    if script:
        sys.path.remove("")  # as with `python -P`
        subprocess.run = _start  # type: ignore[assignment]
        runpy.run_path(script, run_name="__main__")
        return
    from kiplint.cli import main

    main()


def _run(request: Mapping[str, Any]) -> NoReturn:
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (name, mode) in enumerate(zip(request["files"], modes, strict=True)):
        os.dup2(os.open(name, mode), number)
    begin(request)


def begin(request: Mapping[str, Any]) -> NoReturn:
    """Become a run, in a forked process that has its standard streams already."""
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
    sys.argv = [request["script"] or "kiplint", *request["words"]]
    code: object = 1
    try:
        _program(request["script"])
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
