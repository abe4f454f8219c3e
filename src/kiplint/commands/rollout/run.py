"""How far a request header version is rolled out in a set (KIP-1313)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from kiplint.compat.released import releases_note, releases_of
from kiplint.compat.rollout import FAILING, RolloutRow, closing, rollout_rules
from kiplint.compat.rollout import rollout as rows_of
from kiplint.compat.tree import broken, load
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.render.report import Report, Verdict, rule_infos, written_by
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator

if TYPE_CHECKING:
    from kiplint.commands.rollout.options import RolloutCommand
    from kiplint.commands.rollout.result import RolloutDocument


class RolloutResult(Report, frozen=True):
    """The result of `rollout`: a row for each RPC, and a finding for each that violates a rule."""

    rows: tuple[RolloutRow, ...] = ()
    """The RPCs, by name."""
    header: int = 3
    """The version of the request header that the rollout is about."""

    command = "rollout"
    renderers = written_by("rollout", "text", "markdown")
    listing = "rpcs"
    headed = True

    closing = ""

    @property
    def verdict(self) -> Verdict:
        """How far the rollout is, what is wrong, and the command that writes what is missing."""
        wrong = [f"{row.name}: {row.message}" for row in self.rows if row.status == "wrong"]
        missing = any(row.status == "missing" for row in self.rows)
        place = " ".join(self.sets[:1])
        step = f"`kiplint migrate kip-1313 {place}` writes what is missing." if missing and self.header == 3 else ""
        return Verdict.of(closing(self.rows, self.header), wrong, step)

    @property
    def document(self) -> RolloutDocument:
        """The content of the JSON output."""
        from kiplint.commands.rollout.result import rollout_document

        return rollout_document(self.rows, self.header)


def rollout(options: RolloutCommand) -> RolloutResult:
    """For each RPC of a set, or of the second of two, whether its latest version has that request header (KIP-1313).

    The first of two sets is the release before. The status is `findings` while any is unstable, missing or wrong.
    Raises UsageError and SourceError as `diff` does.
    """
    sets, header, repository = options.sets or (".",), options.header, options.repository
    if len(sets) > 2:
        raise UsageError(f"rollout takes one set, or a base and a head, not {len(sets)} sets")
    configuration = configure(sets[-1])
    head = load(sets[-1], repository, configuration.keeps)
    base = load(sets[0], repository, configuration.keeps) if len(sets) == 2 else None
    rule_set = configuration.rules()
    rules = rollout_rules(header, configuration.config, rule_set.all_rules)
    old = sets[0] if base else ""
    releases = releases_of(configuration, old, options.released, repository, sets[-1])
    rows = tuple(rows_of(head.main, base.main if base else None, header, rules, releases))
    failing = any(row.status in FAILING for row in rows)
    unread = broken(head, base)
    sources = {**(base.sources if base else {}), **head.sources}
    findings = findings_of(rows, sources)
    return RolloutResult(
        findings=findings,
        files=len(head.sources),
        messages=len(rows),
        sources=sources,
        status="error" if unread else "findings" if failing else "ok",
        sets=tuple(reversed(sets)),
        rules=rule_infos(configuration.all_rules(), findings, "") if findings else {},
        paths=tuple(head.sources),
        broken=unread,
        rows=rows,
        header=header,
        notes=(
            *releases_note(releases, old),
            *configuration.misnamed(
                rule_set, {message.name for tree in (head, base) if tree for message in tree.messages}
            ),
        ),
    )


def findings_of(rows: Iterable[RolloutRow], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding for each RPC that violates a rule; findings with the same message at the same place are joined."""
    findings: dict[tuple[str, ...], Finding] = {}
    for finding in (_finding(row, sources) for row in rows if row.rule):
        findings.setdefault((finding.rule, finding.path, finding.pointer, finding.message), finding)
    return tuple(findings.values())


def _finding(row: RolloutRow, sources: Mapping[str, bytes]) -> Finding:
    locator = Locator(decode_text(sources.get(row.path, b"")))
    pointer = row.pointer if locator.node(row.pointer) is not locator.root else ""
    sentence = f"{row.name} {row.message}" if row.message.startswith("is ") else f"{row.name}: {row.message}"
    return Finding(
        rule=row.rule,
        severity=row.severity,
        message=row.message if row.name in row.message else sentence,
        path=row.path,
        **asdict(Span(*locator.span(pointer))),
        pointer=pointer,
        message_name=row.message_name,
        source="KIP-1313",
        fingerprint=fingerprint(row.rule, row.message_name, row.name),
        fixable=False,
    )
