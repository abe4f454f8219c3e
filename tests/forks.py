"""A process that has imported kiplint, and forks for each run: a run is a process of its own, without its start."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def run(order: dict[str, Any]) -> None:
    """Run the command in this process, which ends with it."""
    os.chdir(order["cwd"])
    folder = Path(order["streams"])
    for number, (name, flags) in enumerate((("in", os.O_RDONLY), ("out", os.O_WRONLY), ("err", os.O_WRONLY))):
        os.dup2(os.open(folder / name, flags), number)
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = ["kiplint", *order["words"]]
    from kiplint.cli import main

    try:
        main()
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code if isinstance(end.code, int) else 0 if end.code is None else 1)


def serve() -> None:
    """Read an order a line from standard input, and write the exit code of each run."""
    import jsonschema  # noqa: F401

    from kiplint.cli.app import all_commands

    list(all_commands())
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in orders:
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
        else:
            try:
                run(json.loads(line))
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)


if __name__ == "__main__":
    serve()
