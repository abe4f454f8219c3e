"""What a run of the pipeline is asked for, or was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import Request, requested


def make_request(
    lake: Lake,
    sources: Sequence[str],
    paths: Sequence[str] = (),
    upstream: str = "",
    *,
    config: str = "",
    resume: bool = False,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    across: bool = False,
) -> Request:
    """What is to be read into a lake: these sources, or those of the run before, or these changed. Raises UsageError.

    `--resume` goes on with all of it, its paths, upstream and configuration too, unless the latter are named again.
    """
    before = requested(lake.snapshot()) if lake.exists else None
    place = os.path.abspath(config) if config else ""
    asked = tuple(map(_absolute, sources))
    if add or remove:
        if asked:
            raise UsageError("--add and --remove change the sources of the run before; leave --source out")
        return _changed(_known(lake, before, across=across), tuple(map(_absolute, add)), remove)
    if resume:
        if before and (asked or paths) and (asked, tuple(paths)) != (before.sources, before.paths):
            raise UsageError("--resume goes on with the sources of the run before; leave the others out")
        if before or not asked:
            return _known(lake, before, place, upstream, across=across)
    elif not asked:
        raise UsageError("nothing to read: name a --source NAME=PATH, or --resume the run that wrote the lake")
    if before and set(asked) != set(before.sources):
        other = _difference(asked, before.sources)
        raise UsageError(f"{lake} was read from other sources ({other}): --add or --remove them")
    return Request(asked, tuple(paths), upstream, place, across)


def read_conf(pairs: Iterable[str]) -> dict[str, str]:
    """`K=V` settings as a mapping; raises UsageError for one without an equals sign."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--conf takes NAME=VALUE, such as spark.driver.memory=4g, not {pair}")
        found[name] = value
    return found


def _known(
    lake: Lake, before: Request | None, config: str = "", upstream: str = "", *, across: bool = False
) -> Request:
    if before is None:
        raise UsageError(f"there is no run to resume: {lake} is no lake")
    return Request(
        before.sources, before.paths, upstream or before.upstream, config or before.config, across or before.across
    )


def _changed(before: Request, add: tuple[str, ...], remove: Sequence[str]) -> Request:
    kept = before.sources
    for name in remove:
        left = tuple(one for one in kept if one.partition("=")[0] != name and one != _absolute(name))
        if left == kept:
            raise UsageError(f"the lake has no source {name}: there are {', '.join(kept)}")
        kept = left
    sources = (*kept, *(one for one in add if one not in kept))
    if not sources:
        raise UsageError("no source would be left")
    names = {one.partition("=")[0] for one in sources}
    upstream = before.upstream if before.upstream in names else ""
    return Request(sources, before.paths, upstream, before.config, before.across)


def _difference(asked: tuple[str, ...], known: tuple[str, ...]) -> str:
    new = [f"{one} is new" for one in asked if one not in known]
    gone = [f"{one} is missing" for one in known if one not in asked]
    return ", ".join((*new, *gone))


def _absolute(source: str) -> str:
    """The source with an absolute path, so that it can be resumed from any directory."""
    name, equals, path = source.partition("=")
    return f"{name}={os.path.abspath(path)}" if equals and path and "://" not in path else source
