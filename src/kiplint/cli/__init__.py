"""The command line: the only place that prints or exits."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

ONLY_FAILING = "--only-failing"


def _import_msgspec_alone() -> None:
    """Import msgspec without typing_extensions, which it prefers to typing where it is installed.

    Python 3.11 has all that is taken from there; what comes along with it is a tenth of the run.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
        import msgspec  # noqa: F401

        del sys.modules["typing_extensions"]


def main() -> None:
    """Run `kiplint` with the process's arguments.

    A check or diff of plain paths, as pre-commit runs it, has next to no options to parse: it does without typer,
    whose import takes as long as checking 200 files.
    """
    gc.disable()  # the objects of a set are taken apart when it is done
    command, *words = sys.argv[1:] or [""]
    plain = [word for word in words if word != ONLY_FAILING]
    if plain and not any(word.startswith("-") for word in plain):
        if command == "check":
            _run_plain_check(plain, only_failing=plain != words)
        if command == "diff" and len(words) == 2 and plain == words:
            _run_plain_diff(*words)
    from kiplint.cli.app import app
    from kiplint.cli.completing import VARIABLE
    from kiplint.cli.process import attempt

    if VARIABLE in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    attempt(lambda: app(prog_name="kiplint"))


def _run_plain_check(sets: list[str], *, only_failing: bool) -> NoReturn:
    _import_msgspec_alone()
    from kiplint.cli.checking import CheckOptions, run_check
    from kiplint.cli.process import run

    run(lambda: run_check(CheckOptions(sets=sets, only_failing=only_failing)))


def _run_plain_diff(old: str, new: str) -> NoReturn:
    _import_msgspec_alone()
    from kiplint.cli.checking import CheckOptions
    from kiplint.cli.diffing import DiffOptions, run_diff
    from kiplint.cli.process import run

    run(lambda: run_diff(DiffOptions(old=old, new=new, common=CheckOptions(sets=[new]))))
