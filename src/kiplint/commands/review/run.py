"""The review of a change: what it brings, what it breaks, and for whom, in one report with one entry a cause."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from msgspec.structs import asdict, replace

from kiplint.commands.check.run import CheckOptions, check_sets
from kiplint.commands.diff.run import breaks_of, compare
from kiplint.commands.review.base import Base, find_base, place_in
from kiplint.commands.review.result import CONFIGURATION_CHANGED, Also, Entry, Origin, ReviewResult
from kiplint.commands.review.trust import RevisionFiles, changed_configuration, new_ignores
from kiplint.commands.rollout import findings_of
from kiplint.compat.causes import causes_of, explained_by, rule_in_rpc
from kiplint.compat.classify import BREAKS, GRAVE, ChangeFinding
from kiplint.compat.released import Releases, releases_note, releases_of
from kiplint.compat.rollout import RolloutRow, rollout_of_trees, rollout_rules
from kiplint.compat.tree import Tree, load, load_base, unparsable_files
from kiplint.engine.config import Configuration, FailOn, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Span
from kiplint.model.headers import WITH_INSTANCE_ID
from kiplint.render.report import IGNORE, at_least, rule_infos
from kiplint.sources.git import is_revision, is_unborn
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.sources.tree import home_of
from kiplint.text.files import DISK
from kiplint.text.lines import decode_text
from kiplint.text.tree import Locator

NONE: Final = "none"
COMPARE: Final = "; to compare with a revision, write --base REV"

HEADER_MISSING: Final = "kip-1313/header-missing"


RolloutReport = Literal["auto", "always", "never"]
"""When the rollout of KIP-1313's header is reported: once a definition has headerVersions, always as findings."""


def review(
    *paths: Path,
    base: str | None = None,
    released: Sequence[Path] = (),
    rollout: RolloutReport = "auto",
    trust_head: bool = False,
    fix: bool = False,
    whole: bool = False,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    fail_on: FailOn | None = None,
    fail_on_breaks: Sequence[str] = GRAVE,
    config: Path | Mapping[str, Any] | None = None,
) -> ReviewResult:
    """Review how the work tree, or some of its directories and files, differs from a base revision.

    The base is by default the merge base with the default branch, or the commit before HEAD where there is nothing
    else to compare with; `none` only checks. A version is released when one of `released` has it, as in `diff`, by
    default the tags of releases. The status is `findings` when an entry is as severe as `fail_on` or breaks one of
    `fail_on_breaks`; `never` fails nothing. Raises UsageError and SourceError as `check` and `diff` do.
    """
    grave_breaks = breaks_of(fail_on_breaks)
    names = tuple(os.fspath(path) for path in paths) or (os.path.relpath(home_of(os.curdir) or os.curdir),)
    since = Base("", "") if base == NONE else find_base(base, names)
    base_files = RevisionFiles(since.revision, home_of(os.curdir)) if _has_commit(since) else None
    files = base_files if base_files and not trust_head else DISK
    configuration = configure(names[0], files, select=select, ignore=ignore, severity=severity, config=config)
    _require_paths(names)
    rules = configuration.rules()
    options = CheckOptions(names, configuration, rules, changed_since=since.revision or None, strict=True, fix=fix)
    checked = check_sets(options)
    comparison = _compare(
        names, since.revision, [os.fspath(name) for name in released], configuration
    )  # with what was fixed
    rows = comparison.rollout(configuration, when=rollout)
    additions, breaking = comparison.additions, comparison.breaking
    items: list[Item] = [(comparison.at_first_header(finding), "check") for finding in checked.findings]
    if base_files:
        folders = {*names, *map(os.path.dirname, comparison.after_sources)}
        changed = changed_configuration(base_files, folders, trusts_head=trust_head)
        items += [(finding, "check") for finding in changed]
    items += [(change, "diff") for change in breaking]
    if rollout == "always":
        items += [(finding, "rollout") for finding in findings_of(rows, comparison.after_sources)]
    every_rule = [*configuration.all_rules(), *rules.rules]
    findings = entries_of(items, {rule.id: rule.supersedes for rule in every_rule})
    fail_on = fail_on or configuration.config.fail_on
    is_grave = fail_on != "never" and any(change.breaks in grave_breaks for change in breaking)
    infos = rule_infos(every_rule, (*findings, *additions), IGNORE)
    return ReviewResult(
        findings=findings,
        files=checked.files,
        messages=checked.messages,
        sources={**comparison.sources, **checked.sources},
        status="findings" if is_grave or at_least(findings, fail_on) else "ok",
        sets=(*names, *([f"{since.revision}:"] if since.revision else [])),
        rules=infos | rule_infos([CONFIGURATION_CHANGED], findings, ""),
        paths=checked.paths,
        notes=(*since.notes, *comparison.notes, *checked.notes),
        left_out=checked.left_out,
        harmless=("info",),
        whole=whole,
        older=checked.older,
        additions=additions,
        base=since.revision,
        released=comparison.releases.names if comparison.releases else (),
        rollout=rows,
        touched_rpcs=frozenset(change.rpc for change in comparison.changes),
        ignores=new_ignores(comparison.before_sources, comparison.after_sources),
        patch=_patch(options, findings),
    )


def _has_commit(base: Base) -> bool:
    return bool(base.revision) and not is_unborn(base.revision)


def _require_paths(names: Iterable[str]) -> None:
    """Raise an error unless all are files or directories."""
    for name in names:
        if not os.path.lexists(name):
            if is_revision(name):
                raise UsageError(f"{name} is a revision, not a file or directory of the checkout{COMPARE}")
            raise SourceError(f"no such file or directory: {name}")


