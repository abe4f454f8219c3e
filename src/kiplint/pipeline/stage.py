"""A stage of a run: the tables it reads and writes, what its results depend on besides, and how it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from kiplint.pipeline.code import Code, code_id

if TYPE_CHECKING:
    from kiplint.pipeline.engine import Engine
    from kiplint.pipeline.listing import Line
    from kiplint.pipeline.work import Work


class Context(NamedTuple):
    """What a run is about, as stages need it.

    `problems` are what is wrong with sources that cannot be listed, `lost` their lines, as source and lineage, `cut`
    the sources whose history does not go back to its beginning. `paths` are globs that choose
    definitions, `upstream` is the source that forks are held against; `across` asks
    for a matrix of the releases of all sources together.
    """

    engine: Engine
    lines: tuple[Line, ...]
    problems: tuple[tuple[str, str], ...]
    paths: tuple[str, ...]
    upstream: str
    lost: tuple[tuple[str, str], ...] = ()
    cut: tuple[str, ...] = ()
    across: bool = False


class Stage(NamedTuple):
    """`asks` tells what results depend on besides the data and the stage's own code: rules, or what was asked for.

    It does so by the names under which the lake remembers what was done; without it there is one, the stage's own.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    run: Callable[[Work, Context], None]
    asks: Callable[[Context], Mapping[str, str]] | None = None

    def ids(self, context: Context, code: Code | None = None) -> dict[str, str]:
        """Ids of all that results depend on but for the data; `code` is a copy of this package that is to run."""
        own = code_id(self.run.__module__, code)
        asked = self.asks(context) if self.asks else {self.name: ""}
        return {name: sha256(f"{own} {one}".encode()).hexdigest()[:16] for name, one in asked.items()}
