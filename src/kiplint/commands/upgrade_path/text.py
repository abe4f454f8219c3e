"""An upgrade path for people: the steps, and what stands in the way of the direct jump."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.upgrade_path.run import UpgradeResult
from kiplint.compat.roles import TITLES, Mode
from kiplint.compat.upgrade import Blocker, Step, UpgradePath
from kiplint.render.table import BOLD, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.text.show import printable
from kiplint.text.words import plural

_RED = SEVERITY["error"]


def write(result: UpgradeResult, out: TextIO, *, color: bool) -> None:
    """Write the path, or that there is none."""
    found = result.path
    width = width_of(out)
    sections = [_path(found, color, width)]
    if not found.direct.possible and found.source != found.target:
        sections.append(_direct(found, color, width))
    out.write("\n\n".join("\n".join(section) for section in sections) + "\n")


def _path(found: UpgradePath, color: bool, width: int | None) -> list[str]:
    ends = f"{found.source} to {found.target}"
    if not found.found:
        furthest = "" if found.furthest in ("", found.source) else f"; one gets as far as {found.furthest}"
        return [paint(printable(f"No path from {ends}{furthest}"), _RED, color)]
    if not found.steps:
        return [title(f"From {ends}: nothing to do", color)]
    head = title(f"From {ends} in {plural(len(found.steps), 'step')}", color)
    rows = ([(f"{number}.", ""), *_cells(step)] for number, step in enumerate(found.steps, 1))
    return [head, *table((), rows, color, width), *(line for said in _assumed(found) for line in fold(said, width))]


def _assumed(found: UpgradePath) -> list[str]:
    """Which mode the path begins in, where it could begin in the other too."""
    if not found.assumed or found.mode is None:
        return []
    other: Mode = "kraft" if found.mode == "zookeeper" else "zookeeper"
    return [f"  assumed: in {TITLES[found.mode]} mode at first (the shortest path); --mode {other} for the other"]


def _cells(step: Step) -> list[tuple[str, str]]:
    mode = TITLES[step.mode]
    if step.kind == "migrate":
        return [("migrate", ""), (step.target, BOLD), (f"from ZooKeeper to {mode}", "")]
    return [("upgrade", ""), (f"{step.source} to {step.target}", BOLD), (f"in {mode} mode", "")]


def _direct(found: UpgradePath, color: bool, width: int | None) -> list[str]:
    lines = [title(f"Not in one step from {found.source} to {found.target}", color)]
    if not found.direct.modes:
        lines.append("  no common mode: one runs with ZooKeeper only, the other without it")
    without = [one for one in found.direct.blockers if one.kind == "no-common-version"]
    if without:
        lines.append(f"  {plural(len(without), 'RPC')} without a common version:")
        lines += paragraph((f"{one.name} {one.old} / {one.new}" for one in without), "    ", width)
    gone = [one for one in found.direct.blockers if one.kind == "gone"]
    if gone:
        lines.append(f"  {plural(len(gone), 'RPC')} no longer served:")
        lines += paragraph((_brief(one) for one in gone), "    ", width)
    return lines


def _brief(one: Blocker) -> str:
    return f"{one.name} {one.old}"
