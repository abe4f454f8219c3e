"""The process of an executor that works for a stage."""

from __future__ import annotations

import gc
import sys

PUT_ASIDE = 1 << 14
"""So many objects take longer to look through than ten definitions."""


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected.

    Spark collects after each task all the same. What has outlived one, the compiled rules above all, is put aside, so
    that it is not looked through again. Only there: a process that ends by itself would complain of what is left.
    """
    gc.disable()
    if in_a_task() and len(gc.get_objects()) > PUT_ASIDE:
        gc.freeze()


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    known = sys.modules.get("pyspark.taskcontext")
    return bool(known and known.TaskContext.get())
