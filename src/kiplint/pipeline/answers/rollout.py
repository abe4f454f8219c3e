"""How far a request header version has come, over time and releases (KIP-1313)."""

from __future__ import annotations

from typing import Any

from kiplint.pipeline.grid import Answer, Grid, plain, short, shown
from kiplint.pipeline.reader import Reader, Row
from kiplint.pipeline.tables.offers import Offers
from kiplint.pipeline.tables.sets import Sets

NOTHING = (0, 0, 0)
COLUMNS = ("when", "commit", "release", "RPCs", "with it", "share")


def rollout(reader: Reader, header: int = 3) -> Answer:
    """For each revision of each line, how many RPCs have a version with this header or a later one.

    For people, the revisions at which a number changes, and the newest.
    """
    counts: dict[str, tuple[int, int, int]] = {}
    for row in reader.rows(Offers, ["root", "lowest", "highest", "request_headers"]):
        whole, adopted, versions = counts.get(row["root"], NOTHING)
        has = any(one["header"] >= header for one in row["request_headers"] if one["lowest"] <= row["highest"])
        counts[row["root"]] = whole + 1, adopted + has, versions + row["highest"] - row["lowest"] + 1
    sets = sorted(reader.rows(Sets), key=lambda row: (row["source"], row["lineage"], row["position"]))
    told = [{**_public(row), **_numbers(counts.get(row["root"], NOTHING))} for row in sets]
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in told:
        lines.setdefault((one["source"], one["lineage"]), []).append(one)
    title = f"Request header {header}"
    grids = [
        Grid(f"{title}: {' '.join(filter(None, line))}", COLUMNS, [_row(one) for one in _steps(rows)])
        for line, rows in lines.items()
    ]
    return Answer({"version": 1, "header": header, "sets": list(map(plain, told))}, grids)


def _public(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "root"}


def _numbers(counts: tuple[int, int, int]) -> dict[str, int]:
    return {"rpcs": counts[0], "adopted": counts[1], "versions": counts[2]}


def _steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The revisions at which adoption changes, the first and the newest; every release."""
    kept = []
    for at, row in enumerate(rows):
        edge = at in (0, len(rows) - 1)
        if edge or row["release"] or row["adopted"] != rows[at - 1]["adopted"]:
            kept.append(row)
    return kept


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    share = f"{row['adopted'] / row['rpcs']:.0%}" if row["rpcs"] else ""
    return (
        shown(row["time"]),
        short(row["commit"]),
        shown(row["release"]),
        *map(shown, (row["rpcs"], row["adopted"])),
        share,
    )
