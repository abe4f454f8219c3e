"""Numbers over time as points of an SVG, and spans of time as bars: only coordinates, all drawing is the template's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

WIDTH, HEIGHT = 600, 110
"""Of a chart, in its own units."""


class Axis(NamedTuple):
    """From the first moment to the last, in seconds; what has no time goes by its position."""

    first: float
    last: float

    def place(self, moment: float, width: int = WIDTH) -> int:
        """Where a moment is, from 0 to the width."""
        return round((moment - self.first) * width / (self.last - self.first)) if self.last > self.first else 0


class Chart(NamedTuple):
    """One line of history: its two numbers as lines, where releases are, what is at the edges, and all in words."""

    title: str
    versions: str
    rpcs: str
    adopted: str
    releases: list[tuple[int, str]]
    first: str
    last: str
    most: tuple[int, int]
    told: str


def chart(title: str, sets: Sequence[Mapping[str, Any]]) -> Chart:
    """The chart of a line of history; of `sets` there is one at least."""
    moments = list(map(moment, sets))
    axis = Axis(min(moments), max(moments))
    rpcs, versions = (max(1, *(one[what] for one in sets)) for what in ("rpcs", "versions"))
    first, last = sets[0], sets[-1]

    def line(what: str, most: int) -> str:
        return _steps(
            [
                (axis.place(at), HEIGHT - round(one[what] * (HEIGHT - 8) / most))
                for at, one in zip(moments, sets, strict=True)
            ]
        )

    return Chart(
        title,
        line("versions", versions),
        line("rpcs", rpcs),
        line("adopted", rpcs),
        [(axis.place(at), one["release"]) for at, one in zip(moments, sets, strict=True) if one["release"]],
        day(first["time"]) or "first",
        day(last["time"]) or "last",
        (rpcs, versions),
        f"{title}: from {first['rpcs']} RPCs in {first['versions']} versions to {last['rpcs']} in {last['versions']}; "
        f"{last['adopted']} with request header 3",
    )


def moment(one: Mapping[str, Any]) -> float:
    """When a revision was made, in seconds; its position where that is not known."""
    time = one.get("time")
    return datetime.fromisoformat(time).timestamp() if time else float(one["position"])


def day(time: str | None) -> str:
    """The day of a time in ISO 8601."""
    return (time or "")[:10]


def _steps(points: Sequence[tuple[int, int]]) -> str:
    """The points of a line that stays level until the next one; those that change nothing are left out."""
    kept: list[tuple[int, int]] = []
    for x, y in points:
        if not kept or kept[-1][1] != y:
            if kept:
                kept.append((x, kept[-1][1]))
            kept.append((x, y))
    if points and kept[-1][0] != WIDTH:
        kept.append((WIDTH, kept[-1][1]))
    return " ".join(f"{x},{y}" for x, y in kept)
