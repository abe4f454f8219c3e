"""Checking the definitions in the text of a KIP, as a set over that of a release."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Unpack

import msgspec
from msgspec.structs import replace

from kiplint.commands.check.run import IGNORE, at_least
from kiplint.commands.diff.run import as_finding
from kiplint.commands.kip.reading import STDIN, Draft, Kip, read_kip
from kiplint.commands.kip.result import DraftRow, KipReport, KipResult, Layouts
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import Judged, judge
from kiplint.compat.tree import FieldBudget, Tree, broken, load, make_tree
from kiplint.engine.config import FailOn
from kiplint.engine.configure import Chosen, Configuration, Path, configure
from kiplint.engine.finding import Finding, Span
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.model.layout import headed_intervals, ranges_of
from kiplint.model.message import Message
from kiplint.render.report import rule_infos
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.words import listed, plural
from kiplint.versions import NONE, VersionRange, boundaries

Files = dict[str, bytes]
"""Bytes by path."""


class Base(NamedTuple):
    """A release: its tree, and the files of each of its sets by directory."""

    tree: Tree
    sets: Mapping[str, Files]


class Placed(msgspec.Struct, frozen=True, dict=True):
    """A KIP whose definitions have files: `homes` has the drafts by file, for each directory."""

    kip: Kip
    homes: Mapping[str, Mapping[str, Draft]]

    def draft(self, file: str) -> Draft | None:
        """The definition that has a file."""
        return next((drafts[file] for drafts in self.homes.values() if file in drafts), None)

    def place(self, file: str, span: Span) -> tuple[str, Span]:
        """Where a place in the file of a definition really is; others stay."""
        draft = self.draft(file)
        return (self.kip.path, self.kip.span(draft.block, span)) if draft else (file, span)

    def files(self, base: Base | None, directory: str) -> Files:
        """The files of a directory with the KIP's definitions in them."""
        return {**(base.sets.get(directory, {}) if base else {}), **texts(self.homes[directory])}

    def tree(self, base: Base) -> Tree:
        """The release with the KIP's definitions in it."""
        directories = {
            name: self.files(base, name) if name in self.homes else files for name, files in base.sets.items()
        }
        directories |= {name: self.files(base, name) for name in self.homes}
        return make_tree(self.kip.path, ((name, files.items()) for name, files in directories.items()))

    def alone(self) -> Tree:
        """The KIP's definitions and nothing else."""
        found = [pair for drafts in self.homes.values() for pair in texts(drafts).items()]
        return make_tree(self.kip.path, [("", found)])


def texts(drafts: Mapping[str, Draft]) -> Files:
    """The bytes of definitions, by file."""
    return {file: draft.definition.data for file, draft in drafts.items()}


def open_base(source: Path, repository: Path | None, keeps: Callable[[str], bool]) -> Base:
    """The release that a SET names; raises SourceError for what cannot be opened."""
    sets: dict[str, Files] = {}
    for one in open_sets([os.fspath(source)], keeps, repository=os.fspath(repository) if repository else None):
        sets.setdefault(one.relative, {}).update({file.path: file.data for file in one.files if file.wanted})
    return Base(make_tree(os.fspath(source), ((name, files.items()) for name, files in sets.items())), sets)


def settle(kip: Kip, base: Base | None) -> Placed:
    """Give each definition of a KIP the file of its name in the release, or one beside those of its type."""
    homes: dict[str, dict[str, Draft]] = {}
    known = {
        message.name: (directory, message.file)
        for directory, schemas in (base.tree.sets.items() if base else ())
        for message in schemas.messages
    }
    for number, draft in enumerate(kip.current, 1):
        name = draft.name or f"definition {number}"
        directory = _directory(draft, base)
        beside = next(iter(base.sets[directory])) if base and directory in base.sets else ""
        directory, file = known.get(name, (directory, _beside(beside, f"{name}.json")))
        homes.setdefault(directory, {})[file] = draft
    return Placed(kip, homes)


def _directory(draft: Draft, base: Base | None) -> str:
    """The set that has most messages of the type of a definition."""
    if base is None:
        return ""
    message = draft.definition.message
    wanted = message.type if message else "request"
    counts = {name: Counter(one.type for one in schemas.messages)[wanted] for name, schemas in base.tree.sets.items()}
    return max(counts, key=lambda name: counts[name], default="")


