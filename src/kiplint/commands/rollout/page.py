"""A rollout as a page of HTML: every RPC with the request header of each version."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.rollout.run import RolloutResult
from kiplint.commands.rollout.text import rows_by_step
from kiplint.compat.rollout import STATUSES, RolloutRow, summary
from kiplint.render.page import Strip, Tally, anchors, set_titles, strip, write_page
from kiplint.versions import NONE, InvalidRange, VersionRange

ORDER = ("wrong", "missing", "unstable", "new", "done", "exempt", "dead")
MARKS = {"wrong": "error", "missing": "warning", "unstable": "warning", "new": "good", "done": "good"}


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the page, the wrong and missing RPCs first."""
    rows = sorted(result.rows, key=lambda row: (ORDER.index(row.status), row.api_key, row.name))
    names = anchors([row.name for row in rows])
    counts = summary(rows)
    lines = [(row, name, _strip(row, result.header)) for row, name in zip(rows, names, strict=True)]
    folds = rows_by_step(result.rows)
    folded_names = {row.name for some in folds.values() for row in some}
    titles = set_titles(*result.sets)
    write_page(
        "commands/rollout/page.html",
        out,
        subject=("rollout", *(result.sets or (".",))),
        title=titles[0] if titles else "the working directory",
        base=titles[1] if len(titles) > 1 else "",
        verdict=result.verdict,
        header=result.header,
        tallies=[Tally(status, status, counts[status], MARKS.get(status, "")) for status in STATUSES],
        marks=MARKS,
        lines=lines,
        groups=[
            ("", [line for line in lines if line[0].name not in folded_names]),
            *(
                (f"{some[0].status.capitalize()}: {step}", [line for line in lines if line[0] in some])
                for step, some in folds.items()
            ),
        ],
        broken=result.broken,
        configuration=result.configuration,
    )


def _strip(row: RolloutRow, header: int) -> Strip:
    valid, released = _range(row.versions), _range(row.base_versions)
    headers = [(_range(versions), number) for versions, number in row.header_versions.items()]

    def look_and_meaning(version: int) -> tuple[str, str]:
        number = next((number for versions, number in headers if version in versions), None)
        look = "goal" if number is not None and number >= header else f"h{number}" if number is not None else "none"
        new = bool(released) and version not in released
        meaning = f"header {number}" if number is not None else "no header"
        return f"{look} fresh" if new else look, f"{meaning}, new" if new else meaning

    return strip([released, *(versions for versions, _ in headers)], valid, look_and_meaning)


def _range(text: str) -> VersionRange:
    try:
        return VersionRange.of_text(text)
    except InvalidRange:
        return NONE
