"""What a small lake would answer, written by hand."""

from __future__ import annotations

from typing import Any

MAIN = {"source": "sample", "lineage": "main"}
COMMITS = [f"{number}" * 40 for number in range(4)]
TIMES = [f"2024-0{month}-08T12:00:00+00:00" for month in (1, 2, 5, 9)]


def lake_document(name: str) -> dict[str, Any]:
    """The document of a report: one line of four revisions, three findings and two breaks, a collision, a problem."""
    numbers = [(2, 0, 9), (2, 0, 10), (3, 0, 13), (3, 1, 14)]
    history = [
        {**MAIN, "position": at, "commit": COMMITS[at], "time": TIMES[at], "release": "1.0.0" if at == 1 else None}
        | {"rpcs": rpcs, "adopted": adopted, "versions": versions}
        for at, (rpcs, adopted, versions) in enumerate(numbers)
    ]
    return {
        "version": 1,
        "sources": [{**MAIN, "kind": "git", "location": "sample", "sets": 4}],
        "counts": {"blobs": 12, "findings": 3},
        "findings": [
            _row(name, 1, None, "tags/gap", "error", first_release=None),
            _row(name, 0, 2, "fields/unknown-type", "error", first_release="1.0.0", fixed_release="2.0.0"),
            _row("", 0, None, "style/about-missing", "warning"),
        ],
        "breaks": [
            {**_row(name, at, None, "compat/layout-changed", "error", first_release=release)}
            | {"what": "change", "open": None, "breaks": "wire"}
            for at, release in ((2, None), (1, "1.0.0"))
        ],
        "matrix": {"agreed": 40, "no-common-version": 2},
        "drift": [{"source": "fork", "lineage": "fork", "status": "collision", "layouts": 1}],
        "collisions": [
            {"source": "fork", "lineage": "fork", "message_name": name, "lowest": 3, "highest": 4, "path": "x.json"}
            | {"upstream_release": None, "upstream_commit": COMMITS[3]}
        ],
        "problems": [{"stage": "ingest", "subject": "0.9.0", "problem": f"{name} cannot be read"}],
        "history": history,
    }


def _row(name: str, begin: int, end: int | None, rule: str, severity: str, **others: Any) -> dict[str, Any]:
    fix = {"fixed_position": end, "fixed_commit": COMMITS[end or 0], "fixed_time": TIMES[end or 0]}
    return {
        **MAIN,
        "what": "finding",
        "rule": rule,
        "severity": severity,
        "breaks": None,
        "message_name": name,
        "field": "",
        "path": f"clients/{begin}.json",
        "message": f"{rule} is broken in {name or 'a file'}",
        "introduced_position": begin,
        "introduced_commit": COMMITS[begin],
        "introduced_time": TIMES[begin],
        **(fix if end is not None else dict.fromkeys(fix)),
        "open": end is None,
        "first_release": None,
        "fixed_release": None,
        **others,
    }
