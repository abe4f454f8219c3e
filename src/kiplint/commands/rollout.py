"""`kiplint rollout`: how far a request header version is rolled out in a set (KIP-1313)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal, TextIO

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import asdict

from kiplint.cli.options import ReleasedOption, ReportFormatOption, RepositoryOption
from kiplint.cli.output import report
from kiplint.compat.released import releases_note, releases_of
from kiplint.compat.rollout import FAILING, RolloutRow, closing, rollout_of_trees, rollout_rules, summary
from kiplint.compat.tree import load, unparsable_files
from kiplint.engine.config import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.render.markdown import write_table, write_verdict
from kiplint.render.report import Report, Verdict, rule_infos
from kiplint.render.table import BOLD, DIM, Cell, fold, paint, paragraph, table, verdict_lines, width_of
from kiplint.text.lines import decode_text
from kiplint.text.tree import Locator

COLORS: Final = {
    "done": "32",
    "unstable": "1;33",
    "missing": "1;33",
    "wrong": "1;31",
    "new": "32",
    "exempt": DIM,
    "dead": DIM,
}
COLUMNS: Final = ("RPC", "key", "status", "base", "versions", "request headers")
LEAST_ALIKE: Final = 4
"""The number of RPCs with the same step from which on they are a paragraph."""


EPILOG = """\b
Examples:
  kiplint rollout 4.1.0: HEAD:
  kiplint rollout clients/ --output-format markdown"""


def command(
    sets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BASE] HEAD",
            help="The release before, if any, and the set to look at.",
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
    missing: none does. wrong: a released version was moved to another header, or the response lags. new: not in
    BASE, with the header from its first version.
    exempt: frozen. dead: no version left. The exit code is 1 while any is unstable, missing or wrong.
    """
    return report(
        "rollout",
        output_format,
        lambda: rollout(*(sets or ()), header=header, released=released or (), repository=repository),
    )


class RolloutSummary(msgspec.Struct, frozen=True):
    """How many RPCs there are of each status."""

    done: int
    unstable: int
    missing: int
    wrong: int
    new: int
    exempt: int
    dead: int


class RolloutDocument(msgspec.Struct, frozen=True):
    """What `kiplint rollout --output-format json` writes."""

    version: Literal[1]
    header: Annotated[int, Meta(ge=1, description="The request header that every RPC should have.")]
    rpcs: Annotated[tuple[RolloutRow, ...], Meta(description="By name.")]
    summary: RolloutSummary


class RolloutResult(Report, frozen=True, kw_only=True):
    """The result of `rollout`: its document, and a finding for each RPC that violates a rule."""

    document: RolloutDocument

    command = "rollout"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.rollout:write",
        "markdown": "kiplint.commands.rollout:write_markdown",
    }
    listing = "rpcs"
    headed = True

    closing = ""

    @property
    def verdict(self) -> Verdict:
        """How far the rollout is, what is wrong, and the command that writes what is missing."""
        rows, header = self.document.rpcs, self.document.header
        wrong = [f"{row.name}: {row.message}" for row in rows if row.status == "wrong"]
        directory = next((name for name in self.sets[:1] if os.path.isdir(name)), "PATH")
        has_step = header == 3 and any(row.status == "missing" for row in rows)
        step = f"`kiplint migrate kip-1313 {directory}` writes what is missing." if has_step else ""
        return Verdict.of(closing(rows, header), wrong, step)


def rollout(
    *sets: Path, header: int = 3, released: Sequence[Path] = (), repository: Path | None = None
) -> RolloutResult:
    """For each RPC of a set, or of the second of two, whether its latest version has that request header (KIP-1313).

    The first of two sets is the release before. The status is `findings` while any is unstable, missing or wrong.
    Raises UsageError and SourceError as `diff` does.
    """
    sets = sets or (".",)
    if len(sets) > 2:
        raise UsageError(f"rollout takes one set, or a base and a head, not {len(sets)} sets")
    names = [os.fspath(name) for name in sets]
    configuration = configure(names[-1])
    head = load(names[-1], repository, configuration.keeps)
    base = load(names[0], repository, configuration.keeps) if len(names) == 2 else None
    rule_set = configuration.rules()
    rules = rollout_rules(header, configuration.config, rule_set.all_rules)
    old = names[0] if base else ""
    releases = releases_of(configuration, old, [os.fspath(name) for name in released], repository, names[-1])
    rows = tuple(rollout_of_trees(head, base, header, rules, releases))
    has_failures = any(row.status in FAILING for row in rows)
    unreadable = unparsable_files(head, base)
    sources = {**(base.sources if base else {}), **head.sources}
    findings = findings_of(rows, sources)
    return RolloutResult(
        findings=findings,
        files=len(head.sources),
        messages=len(rows),
        sources=sources,
        status="error" if unreadable else "findings" if has_failures else "ok",
        sets=tuple(reversed(names)),
        rules=rule_infos(configuration.all_rules(), findings, "") if findings else {},
        paths=tuple(head.sources),
        unparsable=unreadable,
        document=rollout_document(rows, header),
        notes=(*releases_note(releases, old),),
    )


