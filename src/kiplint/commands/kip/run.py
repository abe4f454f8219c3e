"""The check of the definitions in KIPs, which replace definitions of a release, and their comparison with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.commands.kip.drafts import Kip, KipDefinition, read_kip
from kiplint.commands.kip.forms import Originals, undetermined
from kiplint.commands.kip.result import DefinitionObject, KipReport, KipResult, NewLayouts, State, describe
from kiplint.compat.causes import causes_of
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import ChangeFinding, Judgement, judge
from kiplint.compat.tree import Tree, broken, layout_intervals, load, make_tree
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.render.report import IGNORE, at_least, rank, rule_infos
from kiplint.sources.disk import STDIN
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.words import plural
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.commands.kip.options import KipCommand

Files = dict[str, bytes]
"""Bytes by path."""


class ReleaseSets(NamedTuple):
    """A release: its tree, and the files of each of its sets by directory."""

    tree: Tree
    sets: Mapping[str, Files]


def kip(options: KipCommand) -> KipResult:
    """Check the definitions in KIPs: text, Markdown or HTML; each KIP by itself.

    With a `base`, a set, they are checked in the place of its definitions and compared with it; `against` is the code
    as it is now, which is compared with them. The status is `findings` when a finding is as severe as `fail_on`.
    Raises UsageError and SourceError as `check` does, and SourceError where no KIP has a definition.
    """
    names, base, against, repository = options.files, options.base, options.against, options.repository
    configuration = options.configuring.configuration(
        "." if not names or names[0] == STDIN else names[0], options.choosing
    )
    rules, keeps = configuration.rules(), configuration.keeps
    release = open_base(base, repository, keeps) if base else None
    code = load(against, repository, keeps) if against else None
    originals = Originals(release.tree) if release else None
    kips = [read_kip(name, originals) for name in names]
    empty = [document for document in kips if not document.definitions]
    if len(empty) == len(kips):
        raise NothingThereError(f"nothing to check: {'; '.join(map(_nothing_in, empty))}")
    reports = [_report(document, release, code, rules) for document in kips if document.definitions]
    findings = tuple(rank(finding for report in reports for finding in _findings(report)))
    grave = at_least(findings, options.fail_on or configuration.config.fail_on)
    unread = broken(release.tree if release else None, code)
    release_sources = release.tree.sources if release else {}
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(len(document.current) for document in kips),
        sources={document.path: document.data for document in kips}
        | {finding.path: release_sources[finding.path] for finding in findings if finding.path in release_sources},
        status="error" if unread else "findings" if grave else "ok",
        sets=names,
        rules=rule_infos([*rules.all_rules, *rules.rules], findings, IGNORE),
        paths=tuple(document.path for document in kips),
        broken=unread,
        notes=(
            *map(_nothing_in, empty),
            *(
                f"{plural(len(document.unread), 'part')} of {document.path} cannot be read, "
                f"the first on line {document.unread[0].line}"
                for document in kips
                if document not in empty and document.unread
            ),
        ),
        kips=tuple(reports),
        base=base or "",
        against=against or "",
    )


def _report(document: Kip, base: ReleaseSets | None, code: Tree | None, rules: RuleSet) -> KipReport:
    in_files = place_in_files(document, base)
    after = in_files.tree(base) if base else in_files.alone()
    changes = changes_of(in_files, base, after, rules) if base else ()
    changed_names = {change.message_name for change in changes}
    findings = tuple(rank(_findings_of_check(in_files, base, rules)))
    topics = {rule.id: rule.spec.topics for rule in rules.all_rules}
    errors = [finding for finding in findings if finding.severity == "error"]
    causes = {cause for finding in errors for cause in causes_of(finding, topics[finding.rule])}
    unexplained_changes = (
        change
        for change in changes
        if change.breaks == "none" or causes.isdisjoint(causes_of(change, topics[change.rule]))
    )
    return KipReport(
        document.path,
        tuple(_row(definition, base, changed_names) for definition in document.definitions),
        findings,
        changes,
        tuple(unexplained_changes),
        differences_of(in_files, code, rules) if code else (),
        tuple(layouts_of(in_files, base, after)),
        document.unread,
        document.loose,
    )


def _findings(report: KipReport) -> Iterator[Finding]:
    """All of a report as findings."""
    yield from (*report.findings, *report.unexplained)
    for difference in report.differences:
        is_gone = difference.kind == "message-removed"
        message = "the code has no such message" if is_gone else f"the code differs: {difference.message}"
        mark = fingerprint("code", difference.fingerprint)
        yield replace(difference, message=message, source="KIP and code", help="", breaks="none", fingerprint=mark)


def _findings_of_check(kip: PlacedKip, base: ReleaseSets | None, rules: RuleSet) -> Iterator[Finding]:
    for directory, definitions in kip.homes.items():
        inputs = [Input(path, data, path in definitions) for path, data in kip.files(base, directory).items()]
        for finding in check_set(inputs, rules, directory=directory, partial=base is None).findings:
            if kip.has(finding):
                message = undetermined(finding.message, finding.message_name)
                yield replace(finding.at(*kip.place(finding.path, finding.span)), message=message)


def _row(definition: KipDefinition, base: ReleaseSets | None, changed_names: set[str]) -> DefinitionObject:
    message, place = definition.source.message, definition.span
    span = (place.line, place.column, place.end_line, place.end_column)
    state: State = "older" if definition.older else "read"
    if message is None:
        return DefinitionObject(definition.name, "", "", "unread", *span)
    if base and not definition.older:
        in_base = any(other.name == message.name for other in base.tree.messages)
        state = "new" if not in_base else "changed" if message.name in changed_names else "same"
    return DefinitionObject(message.name, message.type, message.spec.valid_versions, state, *span)


def _nothing_in(document: Kip) -> str:
    """That a KIP has no definition, and what it has instead."""
    reasons = [f"{describe(unread)} (line {unread.line})" for unread in document.unread[:8]]
    more = [f"and {len(document.unread) - 8} more"] if len(document.unread) > 8 else []
    problem = f"no message definition in {document.path}"
    if not reasons:
        return f"{problem}: neither one in JSON, nor a patch, nor a table of fields"
    return ", ".join((problem, *reasons, *more))


class PlacedKip(msgspec.Struct, frozen=True):
    """A KIP whose definitions have files: `homes` has the definitions by directory and file."""

    kip: Kip
    homes: Mapping[str, Mapping[str, KipDefinition]]

    def definition(self, file: str) -> KipDefinition | None:
        """The definition in a file."""
        return next((definitions[file] for definitions in self.homes.values() if file in definitions), None)

    def place(self, file: str, span: Span) -> tuple[str, Span]:
        """The place in the KIP of a place in a file; a place in another file stays."""
        definition = self.definition(file)
        return (self.kip.path, self.kip.span(definition.block, span)) if definition else (file, span)

    def has(self, finding: Finding) -> bool:
        """Whether a finding is about what the KIP says; a table can only say names, types and versions wrong."""
        definition = self.definition(finding.path)
        if definition is None or definition.kind == "definition":
            return True
        return self.kip.has(definition.block, finding.span) and (
            definition.kind != "table" or finding.severity == "error"
        )

    def files(self, base: ReleaseSets | None, directory: str) -> Files:
        """The files of a directory with the KIP's definitions in them."""
        return {**(base.sets.get(directory, {}) if base else {}), **texts(self.homes[directory])}

    def tree(self, base: ReleaseSets) -> Tree:
        """The release with the KIP's definitions in it."""
        directories = {
            name: self.files(base, name) if name in self.homes else files for name, files in base.sets.items()
        }
        directories |= {name: self.files(base, name) for name in self.homes}
        return make_tree(self.kip.path, ((name, files.items()) for name, files in directories.items()))

    def alone(self) -> Tree:
        """The KIP's definitions and nothing else."""
        files = [file for definitions in self.homes.values() for file in texts(definitions).items()]
        return make_tree(self.kip.path, [("", files)])


