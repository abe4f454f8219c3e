"""One call of git: safe in an untrusted repository, and limited in time, memory and what it can run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from signal import Signals
from subprocess import PIPE, CompletedProcess, Popen
from tempfile import TemporaryFile
from threading import Event, Timer
from typing import Final

from kiplint.limits import GIT_OBJECTS, Limit
from kiplint.sources.schema_files import SourceError

_LOCATING_VARIABLES = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_DIR GIT_GRAFT_FILE GIT_IMPLICIT_WORK_TREE GIT_INDEX_FILE
    GIT_INTERNAL_SUPER_PREFIX GIT_NAMESPACE GIT_NO_REPLACE_OBJECTS GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_REPLACE_REF_BASE
    GIT_SHALLOW_FILE GIT_WORK_TREE"""
"""The variables that locate a repository, which hooks set: `git rev-parse --local-env-vars` without configuration."""

_SAFE_ENV = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat"}
_SAFE_ENV |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull, "GIT_LITERAL_PATHSPECS": "0", "LC_ALL": "C"}
"""No prompts, no locks, and no fetching, because the configuration of remotes can name commands to run; and the
original objects and parents, without replacements or grafts."""

_SAFE_OPTIONS = (
    f"-c core.hooksPath={os.devnull} -c core.fsmonitor=false -c core.alternateRefsCommand= -c gc.auto=0".split()
)
"""Settings of a repository that are overridden, because each of them can name a command to run."""

if os.name == "nt":  # a git.exe in the working directory would come before the one of PATH
    os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"

TIME_LIMIT: Final = 60.0
"""The maximum seconds of a command, because git can take forever to list folders that share subfolders."""
_STDERR_BYTES: Final = 1 << 16
"""The number of bytes read from the end of git's standard error: the reason of a failure comes after warnings."""


class GitMissingError(SourceError):
    """Git cannot be started."""


class GitTimeoutError(SourceError):
    """Git took too long, and was stopped."""


def environment(*, elsewhere: bool, protocols: str = "none") -> dict[str, str]:
    """The environment variables for git, so that it runs no other program and prints English messages.

    `elsewhere` removes the variables by which a hook locates its own repository, so that git finds another one.
    `protocols` are those that git may fetch with; `none` allows no protocol.
    """
    removed_names = _LOCATING_VARIABLES.split() if elsewhere else ()
    variables = {name: value for name, value in os.environ.items() if name not in removed_names}
    return {**variables, **_SAFE_ENV, "GIT_ALLOW_PROTOCOL": protocols}


def run(
    command: Sequence[str],
    env: dict[str, str],
    subject: str,
    *,
    limit: Limit = GIT_OBJECTS,
    seconds: float = TIME_LIMIT,
    stdin_bytes: bytes = b"",
) -> CompletedProcess[bytes]:
    """Run git with the arguments `command`, and wait for its end; `subject` is what errors are about.

    `stdin_bytes` is its standard input. The command must not read the files of the work tree, which git passes through
    filters that a configuration names. Raises GitMissingError when git cannot be started, and SourceError when it
    writes more than `limit` bytes, takes longer than `seconds`, or is killed: half an answer is none.
    """
    timed_out = Event()
    # Files in place of two pipes: git could fill a pipe that nobody reads while kiplint waits for the other one.
    with TemporaryFile() as stdin, TemporaryFile() as stderr:
        stdin.write(stdin_bytes)
        stdin.seek(0)
        try:
            process = Popen(["git", *_SAFE_OPTIONS, *command], stdin=stdin, stdout=PIPE, stderr=stderr, env=env)
        except OSError as error:
            text = f"revisions and bundles are read with git, which cannot run: {error.strerror}"
            raise GitMissingError(text) from None

        def stop() -> None:
            timed_out.set()
            process.kill()

        timer = Timer(seconds, stop)
        timer.start()
        with process:  # whose end waits for git, so an exception such as Ctrl-C must kill git first
            try:
                assert process.stdout
                out = process.stdout.read(limit + 1)
                if len(out) > limit:
                    process.kill()
                process.wait()
            except BaseException:
                process.kill()
                raise
            finally:
                timer.cancel()
        stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - _STDERR_BYTES))
        err = stderr.read()
    if len(out) > limit:
        raise SourceError(limit.exceeded(subject))
    if timed_out.is_set():
        raise GitTimeoutError(f"{subject}: git took more than {seconds:g} seconds, and was stopped")
    if process.returncode < 0:
        raise SourceError(f"{subject}: git was killed ({Signals(-process.returncode).name})")
    return CompletedProcess(command, process.returncode, out, err)


def complaint(stderr: bytes) -> str:
    """The reason in git's standard error: the text after the first `fatal: ` or `error: `, or its first line."""
    lines = [line for line in stderr.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    for line in lines:
        label, _, reason = line.partition(": ")
        if label in ("fatal", "error"):
            return reason
    return lines[0] if lines else "it gives no reason"