def _beside(path: str, name: str) -> str:
    """The path of a file in the directory of another, however that is told: `dir/X.json`, `REV:X.json`."""
    cut = max(path.rfind(sign) for sign in ("/", ":", os.sep))
    return path[: cut + 1] + name


def changes_of(placed: Placed, base: Base, after: Tree, rules: RuleSet) -> tuple[Judged, ...]:
    """What a KIP changes in a release, with places in the KIP where it is about one of its definitions."""
    found = judge(compare_trees(base.tree, after), rules, base.tree.sources, after.sources)
    moved = [replace(one, path=path, span=span) for one in found for path, span in [placed.place(one.path, one.span)]]
    return tuple(sorted(moved, key=_where))


def differences_of(placed: Placed, code: Tree, rules: RuleSet) -> tuple[Judged, ...]:
    """What the code has otherwise than the KIP, with places in the KIP; none is an error, as either may be right.

    The old side of each is the KIP's, the new side the code's.
    """
    kip = placed.alone()
    names = {message.name for message in kip.messages}
    files = {one.file: code.sources[one.file] for one in code.messages if one.name in names}
    now = make_tree(code.name, [("", files.items())])
    found = judge(compare_trees(kip, now), rules, kip.sources, now.sources)
    return tuple(sorted((_in_kip(one, placed) for one in found), key=_where))


def layouts_of(placed: Placed, base: Base | None, after: Tree) -> Iterator[Layouts]:
    """The layouts of the versions that a KIP brings: those that its base does not have; without one, the last."""
    known = {message.name: message.valid for message in base.tree.messages} if base else {}
    for message in after.messages:
        if placed.draft(message.file) is None:
            continue
        fresh = message.valid - known.get(message.name, NONE) if base else _last(message.valid)
        ranges = tuple(one & fresh for one in _intervals(message) if one & fresh)
        if ranges:
            yield Layouts(message, ranges)


def _last(versions: VersionRange) -> VersionRange:
    return VersionRange.of(versions.highest, versions.highest) if versions else NONE


def _intervals(message: Message) -> tuple[VersionRange, ...]:
    bearing = [one for container in (message, *message.structs) for one in ranges_of(container)]
    bearing += [entry.versions for entry in message.header_ranges]
    FieldBudget(message).spend(message, len(list(boundaries(bearing, message.valid))) or 1)
    return headed_intervals(message)


def _in_kip(one: Judged, placed: Placed) -> Judged:
    """A difference at its place in the KIP: the old one, or else the name of the message."""
    file, span = one.old_path, one.old_span
    if span is None or placed.draft(file) is None:
        file = next((m.file for m in one.change.messages if m and placed.draft(m.file)), "")
        draft = placed.draft(file)
        span = Span(*Locator(decode_text(draft.definition.data)).span("/name")) if draft else one.span
    path, span = placed.place(file, span)
    severity = "warning" if one.severity == "error" else one.severity
    return replace(one, path=path, span=span, severity=severity)


def _where(one: Judged) -> tuple[str, int, int, str]:
    return one.path, one.span.line, one.span.column, one.rule


class _Sides(NamedTuple):
    """What the KIPs are held against."""

    base: Base | None
    code: Tree | None
    rules: RuleSet