def texts(definitions: Mapping[str, KipDefinition]) -> Files:
    """The bytes of definitions, by file."""
    return {file: definition.source.data for file, definition in definitions.items()}


def open_base(source: str, repository: str | None, keeps: Callable[[str], bool]) -> ReleaseSets:
    """The release of a set. Raises SourceError for a set that cannot be opened."""
    sets: dict[str, Files] = {}
    for files in open_sets([source], keeps, repository=repository):
        sets.setdefault(files.relative, {}).update({file.path: file.data for file in files.files if file.is_reported})
    return ReleaseSets(make_tree(source, ((name, by_path.items()) for name, by_path in sets.items())), sets)


def place_in_files(kip: Kip, base: ReleaseSets | None) -> PlacedKip:
    """Give each definition the file of its name in the release, or a new file beside messages of its type."""
    homes: dict[str, dict[str, KipDefinition]] = {}
    files_by_name = {
        message.name: (directory, message.file)
        for directory, schemas in (base.tree.sets.items() if base else ())
        for message in schemas.messages
    }
    for number, definition in enumerate(kip.current, 1):
        name = definition.name or f"definition {number}"
        directory = _directory(definition, base)
        beside = next(iter(base.sets[directory])) if base and directory in base.sets else ""
        cut = max(beside.rfind(sign) for sign in ("/", ":", os.sep))  # of a path such as `dir/X.json` or `REV:X.json`
        directory, file = files_by_name.get(name, (directory, f"{beside[: cut + 1]}{name}.json"))
        homes.setdefault(directory, {})[file] = definition
    return PlacedKip(kip, homes)


