"""A stage of a run: the tables it reads and writes, what its results depend on besides, and how it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

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
    """`asks` tells what results depend on besides the data and the code: rules, or what was asked for.

    It does so by the names under which the lake remembers what was done; without it there is one, the stage's own.
    """

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    run: Callable[[Work, Context], None]
    asks: Callable[[Context], Mapping[str, str]] | None = None

    def ids(self, context: Context) -> dict[str, str]:
        """Ids of all that results depend on but for the data."""
        demands = self.asks(context) if self.asks else {self.name: ""}
        return {name: sha256(f"{code_id()} {demand}".encode()).hexdigest()[:16] for name, demand in demands.items()}


@cache
def code_id() -> str:
    """The id of the code that runs: any change of kiplint's own modules has every stage done again."""
    return id_of(files("kiplint"))


def id_of(package: Traversable) -> str:
    """The id of a copy of kiplint, which is its directory, on a disk or in an archive.

    The compiled rules do not count: they follow from the rules of a run, which stages name themselves.
    """
    digest = sha256()
    for name, source in sorted(_sources(package)):
        digest.update(b"\0" + name.encode() + b"\0" + sha256(source).digest())
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        name = above + entry.name
        if name.endswith(".py"):
            yield name, entry.read_bytes()
        elif entry.is_dir() and name != "compiled":
            yield from _sources(entry, f"{name}/")
