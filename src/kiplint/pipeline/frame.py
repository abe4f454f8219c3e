"""Tables in memory: one DataFrame each, its columns checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Frame:
    """A DataFrame whose columns are what the class says, in that order; raises ValueError for any other."""

    df: DataFrame
    NAME: ClassVar[str]
    COLUMNS: ClassVar[Columns]
    ABOUT: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        KINDS[cls.NAME] = cls

    def __post_init__(self) -> None:
        found, wanted = self.df.dtypes, list(self.COLUMNS.items())
        if found != wanted:
            off = [f"{name} {kind}" for name, kind in found if (name, kind) not in wanted]
            missing = [f"{name} {kind}" for name, kind in wanted if (name, kind) not in found]
            said = "; ".join(f"{what} {', '.join(ones)}" for what, ones in (("misses", missing), ("has", off)) if ones)
            raise ValueError(f"not a table {self.NAME}: it {said or 'has its columns in another order'}")


KINDS: dict[str, type[Frame]] = {}
"""The tables by their names, as far as their modules have been imported: a stage depends on its own ones alone."""
