"""A rollout as a page of HTML: every RPC with its versions, each with the header that it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TextIO

from kiplint.commands.rollout.result import document
from kiplint.commands.rollout.run import RolloutResult
from kiplint.commands.rollout.text import closing
from kiplint.compat.rollout import STATUSES
from kiplint.render.page import Strip, Tally, anchors, set_title, strip, write_page
from kiplint.versions import NONE, InvalidRange, VersionRange

ORDER = ("wrong", "missing", "new", "done", "exempt", "dead")
MARKS = {"wrong": "error", "missing": "warning", "new": "good", "done": "good", "exempt": "", "dead": ""}


class Line(NamedTuple):
    """An RPC as the JSON has it, the name by which it can be linked, its versions, and the version that it lacks."""

    rpc: Mapping[str, Any]
    anchor: str
    versions: Strip


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the page, what is wrong or missing first."""
    found = document(result)
    rpcs = sorted(found["rpcs"], key=lambda one: (ORDER.index(one["status"]), one["api_key"], one["name"]))
    names = anchors([one["name"] for one in rpcs])
    longest = max((_range(one["versions"]).highest for one in rpcs if one["versions"] != "none"), default=0)
    write_page(
        "commands/rollout/page.html",
        out,
        title=set_title(result.sets[0]) if result.sets else "the working directory",
        base=set_title(result.sets[1]) if len(result.sets) > 1 else "",
        told=closing(result.rows, result.header),
        header=found["header"],
        tallies=[Tally(status, status, found["summary"][status], MARKS[status]) for status in STATUSES],
        marks=MARKS,
        lines=[Line(one, name, _strip(one, found["header"])) for one, name in zip(rpcs, names, strict=True)],
        longest=min(longest, 40),
        broken=result.broken,
    )


def _strip(rpc: Mapping[str, Any], header: int) -> Strip:
    valid, released = _range(rpc["versions"]), _range(rpc["base_versions"])
    headers = [(_range(versions), number) for versions, number in rpc["header_versions"].items()]

    def tell(version: int) -> tuple[str, str]:
        used = next((number for versions, number in headers if version in versions), None)
        look = "goal" if used is not None and used >= header else f"h{used}" if used is not None else "none"
        new = bool(released) and version not in released
        meaning = f"header {used}" if used is not None else "no header"
        return f"{look} fresh" if new else look, f"{meaning}, new" if new else meaning

    return strip([released, *(versions for versions, _ in headers)], valid, tell)


def _range(text: str) -> VersionRange:
    try:
        return VersionRange.parse(text) if text else NONE
    except InvalidRange:
        return NONE