def _directory(definition: KipDefinition, base: ReleaseSets | None) -> str:
    """The set with most messages of the type of a definition."""
    if base is None:
        return ""
    message = definition.source.message
    kind = message.type if message else "request"
    counts = {name: sum(other.type == kind for other in schemas.messages) for name, schemas in base.tree.sets.items()}
    return max(counts, key=lambda name: counts[name], default="")


def changes_of(kip: PlacedKip, base: ReleaseSets, after: Tree, rules: RuleSet) -> tuple[ChangeFinding, ...]:
    """What a KIP changes in a release; the places of its definitions are in the KIP."""
    judgements = judge(compare_trees(base.tree, after), rules, base.tree.sources, after.sources)
    changes = (change.at(*kip.place(change.path, change.span)) for _, change in judgements)
    return tuple(rank(changes))


def differences_of(kip: PlacedKip, code: Tree, rules: RuleSet) -> tuple[ChangeFinding, ...]:
    """How the code differs from the KIP, with places in the KIP. None is an error, as either may be right.

    The old side is the KIP, the new side the code.
    """
    definitions = kip.alone()
    names = {message.name for message in definitions.messages}
    files = {message.file: code.sources[message.file] for message in code.messages if message.name in names}
    now = make_tree(code.name, [("", files.items())])
    differences = judge(compare_trees(definitions, now), rules, definitions.sources, now.sources)
    return tuple(rank(_in_kip(difference, kip) for difference in differences))


def layouts_of(kip: PlacedKip, base: ReleaseSets | None, after: Tree) -> Iterator[NewLayouts]:
    """The layouts of the versions that a KIP adds to its base; without a base, of the last version."""
    base_versions = {message.name: message.valid for message in base.tree.messages} if base else {}
    for message in after.messages:
        if kip.definition(message.file) is None:
            continue
        last = VersionRange.of(message.valid.highest, message.valid.highest) if message.valid else NONE
        fresh = message.valid - base_versions.get(message.name, NONE) if base else last
        ranges = tuple(versions & fresh for versions in layout_intervals(message) if versions & fresh)
        if ranges:
            yield NewLayouts(message, ranges)


def _in_kip(judgement: Judgement, kip: PlacedKip) -> ChangeFinding:
    """A difference at its place in the KIP: on the old side, else the name of the message."""
    change, difference = judgement
    file, span = difference.former_place or ("", difference.span)
    if kip.definition(file) is None:
        file = next((message.file for message in change.messages if message and kip.definition(message.file)), "")
        definition = kip.definition(file)
        span = Span(*Locator(decode_text(definition.source.data)).span("/name")) if definition else difference.span
    severity = "warning" if difference.severity == "error" else difference.severity
    return replace(difference.at(*kip.place(file, span)), severity=severity)