def kip(
    *files: Path,
    base: Path | None = None,
    against: Path | None = None,
    fail_on: FailOn | None = None,
    repository: Path | None = None,
    **chosen: Unpack[Chosen],
) -> KipResult:
    """Check the definitions in KIPs: text, Markdown or HTML; each KIP by itself.

    With a `base`, a set, they are checked in its place and compared with it; `against` is the code as it is by now,
    which is compared with them. The status is `findings` when a finding is as severe as `fail_on` says. Raises
    UsageError and SourceError as `check` does, and the latter where no KIP has a definition.
    """
    names = tuple(os.fspath(one) for one in files)
    configuration = configure("." if not names or names[0] == STDIN else names[0], **chosen)
    kips = [read_kip(name) for name in names]
    bare = [one for one in kips if not one.drafts]
    if len(bare) == len(kips):
        raise NothingThereError(f"nothing to check: {'; '.join(map(_nothing_in, bare))}")
    sides = _open(base, against, repository, configuration)
    parts = [_part(one, sides) for one in kips if one.drafts]
    findings = tuple(finding for part in parts for finding in part.findings)
    grave = at_least(findings, fail_on or configuration.config.fail_on)
    unread = broken(sides.base.tree if sides.base else None, sides.code)
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(len(one.current) for one in kips),
        sources=_sources(findings, kips, sides),
        status="error" if unread else "findings" if grave else "ok",
        sets=names,
        rules=rule_infos([*sides.rules.known, *sides.rules.rules], findings, IGNORE),
        paths=tuple(one.path for one in kips),
        broken=unread,
        notes=tuple(map(_nothing_in, bare)),
        kips=tuple(part.report for part in parts),
        base=os.fspath(base) if base else "",
        against=os.fspath(against) if against else "",
    )


def _open(base: Path | None, against: Path | None, repository: Path | None, configuration: Configuration) -> _Sides:
    keeps = configuration.keeps
    return _Sides(
        open_base(base, repository, keeps) if base else None,
        load(against, repository, keeps) if against else None,
        configuration.rules(),
    )


class _Part(NamedTuple):
    """What one KIP came to, and all of it as findings."""

    report: KipReport
    findings: list[Finding]


def _part(one: Kip, sides: _Sides) -> _Part:
    base, code, rules = sides
    placed = settle(one, base)
    checked = sorted(_checked(placed, base, rules), key=lambda found: (found.span.line, found.span.column))
    after = placed.tree(base) if base else placed.alone()
    changes = changes_of(placed, base, after, rules) if base else ()
    differences = differences_of(placed, code, rules) if code else ()
    changed = {change.message_name for change in changes}
    report = KipReport(
        one.path,
        tuple(_row(draft, base, changed) for draft in one.drafts),
        tuple(checked),
        changes,
        differences,
        tuple(layouts_of(placed, base, after)),
        one.loose,
        one.grammar,
    )
    told = [*map(as_finding, changes), *(_difference(found) for found in differences)]
    return _Part(report, [*checked, *told])


OF_FILES: Final = frozenset({"notes/heading"})
"""The rules about what stands around a definition in a file of its own."""


def _checked(placed: Placed, base: Base | None, rules: RuleSet) -> Iterator[Finding]:
    for directory, drafts in placed.homes.items():
        inputs = [Input(path, data, path in drafts) for path, data in placed.files(base, directory).items()]
        for found in check_set(inputs, rules, directory=directory, partial=base is None).findings:
            if found.rule not in OF_FILES:
                path, span = placed.place(found.path, found.span)
                yield replace(found, path=path, span=span)


def _difference(one: Judged) -> Finding:
    found = as_finding(one)
    said = "the code has no such message" if one.kind == "message-removed" else f"the code differs: {one.message}"
    return replace(found, message=said, source="KIP and code", identity=f"code\0{found.identity}")


def _row(draft: Draft, base: Base | None, changed: set[str]) -> DraftRow:
    message = draft.definition.message
    state = "older" if draft.older else "read"
    if message is None:
        return DraftRow(draft.name, "", "", "unread", draft.span)
    if base and not draft.older:
        known = any(one.name == message.name for one in base.tree.messages)
        state = "new" if not known else "changed" if message.name in changed else "same"
    return DraftRow(message.name, message.type, message.spec.valid_versions, state, draft.span)


def _sources(findings: Iterable[Finding], kips: Iterable[Kip], sides: _Sides) -> dict[str, bytes]:
    found = {one.path: one.data for one in kips}
    known = sides.base.tree.sources if sides.base else {}
    return found | {one.path: known[one.path] for one in findings if one.path in known}


def _nothing_in(one: Kip) -> str:
    """That a KIP has no definition, and what else it has."""
    said = f"no message definition in {one.path}"
    if one.grammar:
        lines = f"{'line' if len(one.grammar) == 1 else 'lines'} {listed(list(map(str, one.grammar[:8])))}"
        said += f", which tells of messages in the notation of before there were any ({lines})"
    if one.loose:
        said += f", only {plural(len(one.loose), 'field')} (line {one.loose[0]})"
    return said