def rollout_document(rows: Sequence[RolloutRow], header: int) -> RolloutDocument:
    """The document of a rollout to a request header."""
    return RolloutDocument(1, header, tuple(rows), RolloutSummary(**summary(rows)))


def findings_of(rows: Iterable[RolloutRow], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding for each RPC that violates a rule; findings with the same message at the same location are joined."""
    findings: dict[tuple[str, ...], Finding] = {}
    for row in rows:
        if not row.rule:
            continue
        locator = Locator(decode_text(sources.get(row.path, b"")))
        pointer = row.pointer if locator.node(row.pointer) is not locator.root else ""
        sentence = f"{row.name} {row.message}" if row.message.startswith("is ") else f"{row.name}: {row.message}"
        message = row.message if row.name in row.message else sentence
        finding = Finding(
            rule=row.rule,
            severity=row.severity,
            message=message,
            path=row.path,
            **asdict(Span(*locator.span(pointer))),
            pointer=pointer,
            message_name=row.message_name,
            source="KIP-1313",
            fingerprint=fingerprint(row.rule, row.message_name, row.name),
            fixable=False,
        )
        findings.setdefault((row.rule, row.path, pointer, message), finding)
    return tuple(findings.values())


def write(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write the table, with RPCs of the same step as a paragraph below it, and how many there are of each status."""
    width = width_of(out)
    steps = _rows_by_step(result.document.rpcs)
    names = {row.name for rows in steps.values() for row in rows}
    cells = [_cells(row) for row in _sorted(result.document.rpcs) if row.name not in names]
    sections = [table((*COLUMNS, ""), cells, color, width, indent="", code=BOLD)]
    if not cells and not steps:
        sections = [[paint("  ".join(COLUMNS), BOLD, color)]]
    for step, rows in steps.items():
        title = fold(f"{len(rows)} {rows[0].status}: {step}", width, color, COLORS[rows[0].status])
        sections.append([*title, *paragraph((f"{row.name} {row.versions}" for row in rows), width=width)])
    sections.append(verdict_lines(result.verdict, width, color))
    out.write("\n\n".join("\n".join(section) for section in sections if section) + "\n")


def write_markdown(result: RolloutResult, out: TextIO, *, color: bool) -> None:
    """Write how many RPCs there are of each status, and the table."""
    write_verdict(result.verdict, out)
    write_markdown_rows(result.document.rpcs, out)


def write_markdown_rows(rows: Iterable[RolloutRow], out: TextIO) -> None:
    """Write the table of rows."""
    write_table((*COLUMNS, "what"), ([cell or " " for cell, _ in _cells(row)] for row in _sorted(rows)), out)


def _sorted(rows: Iterable[RolloutRow]) -> list[RolloutRow]:
    """The wrong rows first, then the missing and the unstable ones."""
    return sorted(rows, key=lambda row: (-FAILING.index(row.status) if row.status in FAILING else 1, row.name))


def _cells(row: RolloutRow) -> list[Cell]:
    headers = ", ".join(f"{versions}: {header}" for versions, header in row.header_versions.items())
    texts = row.name, str(row.api_key), row.status, row.base_versions, row.versions, headers, row.message
    return [
        (text, COLORS[row.status] if number == COLUMNS.index("status") else "") for number, text in enumerate(texts)
    ]


def _rows_by_step(rows: Iterable[RolloutRow]) -> dict[str, list[RolloutRow]]:
    """The missing RPCs by their next step, without names and versions, where `LEAST_ALIKE` or more have the same."""
    steps: dict[str, list[RolloutRow]] = {}
    for row in rows:
        if row.status == "missing":
            text = re.sub(rf" of {re.escape(row.name)}\b", "", row.message).replace(row.name, "the RPC")
            text = re.sub(r"(?<=bump it to )\d+", "a new version", re.sub(r" \(\d+\)", "", text))
            steps.setdefault(text, []).append(row)
    return {step: rows for step, rows in steps.items() if len(rows) >= LEAST_ALIKE}
