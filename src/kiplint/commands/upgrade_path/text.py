"""An upgrade path for people: its steps, and the obstacles to a single step."""

from __future__ import annotations

from typing import Final, TextIO

from kiplint.commands.upgrade_path.run import UpgradeResult
from kiplint.compat.roles import TITLES, Mode
from kiplint.compat.upgrade import Blocker, Step, UpgradePath
from kiplint.render.table import BOLD, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.text.show import printable
from kiplint.text.words import plural

_RED = SEVERITY["error"]


def write(result: UpgradeResult, out: TextIO, *, color: bool) -> None:
    """Write the path, or that there is none, and the obstacles to a single step."""
    path = result.path
    width = width_of(out)
    sections = [_path(path, color, width)]
    if any(step.changes for step in path.steps):
        sections.append(_changes(path, color, width))
    if not path.direct.possible and path.source != path.target:
        sections.append(_direct(path, color, width))
    if path.clients:
        sections.append(_clients(path, color, width))
    out.write("\n\n".join("\n".join(section) for section in sections) + "\n")


def _clients(path: UpgradePath, color: bool, width: int | None) -> list[str]:
    head = title("Clients", color)
    rows = [
        [
            (client.client, BOLD),
            (f"left behind by step {client.step}, {client.release}", _RED),
            (", ".join(client.lost), ""),
        ]
        if client.step
        else [(client.client, BOLD), ("not left behind", ""), ("", "")]
        for client in path.clients
    ]
    return [head, *table((), rows, color, width)]


def _path(path: UpgradePath, color: bool, width: int | None) -> list[str]:
    ends = f"{path.source} to {path.target}"
    if not path.found:
        furthest = (
            "" if path.furthest in ("", path.source) else f"; the furthest set that can be reached is {path.furthest}"
        )
        return [paint(printable(f"No path from {ends}{furthest}"), _RED, color)]
    if not path.steps:
        return [title(f"From {ends}: nothing to do", color)]
    head = title(f"From {ends} in {plural(len(path.steps), 'step')}", color)
    rows = ([(f"{number}.", ""), *_cells(step)] for number, step in enumerate(path.steps, 1))
    return [head, *table((), rows, color, width), *(line for note in _assumed(path) for line in fold(note, width))]


def _assumed(path: UpgradePath) -> list[str]:
    """The mode that the path begins in, where it could begin in another mode too."""
    if not path.assumed or path.mode is None:
        return []
    other: Mode = "kraft" if path.mode == "zookeeper" else "zookeeper"
    return [f"  assumed: in {TITLES[path.mode]} mode at first (the shortest path); --mode {other} for the other"]


def _cells(step: Step) -> list[tuple[str, str]]:
    mode = TITLES[step.mode]
    if step.kind == "migrate":
        return [("migrate", ""), (step.target, BOLD), (f"from ZooKeeper to {mode}", "")]
    return [("upgrade", ""), (f"{step.source} to {step.target}", BOLD), (f"in {mode} mode", "")]


_CHANGES: Final = {
    "listener-removed": ("no longer served by {listeners}", SEVERITY["warning"]),
    "listener-added": ("now also served by {listeners}", ""),
    "deprecated": ("deprecated, for clients to leave", ""),
    "undeprecated": ("no longer deprecated", ""),
}
"""What the kinds of changes mean to clients, and the colour."""


def _changes(path: UpgradePath, color: bool, width: int | None) -> list[str]:
    lines = [title("What the steps change for clients", color)]
    for number, step in enumerate(path.steps, 1):
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for change in step.changes:
            versions = "" if change.listeners else f" {change.versions}"
            groups.setdefault((change.kind, change.listeners), []).append(change.name + versions)
        if groups:
            lines += fold(f"  {number}. {step.source} to {step.target}", width)
        for (kind, listeners), rpcs in sorted(groups.items(), key=lambda group: [*_CHANGES].index(group[0][0])):
            text, code = _CHANGES[kind]
            lines += fold(f"     {text.format(listeners=' and '.join(listeners))}:", width, color, code)
            lines += paragraph(rpcs, "       ", width)
    return lines


def _direct(path: UpgradePath, color: bool, width: int | None) -> list[str]:
    lines = [title(f"Not in one step from {path.source} to {path.target}", color)]
    if not path.direct.modes:
        lines.append("  no common mode: one runs with ZooKeeper only, the other without it")
    for kind, what in (("no-common-version", "without a common version"), ("gone", "no longer served")):
        if rpcs := [blocker for blocker in path.direct.blockers if blocker.kind == kind]:
            lines.append(f"  {plural(len(rpcs), 'RPC')} {what}:")
            lines += paragraph(map(_blocker, rpcs), "    ", width)
    return lines


def _blocker(rpc: Blocker) -> str:
    """An RPC with its versions, or with the listeners that no longer serve it where the newer set still has it."""
    if rpc.kind == "no-common-version":
        return f"{rpc.name} {rpc.old} / {rpc.new}"
    return f"{rpc.name} {rpc.old}" + (f" (by {' and '.join(rpc.listeners)})" if rpc.listeners else "")
