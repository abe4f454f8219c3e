"""The process of an executor that works for a stage."""

from __future__ import annotations

import gc


def settle() -> None:
    """Prepare a worker process: the objects of a definition are taken apart when it is done, none is collected."""
    gc.disable()
