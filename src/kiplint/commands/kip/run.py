"""The check of the definitions in KIPs in the place of those of a set, and their comparison with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kiplint.commands.kip.result import DefinitionObject, KipReport, KipResult, State
from kiplint.compat.causes import unexplained
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import ChangeFinding, judge
from kiplint.compat.tree import Tree, broken, make_tree, read_directories
from kiplint.engine.finding import Finding, Span
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.limits import KIP_BYTES
from kiplint.model.load import Definition, load
from kiplint.render.report import IGNORE, at_least, rank, rule_infos
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.document import Block, ShownDocument, find_blocks, read_document
from kiplint.text.lines import decode_text
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.commands.kip.options import KipCommand


class Kip(NamedTuple):
    """A KIP: its path as it is shown, its bytes and text, its definitions, and the lines of fields outside of them."""

    path: str
    data: bytes
    document: ShownDocument
    definitions: tuple[tuple[Definition, Block], ...]
    loose: tuple[int, ...]


class BaseSets(NamedTuple):
    """The set that KIPs are compared with: its tree, and the files by directory. Without a set both are empty."""

    tree: Tree
    files: Mapping[str, dict[str, bytes]]


def kip(options: KipCommand) -> KipResult:
    """Check the definitions in KIPs: the blocks of JSON in text, Markdown or HTML; each KIP by itself.

    With `against`, a set, they are checked in the place of its definitions and compared with it. The status is
    `findings` when a finding is as severe as `fail_on`. Raises UsageError and SourceError as `check` does, and
    SourceError where no KIP has a definition.
    """
    names, against = options.files, options.against
    start = "." if not names or names[0] == STDIN else names[0]
    configuration = options.configuring.configuration(start, options.choosing)
    rules = configuration.rules()
    files = read_directories(against, options.repository, configuration.keeps) if against else {}
    base = BaseSets(make_tree(against or "", files.items()), {name: dict(pairs) for name, pairs in files.items()})
    kips = [_read(name) for name in names]
    notes = tuple(note for kip in kips for note in _left_out(kip))
    if not any(kip.definitions for kip in kips):
        raise NothingThereError(f"nothing to check: {'; '.join(notes)}")
    reports = [_report(kip, base, rules) for kip in kips if kip.definitions]
    findings = tuple(rank(finding for report in reports for finding in (*report.findings, *report.unexplained)))
    grave = at_least(findings, options.fail_on or configuration.config.fail_on)
    unread = broken(base.tree)
    sources = {**base.tree.sources, **{kip.path: kip.data for kip in kips}}
    paths = tuple(kip.path for kip in kips)
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(report.current for report in reports),
        sources={path: sources[path] for path in (*paths, *(finding.path for finding in findings))},
        status="error" if unread else "findings" if grave else "ok",
        sets=names,
        rules=rule_infos([*rules.all_rules, *rules.rules], findings, IGNORE),
        paths=paths,
        broken=unread,
        notes=notes,
        kips=tuple(reports),
        against=against or "",
    )


def _read(path: str) -> Kip:
    data = read_input(path, KIP_BYTES)
    document = read_document(decode_text(data))
    found = find_blocks(document.plain)
    definitions = ((load("", block.text.encode()), block) for block in found.blocks)
    loose = tuple(document.span(start, start)[0] for start in found.loose)
    return Kip("<stdin>" if path == STDIN else path, data, document, tuple(definitions), loose)


def _left_out(kip: Kip) -> Iterator[str]:
    """What of a KIP is not checked."""
    if not kip.definitions:
        yield f"no message definition in {kip.path}"
    if kip.loose:
        yield f"{plural(len(kip.loose), 'field')} of {kip.path} outside of definitions, first on line {kip.loose[0]}"


def _report(kip: Kip, base: BaseSets, rules: RuleSet) -> KipReport:
    directories = {name: dict(files) for name, files in base.files.items()}
    blocks: dict[str, Block] = {}
    for directory, file, source, block in _places(kip, base):
        directories.setdefault(directory, {})[file] = source.data
        blocks[file] = block

    def in_kip(path: str, span: Span) -> tuple[str, Span]:
        """The place in the KIP of a place in a definition; a place in another file stays."""
        if path not in blocks:
            return path, span
        block = blocks[path]
        start, end = block.offset(span.line, span.column), block.offset(span.end_line, span.end_column)
        return kip.path, Span(*kip.document.span(start, end))

    found = _check(directories, blocks, rules, partial=not base.files)
    findings = rank(finding.at(*in_kip(finding.path, finding.span)) for finding in found)
    after = make_tree(kip.path, ((name, files.items()) for name, files in directories.items()))
    judgements = judge(compare_trees(base.tree, after), rules, base.tree.sources, after.sources) if base.files else []
    changes = rank(change.at(*in_kip(change.path, change.span)) for _, change in judgements)
    topics = {rule.id: rule.spec.topics for rule in rules.all_rules}
    return KipReport(
        kip.path,
        tuple(_rows(kip, base, {block.start for block in blocks.values()}, changes)),
        tuple(changes),
        kip.loose,
        tuple(findings),
        tuple(unexplained(changes, findings, topics)),
    )


def _places(kip: Kip, base: BaseSets) -> Iterator[tuple[str, str, Definition, Block]]:
    """The directory and the file of each definition: those of its name in the base, else a file beside its type.

    The last definition of a name counts: KIPs show the old one, then the new.
    """
    sets = base.tree.sets.items()
    files = {item.name: (directory, item.file) for directory, schemas in sets for item in schemas.messages}
    counts = Counter((item.type, directory) for directory, schemas in sets for item in schemas.messages)
    directories = {kind: directory for (kind, directory), _ in reversed(counts.most_common())}
    for source, block in kip.definitions:
        kind = source.message.type if source.message else "request"
        directory = directories.get(kind, next(iter(base.files), ""))
        name = _name(source) or str(block.start)
        yield *files.setdefault(name, (directory, f"{kip.path}/{name}.json")), source, block


def _name(source: Definition) -> str:
    """The message's name, as far as it can be read."""
    return source.message.name if source.message else next(iter(source.likely_names[1:]), "")


def _check(
    directories: Mapping[str, dict[str, bytes]], placed: Collection[str], rules: RuleSet, *, partial: bool
) -> Iterator[Finding]:
    """What the rules find in the definitions."""
    for directory, files in directories.items():
        inputs = [Input(path, data, path in placed) for path, data in files.items()]
        if any(item.is_reported for item in inputs):
            yield from check_set(inputs, rules, directory=directory, partial=partial).findings


def _rows(kip: Kip, base: BaseSets, current: set[int], changes: list[ChangeFinding]) -> Iterator[DefinitionObject]:
    """What there is to say of each definition; `current` are the offsets of those that count."""
    changed = {change.message_name for change in changes}
    for source, block in kip.definitions:
        name, message = _name(source), source.message
        state: State = "read"
        if message is None:
            state = "unread"
        elif block.start not in current:
            state = "older"
        elif base.files:
            in_base = any(name in schemas.by_name for schemas in base.tree.sets.values())
            state = "new" if not in_base else "changed" if name in changed else "same"
        kind, valid_versions = (message.type, message.spec.valid_versions) if message else ("", "")
        yield DefinitionObject(name, kind, valid_versions, state, *kip.document.span(block.start, block.end))
