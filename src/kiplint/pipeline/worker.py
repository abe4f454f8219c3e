"""The process of an executor that works for a stage."""

from __future__ import annotations

import gc
import sys


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected.

    Spark collects after each task all the same. What has outlived one, the compiled rules above all, is put aside, so
    that it is not looked through again; as often as an eighth has been added.
    """
    gc.disable()
    if len(gc.get_objects()) > gc.get_freeze_count() // 8:
        gc.freeze()


def in_a_task() -> bool:
    """Whether this process is an executor's, at work on a task; Spark keeps it for the next."""
    known = sys.modules.get("pyspark.taskcontext")
    return bool(known and known.TaskContext.get())
