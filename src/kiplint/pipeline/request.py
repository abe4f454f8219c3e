"""What a run of the pipeline is asked for, or was."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import Request, requested


def make_request(
    lake: Lake, sources: Sequence[str], paths: Sequence[str] = (), upstream: str = "", *, resume: bool = False
) -> Request:
    """What is to be read into a lake: these sources, or with `resume` those of the run before. Raises UsageError."""
    if sources:
        asked = Request(tuple(map(_absolute, sources)), tuple(paths), upstream)
        if resume and requested(lake.snapshot()) not in (None, asked):
            raise UsageError("--resume goes on with the sources of the run before; leave the others out")
        return asked
    if not resume:
        raise UsageError("nothing to read: name a --source NAME=PATH, or --resume the run that wrote the lake")
    if (before := requested(lake.snapshot())) is None:
        raise UsageError(f"there is no run to resume: {lake} is no lake")
    return before


def _absolute(source: str) -> str:
    """The source with an absolute path, so that it can be resumed from any directory."""
    name, equals, path = source.partition("=")
    return f"{name}={os.path.abspath(path)}" if equals and path else source
