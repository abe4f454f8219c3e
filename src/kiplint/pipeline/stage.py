"""A stage of a run: the tables it reads and writes, what its results depend on besides, and how it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kiplint.pipeline.engine import Engine
from kiplint.pipeline.listing import Line
from kiplint.pipeline.work import Work


class Context(NamedTuple):
    """What a run is about, as stages need it.

    `problems` are what is wrong with sources that cannot be listed: name and text. `paths` are globs that choose
    definitions, `upstream` is the source that forks are held against.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[tuple[str, str], ...]
    paths: tuple[str, ...]
    upstream: str


class Stage(NamedTuple):
    """`engines` gives ids of code and rules, by the name under which the lake remembers what was done with them."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    engines: Callable[[Context], Mapping[str, str]]
    run: Callable[[Work, Context], None]
