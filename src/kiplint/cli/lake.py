"""What the commands of the pipeline share: Spark is asked for, a lake opened, an answer written."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
from typing import TYPE_CHECKING

from kiplint.cli.process import CLEAN
from kiplint.cli.terminal import use_color
from kiplint.engine.errors import UsageError

if TYPE_CHECKING:
    from kiplint.pipeline.grid import Answer
    from kiplint.pipeline.reader import Reader


def need_spark() -> None:
    """Raise UsageError, saying what to install, where Spark is not there."""
    if any(importlib.util.find_spec(name) is None for name in ("pyspark", "pyarrow")):
        raise UsageError("kiplint pipeline needs Spark: pip install 'kiplint[pipeline]'")


def settle_interrupts() -> None:
    """Let Ctrl-C end the command: Spark's own handler asks the JVM in the midst of another call, and logs that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger().addHandler(logging.NullHandler())


def open_lake(path: str) -> Reader:
    """The tables of a lake, to be read without Spark. Raises UsageError where there is none."""
    need_spark()
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.reader import Reader

    return Reader(Lake(path))


def write_answer(found: Answer, form: str, color: str) -> int:
    """Write an answer as text, json or markdown."""
    import json

    from kiplint.report.lake.grids import write_markdown, write_text

    if form == "json":
        json.dump(found.document, sys.stdout, indent=2)
        sys.stdout.write("\n")
    elif form == "markdown":
        write_markdown(found.grids, sys.stdout)
    else:
        write_text(found.grids, sys.stdout, color=use_color(color, sys.stdout))
    return CLEAN
