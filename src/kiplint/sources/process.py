"""Git as a process: nothing that a repository says makes it run a command, connect to anybody, or ask."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from kiplint.sources.cleanup import at_end, forget
from kiplint.sources.schema_files import SourceError

_LOCAL = {"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE"}
_LOCAL |= {"GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_NO_REPLACE_OBJECTS", "GIT_PREFIX"}
_LOCAL |= {"GIT_OBJECT_DIRECTORY", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"}
"""What says where a repository is: `git rev-parse --local-env-vars` but for the configuration. Hooks set it."""

_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat"}
"""No questions, no locks, and nothing fetched: what a repository says of its remotes can name commands to be run."""

_TAME = tuple(
    word
    for setting in (f"core.hooksPath={os.devnull}", "core.fsmonitor=false", "core.alternateRefsCommand=", "gc.auto=0")
    for word in ("-c", setting)
)
"""What a repository's own configuration must not decide: each of these can name a command to be run."""


def environment(*, elsewhere: bool, protocols: str = "none") -> dict[str, str]:
    """The variables for git: it runs nothing, connects to nobody, and speaks English.

    Those of the repository here stay if it is that which is read. `protocols` are those it may use; `none` is no
    protocol.
    """
    kept = {name: value for name, value in os.environ.items() if not (elsewhere and name in _LOCAL)}
    return {**kept, **_QUIET, "LC_ALL": "C", "GIT_ALLOW_PROTOCOL": protocols}


def start(command: Sequence[str], env: dict[str, str]) -> Any:
    """A git process with three pipes; raises SourceError when there is no git to be run."""
    from subprocess import PIPE, Popen

    try:
        return Popen(["git", *_TAME, *command], stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env)
    except OSError as error:
        raise SourceError(f"revisions and bundles are read with git, which cannot be run: {error.strerror}") from None


def finish(process: Any) -> tuple[bytes, bytes]:
    """What a process writes on its two outputs until it ends; it does not survive us when we are interrupted.

    That is said to the main thread alone: `close` ends what others wait for.
    """

    def end() -> None:
        process.kill()
        process.wait()

    at_end(end)
    try:
        out, err = process.communicate()
    except BaseException:
        end()
        raise
    finally:
        forget(end)
    return out, err


def complaint(stderr: bytes) -> str:
    """The line of git's that says what is wrong."""
    lines = [line for line in stderr.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    said = [line.partition(": ")[2] for line in lines if line.startswith(("fatal: ", "error: "))]
    return next(iter(said or lines), "it says nothing")