def _patch(options: CheckOptions, findings: Iterable[Finding]) -> bytes:
    """The safe fixes of the findings as a patch."""
    if not any(finding.fix and finding.fix.applicability == "safe" for finding in findings):
        return b""
    return check_sets(replace(options, fix=False, diff=True)).patch or b""


class Comparison(NamedTuple):
    """The trees of all paths, before and after, with the changes, the releases, and remarks."""

    trees: tuple[tuple[Tree, Tree], ...] = ()
    changes: tuple[ChangeFinding, ...] = ()
    releases: Releases | None = None
    notes: tuple[str, ...] = ()

    @property
    def after_sources(self) -> dict[str, bytes]:
        """The files as they are."""
        return {path: data for _, after in self.trees for path, data in after.sources.items()}

    @property
    def before_sources(self) -> dict[str, bytes]:
        """The files of the base."""
        return {path: data for before, _ in self.trees for path, data in before.sources.items()}

    @property
    def sources(self) -> dict[str, bytes]:
        """The files of both sides."""
        return self.before_sources | self.after_sources

    def at_first_header(self, finding: Finding) -> Finding:
        """A missing header map in a file that the change leaves alone: at the first map that the change declares."""
        if finding.rule != HEADER_MISSING:
            return finding
        before = {message.name: message for tree, _ in self.trees for message in tree.messages}
        after = {message.name: message for _, tree in self.trees for message in tree.messages}
        now, then = after.get(finding.message_name), before.get(finding.message_name)
        if now is None or then is None or now.data != then.data:
            return finding
        for name, message in after.items():
            if message.declares_headers and not (name in before and before[name].declares_headers):
                locator = Locator(decode_text(message.data))
                place = Span(*locator.span("/headerVersions"))
                return replace(finding, path=message.file, pointer="/headerVersions", **asdict(place))
        return finding

    @property
    def additions(self) -> tuple[ChangeFinding, ...]:
        """The changes that break nothing."""
        return tuple(change for change in self.changes if change.breaks == "none" and change.severity == "info")

    @property
    def breaking(self) -> tuple[ChangeFinding, ...]:
        """All other changes."""
        return tuple(change for change in self.changes if change.breaks != "none" or change.severity != "info")

    def rollout(self, configuration: Configuration, *, when: RolloutReport) -> tuple[RolloutRow, ...]:
        """The RPCs with their request headers; none unless they are to be reported."""
        declares_headers = any(b'"headerVersions"' in data for data in self.after_sources.values())
        if when == "never" or (when == "auto" and not declares_headers):
            return ()
        rules = rollout_rules(WITH_INSTANCE_ID, configuration.config, configuration.rules().all_rules)
        return tuple(
            row
            for before, after in self.trees
            for row in rollout_of_trees(after, before, WITH_INSTANCE_ID, rules, self.releases)
        )


def _compare(names: Iterable[str], base: str, released: Sequence[str], configuration: Configuration) -> Comparison:
    """Compare each path with the base; one that the base lacks is compared with nothing."""
    if not base:
        return Comparison()
    rules, keeps = configuration.rules(), configuration.keeps
    releases = releases_of(configuration, f"{base}:", released)
    trees: list[tuple[Tree, Tree]] = []
    changes: list[ChangeFinding] = []
    notes: list[str] = []
    for name in names:
        if not (place := place_in(name, base)):
            notes.append(f"{name} is not in {base}, so there is nothing to compare it with")
            continue
        try:
            before, after = load_base(place, None, keeps), load(name, None, keeps)
        except NothingThereError:
            continue
        notes += [f"warning: {path} cannot be read, so it is not compared" for path in unparsable_files(before)]
        trees.append((before, after))
        changes += compare((before.name, name), (before, after), rules, releases=releases).changes
    return Comparison(tuple(trees), tuple(changes), releases, (*releases_note(releases, f"{base}:"), *notes))


Item = tuple[Finding, Origin]
"""A finding, and the command that reports it by itself."""


def entries_of(items: Iterable[Item], supersedes: Mapping[str, Collection[str]]) -> tuple[Entry, ...]:
    """An entry for each cause, the most severe first. It shows the most severe finding, preferably with a fix.

    `supersedes` has the rules that a rule explains, by id.
    """
    groups: list[list[Item]] = []
    by_cause: dict[tuple[str, ...], list[Item]] = {}
    for finding, origin in items:
        causes = list(causes_of(finding))
        possible_causes = (*causes, rule_in_rpc(finding, finding.rule))
        group = next((by_cause[cause] for cause in possible_causes if cause in by_cause), None)
        is_other_half = group and finding.rule == group[0][0].rule and finding.path != group[0][0].path
        if group is None or (origin == "check" and not is_other_half):
            groups.append(group := [])
        group.append((finding, origin))
        for cause in (*causes, *explained_by(finding, supersedes)):
            by_cause.setdefault(cause, group)
    return tuple(sorted(map(_entry, groups), key=lambda entry: SEVERITIES.index(entry.severity)))


def _entry(group: Sequence[Item]) -> Entry:
    items = sorted(group, key=lambda item: SEVERITIES.index(item[0].severity))
    (main, origin), *others = items
    changes = tuple(finding for finding, _ in items if isinstance(finding, ChangeFinding))
    as_severe = (finding for finding, _ in items if finding.fix and finding.severity == main.severity)
    fix = next((finding.fix for finding in as_severe), None)
    fields = {name: getattr(main, name) for name in Finding.__struct_fields__}
    return Entry(
        **fields,
        origin=origin,
        breaks=min((change.breaks for change in changes), key=BREAKS.index, default="none"),
        also=tuple(Also(finding.rule, finding.message, finding.path, finding.line) for finding, _ in others),
        changes=changes,
    ).fixed_by(fix)
