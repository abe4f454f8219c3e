"""The result of a review: an entry for each cause, what is only added, and the state of the rollout."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.commands.rollout import RolloutSummary, rollout_document
from kiplint.compat.classify import BREAKS, ChangeFinding, breaks_of_counts
from kiplint.compat.rollout import FAILING, RolloutRow
from kiplint.engine.finding import Finding, Span
from kiplint.engine.rule import Breaks, Rule, RuleSpec
from kiplint.render.report import FindingsSummary, Report, Verdict, written_by
from kiplint.text.words import plural, tally

CONFIGURATION_CHANGED: Final = Rule(
    pack="review",
    spec=RuleSpec(
        id="configuration-changed",
        title="A change of the configuration that it is checked by",
        why="Who changes what is checked can hide what a check would find. So `kiplint review` goes by the "
        "configuration, the rule packs and the baseline of the base, unless --trust-head is set.",
    ),
    severity="warning",
    source="",
    params={},
    origin="",
)

Origin = Literal["check", "diff", "rollout"]


class Also(msgspec.Struct, frozen=True):
    """A finding with the same cause."""

    rule: str
    message: str
    path: str
    line: int


class Entry(Finding, frozen=True, kw_only=True, omit_defaults=True):
    """A cause: the finding to show, what it breaks, and what else has the same cause."""

    origin: Annotated[Origin, Meta(description="The command that reports it by itself.")]
    breaks: Annotated[Breaks, Meta(description="The most serious break of its changes.")]
    also: Annotated[tuple[Also, ...], Meta(description="Findings with the same cause.")] = ()
    changes: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes behind it, as `diff` has them.")] = ()

    @property
    def remark(self) -> str:
        """What the change breaks; for other findings, where the rule comes from."""
        is_change = self.origin == "diff" and self.breaks != "none"
        return f"note: breaks {self.breaks}" if is_change else super().remark

    @property
    def former_place(self) -> tuple[str, Span] | None:
        """The old file, and the position in it of what changed, where there is one."""
        return self.changes[0].former_place if self.changes else None


class RolloutState(msgspec.Struct, frozen=True):
    """The state of KIP-1313's request header: all RPCs in numbers, and those that the change touches."""

    header: int
    rpcs: tuple[RolloutRow, ...]
    summary: RolloutSummary


class ReviewSummary(FindingsSummary, frozen=True, kw_only=True):
    """The numbers of a review."""

    older: Annotated[int, Meta(description="Findings that are older than the change.")]
    breaks: Annotated[dict[str, int], Meta(description="The number of entries that break something, by what.")]
    additions: Annotated[int, Meta(description="The number of changes that only add.")]
    ignores: Annotated[int, Meta(description="Comments that ignore findings, and that the base does not have.")]


class ReviewDocument(msgspec.Struct, frozen=True):
    """What `kiplint review --output-format json` writes."""

    version: Literal[1]
    base: Annotated[str, Meta(description="The revision that is compared with; empty for none.")]
    released: Annotated[tuple[str, ...], Meta(description="The releases; empty where the base counts as released.")]
    findings: Annotated[tuple[Entry, ...], Meta(description="An entry for each cause, the most severe first.")]
    additions: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes that break nothing.")]
    summary: ReviewSummary
    rollout: Annotated[RolloutState | UnsetType, Meta(description="Once a definition has headerVersions.")] = UNSET


class ReviewResult(Report, frozen=True):
    """The result of `review`."""

    findings: tuple[Entry, ...]
    """An entry for each cause, the most severe first."""
    additions: tuple[ChangeFinding, ...] = ()
    """The changes that break nothing."""
    base: str = ""
    """The revision that is compared with, or empty."""
    released: tuple[str, ...] = ()
    """The releases; empty where the base counts as released."""
    rollout: tuple[RolloutRow, ...] = ()
    """The RPCs with their request headers, once a definition has headerVersions."""
    touched_rpcs: frozenset[str] = frozenset()
    """The names of the RPCs that the change touches."""
    ignores: int = 0
    """The number of comments that ignore findings, and that the base does not have."""
    patch: bytes = b""
    """The safe fixes of the findings as a unified diff."""

    command = "review"
    renderers = written_by("review", "text", "markdown")

    headed = True

    def is_listed(self, finding: Finding) -> bool:
        """Whether text lists a finding: also an info about a change that breaks something."""
        return super().is_listed(finding) or (isinstance(finding, Entry) and finding.breaks != "none")

    @property
    def breaks(self) -> Counter[str]:
        """How many entries break what."""
        return Counter(entry.breaks for entry in self.findings if entry.breaks != "none")

    @property
    def lagging(self) -> tuple[RolloutRow, ...]:
        """The RPCs that the change touches, and that have no version with the header that brokers offer."""
        return tuple(row for row in self.rollout if row.name in self.touched_rpcs and row.status in FAILING)

    @property
    def verdict(self) -> Verdict:
        """`1 error and 1 warning in 3 files, compared with 4.1.0: 1 breaks wire; 2 changes that break nothing.`"""
        counts = tally(self.counts) or "no findings"
        breaks = f": {breaks_of_counts(self.breaks)}" if self.breaks else ""
        base = f", compared with {self.base}" if self.base else ""
        sentence = f"{counts} in {plural(self.files, 'file')}{base}{breaks}{self.others}{self.unlisted}."
        return Verdict.of(sentence, step=self.fixable)

    @property
    def others(self) -> str:
        """What is not shown, and how much is only added."""
        verb = "breaks" if len(self.additions) == 1 else "break"
        additions = f"; {plural(len(self.additions), 'change')} that {verb} nothing" if self.additions else ""
        ignores = f"; {plural(self.ignores, 'new ignore comment')}" if self.ignores else ""
        return additions + ignores + super().others

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The safe fixes of the change alone, and its others."""
        since = f" --changed-since {self.base}" if self.base else ""
        return "`kiplint review --fix`", f"`kiplint check{since} --fix --unsafe-fixes`"

    @property
    def document(self) -> ReviewDocument:
        """The JSON document."""
        rollout = rollout_document(self.rollout, 3)
        return ReviewDocument(
            version=1,
            base=self.base,
            released=self.released,
            findings=self.findings,
            additions=self.additions,
            rollout=RolloutState(3, self.lagging, rollout.summary) if self.rollout else UNSET,
            summary=ReviewSummary(
                **self.numbers,
                older=self.older,
                breaks={what: self.breaks[what] for what in BREAKS if self.breaks[what]},
                additions=len(self.additions),
                ignores=self.ignores,
            ),
        )
