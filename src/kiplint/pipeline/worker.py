"""The process of an executor that works for a stage."""

from __future__ import annotations

import gc
import sys


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected."""
    gc.disable()


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    known = sys.modules.get("pyspark.taskcontext")
    return bool(known and known.TaskContext.get())
