"""`kiplint rollout`: the state of the rollout of a request header version in a set (KIP-1313)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, TextIO

import typer

from kiplint.cli.options import ReleasedOption, ReportFormatOption, RepositoryOption, complete_sets
from kiplint.cli.output import report
from kiplint.compat.released import releases_note, releases_of
from kiplint.compat.rollout import FAILING, RolloutRow, header_text, in_words, rollout_of_trees
from kiplint.compat.rollout_report import RolloutDocument, findings_of, rollout_document
from kiplint.compat.tree import load, load_head, reported_sets, unparsable_files
from kiplint.engine.config import Configurations, StrPath
from kiplint.engine.errors import UsageError
from kiplint.render.formats import Writer
from kiplint.render.markdown import write_table, write_verdict
from kiplint.render.report import Report, Status, Verdict
from kiplint.render.table import BOLD, SEVERITY, Cell, table, verdict_lines, width_of
from kiplint.sources.repository import open_repository

COLUMNS: Final = ("RPC", "key", "status", "base", "versions", "request headers")

EPILOG = """\b
Examples:
  kiplint rollout 4.1.0: HEAD:
  kiplint rollout clients/ --output-format markdown"""


def command(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BASE] HEAD",
            autocompletion=complete_sets,
            help="The base, if any, and the set to report on.",
            show_default="the working directory",
        ),
    ] = None,
    header: Annotated[
        int, typer.Option(min=1, metavar="VERSION", help="The request header version that every RPC should have.")
    ] = 3,
    released: ReleasedOption = None,
    repository: RepositoryOption = None,
    output_format: ReportFormatOption = None,
) -> int:
    """Report which RPCs use the new request header (KIP-1313).

    done: a new version uses it, and the response was bumped too. unstable: only an unstable version uses it.
    missing: none does. wrong: check has an error about its versions or headers, or a released version was moved to
    another header. new: not in BASE, with the header from its first version.
    exempt: frozen. dead: no version left. The exit code is 1 while any is unstable, missing or wrong.
    """
    return report(
        "rollout",
        output_format,
        lambda: rollout(*(sets or ()), header=header, released=released or (), repository=repository),
    )


class RolloutResult(Report, frozen=True, kw_only=True):
    """The result of `rollout`: its document, and a finding for each RPC that violates a rule."""

    document: RolloutDocument

    command = "rollout"
    list_attribute = "rpcs"
    always_has_verdict = True

    closing = ""

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write, "markdown": write_markdown}

    @property
    def verdict(self) -> Verdict:
        """The state of the rollout, what is wrong, and the command that adds what is missing."""
        rows, header = self.document.rpcs, self.document.header
        wrong = [f"{row.name}: {row.message}" for row in rows if row.status == "wrong"]
        step = ""
        if header == 3 and any(row.status == "missing" for row in rows):
            head = self.sets[0]
            directory = head if os.path.isdir(head) else "PATH"
            step = f"To add what is missing, run `kiplint migrate kip-1313 {directory}`."
        return Verdict.of(in_words(rows, header), wrong, step)


def rollout(
    *sets: StrPath, header: int = 3, released: Sequence[StrPath] = (), repository: StrPath | None = None
) -> RolloutResult:
    """For each RPC of a set, whether its latest version has the request header of version `header` (KIP-1313).

    Of two sets, the first one is the release before. The status is `findings` while any is unstable, missing or wrong.
    Raises UsageError and SourceError as `diff` does.
    """
    *base_names, head_name = [os.fspath(name) for name in sets] or ["."]
    if len(base_names) > 1:
        raise UsageError(f"rollout needs one set, or a base and a head, not {len(sets)} sets")
    base_name = base_names[0] if base_names else ""
    configurations = Configurations(head_name)
    git = open_repository(repository)
    head = load_head(head_name, git, configurations.keeps)
    base = reported_sets(load(base_name, git), configurations.keeps, head.root) if base_name else None
    release_names = [os.fspath(name) for name in released]
    releases = releases_of(configurations.main, base_name, release_names, git, head_name)

    rows = tuple(rollout_of_trees(head, base, header, configurations, releases))
    status: Status = "findings" if any(row.status in FAILING for row in rows) else "ok"
    unparsable = unparsable_files(head, base)
    if unparsable:
        status = "error"
    sources = {**base.sources, **head.sources} if base else head.sources
    return RolloutResult(
        findings=findings_of(rows, sources),
        files=len(head.sources),
        messages=len(rows),
        sources=sources,
        status=status,
        sets=(head_name, *base_names),
        rules=configurations.rules_by_id,
        paths=tuple(head.sources),
        unparsable=unparsable,
        document=rollout_document(rows, header),
        notes=releases_note(releases, base_name),
    )


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the table, and how many RPCs there are of each status."""
    width = width_of(out)
    rows = map(_cells, _sorted(result.document.rpcs))
    lines = table((*COLUMNS, ""), rows, color, width, indent="", head_code=BOLD)
    out.write("\n".join([*lines, "", *verdict_lines(result.verdict, width, color)]) + "\n")


def write_markdown(result: RolloutResult, out: TextIO) -> None:
    """Write how many RPCs there are of each status, and the table."""
    write_verdict(result.verdict, out)
    cells = map(_cells, _sorted(result.document.rpcs))
    write_table((*COLUMNS, "what"), ([text or " " for text, _ in row] for row in cells), out)


def _sorted(rows: Iterable[RolloutRow]) -> list[RolloutRow]:
    """The wrong rows first, then the missing, the unstable, and all others; each by name."""
    worst_first = FAILING[::-1]

    def order(row: RolloutRow) -> tuple[int, str]:
        return worst_first.index(row.status) if row.status in FAILING else len(FAILING), row.name

    return sorted(rows, key=order)


def _cells(row: RolloutRow) -> list[Cell]:
    """The cells of the columns, and the message."""
    headers = header_text(row.header_versions)
    color = SEVERITY["error"] if row.status in FAILING else ""
    before_status = [(row.name, ""), (str(row.api_key), "")]
    after_status = [(text, "") for text in (row.base_versions, row.versions, headers, row.message)]
    return [*before_status, (row.status, color), *after_status]
