"""`kiplint kip`: the definitions in the text of KIPs, checked in a set and compared with it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TextIO

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import replace

from kiplint.cli.options import (
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    IsolatedOption,
    ReportFormatOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    severities,
)
from kiplint.cli.output import report
from kiplint.commands.diff.text import write_diff
from kiplint.compat.causes import unexplained
from kiplint.compat.classify import ChangeFinding, classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree, read_directories, unparsable_files
from kiplint.engine.config import FailOn, Path, configure
from kiplint.engine.finding import Finding, Line, Span
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.limits import KIP_BYTES
from kiplint.model.load import Definition, load
from kiplint.render.report import IGNORE, FindingsSummary, Report, at_least, rank, rule_infos
from kiplint.render.table import DIM, Cell, table, title, width_of
from kiplint.render.text import excerpt
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.document import Block, ShownDocument, find_blocks, read_document
from kiplint.text.lines import decode_text
from kiplint.text.words import plural, tally

EPILOG = """\b
Examples:
  kiplint kip KIP-1242.md
  kiplint kip kip.html --against 4.1.0:"""


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="KIPs as text, Markdown, or the HTML of a wiki; - for standard input. Each is checked by itself.",
        ),
    ],
    against: Annotated[
        str | None,
        typer.Option(metavar="SET", help="The set that the KIP is about: a directory, an archive, REV: or REV:path."),
    ] = None,
    repository: RepositoryOption = None,
    whole: Annotated[bool, typer.Option("--all", help="List infos too.")] = False,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    output_format: ReportFormatOption = None,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
) -> int:
    """Check the schemas in the text of a KIP.

    The definitions are the blocks of JSON in the text, which may have altered blanks and quotes. They are checked as
    one set; the last definition of a name counts. With --against they stand in that set, in the place of its
    definitions of these names, and what they change in it is shown as `kiplint diff` shows it: name the release that
    the KIP changes, or the code, to see how the two differ. All positions are in the KIP.
    """
    return report(
        "kip",
        output_format,
        lambda: replace(
            kip(
                *files,
                against=against,
                repository=repository,
                fail_on=fail_on,
                select=select or (),
                ignore=ignore or (),
                severity=severities(severity),
                config=config,
                isolated=isolated,
            ),
            whole=whole,
        ),
    )


State = Literal["new", "changed", "same", "read", "older", "unread"]
STATES: Final[dict[State, str]] = {
    "new": "new",
    "changed": "changed",
    "same": "as in the base",
    "read": "",
    "older": "a later one of the name counts",
    "unread": "cannot be read",
}


class DefinitionObject(msgspec.Struct, frozen=True):
    """A definition in a KIP."""

    name: str
    type: str
    valid_versions: str
    state: Annotated[
        State,
        Meta(
            description="`new`, `changed` or `same` as in the set of --against; `read` without one; `older` where a "
            "later definition of the name counts; `unread` where it cannot be read."
        ),
    ]
    line: Line
    column: Line
    end_line: Line
    end_column: Line


class KipObject(msgspec.Struct, frozen=True):
    """A KIP."""

    path: str
    definitions: tuple[DefinitionObject, ...]
    changes: Annotated[
        tuple[ChangeFinding, ...], Meta(description="What the definitions change in the set of --against.")
    ]
    loose: Annotated[tuple[int, ...], Meta(description="The lines of fields outside of definitions.")]

    @property
    def current(self) -> int:
        """The number of definitions that count."""
        return sum(definition.state != "older" for definition in self.definitions)


class KipSummary(FindingsSummary, frozen=True):
    """The numbers of all KIPs."""

    changes: int


class KipDocument(msgspec.Struct, frozen=True):
    """What `kiplint kip --output-format json` writes. All places are in the KIPs."""

    version: Literal[1]
    kips: tuple[KipObject, ...]
    findings: tuple[Finding, ...]
    summary: KipSummary


class KipResult(Report, frozen=True):
    """The result of `kip`. The findings come from the check, and from each change."""

    kips: tuple[KipObject, ...] = ()
    """The KIPs, in order."""
    against: str = ""
    """The name of the set that the KIPs are compared with, or empty."""

    command = "kip"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.kip:write"}
    headed = True

    @property
    def headline(self) -> str:
        """The numbers of findings, definitions and KIPs in words."""
        counts = tally(self.counts) or "nothing found"
        return f"{counts} in {plural(self.messages, 'definition')} of {plural(len(self.kips), 'KIP')}"

    @property
    def document(self) -> KipDocument:
        """The JSON document."""
        summary = KipSummary(**self.numbers, changes=sum(len(kip.changes) for kip in self.kips))
        return KipDocument(1, self.kips, self.findings, summary)


class Kip(NamedTuple):
    """A KIP: its path as it is shown, its bytes and text, its definitions, and the lines of fields outside of them."""

    path: str
    data: bytes
    document: ShownDocument
    definitions: tuple[tuple[Definition, Block], ...]
    loose: tuple[int, ...]


def kip(
    *files: Path,
    against: Path | None = None,
    repository: Path | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    fail_on: FailOn | None = None,
    config: Path | Mapping[str, Any] | None = None,
    isolated: bool = False,
) -> KipResult:
    """Check the definitions in KIPs: the blocks of JSON in text, Markdown or HTML; each KIP by itself.

    With `against`, a set, they are checked in the place of its definitions and compared with it. `select`, `ignore`,
    `severity` and `config` choose the rules as for `check`. The status is `findings` when a finding is as severe as
    `fail_on`. Raises UsageError and SourceError as `check` does, and SourceError where no KIP has a definition.
    """
    names = tuple(os.fspath(file) for file in files)
    start = "." if not names or names[0] == STDIN else names[0]
    configuration = configure(start, select=select, ignore=ignore, severity=severity, config=config, isolated=isolated)
    rules = configuration.rules()
    base_files = read_directories(against, repository, configuration.keeps) if against else {}
    base = make_tree(os.fspath(against or ""), base_files.items())
    kips = [_read(name) for name in names]
    notes = tuple(note for item in kips for note in _notes(item))
    if not any(item.definitions for item in kips):
        raise NothingThereError(f"nothing to check: {'; '.join(notes)}")
    directories = {directory: dict(pairs) for directory, pairs in base_files.items()}
    results = [_check(item, base, directories, rules) for item in kips if item.definitions]
    findings = tuple(rank(finding for _, findings in results for finding in findings))
    failing = at_least(findings, fail_on or configuration.config.fail_on)
    sources = {**base.sources, **{item.path: item.data for item in kips}}
    paths = tuple(item.path for item in kips)
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(result.current for result, _ in results),
        sources={path: sources[path] for path in (*paths, *(finding.path for finding in findings))},
        status="error" if base.unparsable else "findings" if failing else "ok",
        sets=names,
        rules=rule_infos([*rules.all_rules, *rules.rules], findings, IGNORE),
        paths=paths,
        unparsable=unparsable_files(base),
        notes=notes,
        kips=tuple(result for result, _ in results),
        against=base.name,
    )


def _read(path: str) -> Kip:
    data = read_input(path, KIP_BYTES)
    document = read_document(decode_text(data))
    found = find_blocks(document.plain)
    definitions = tuple((load("", block.text.encode()), block) for block in found.blocks)
    loose = tuple(document.span(start, start)[0] for start in found.loose)
    return Kip("<stdin>" if path == STDIN else path, data, document, definitions, loose)


def _notes(kip: Kip) -> Iterator[str]:
    """What of a KIP is not checked."""
    if not kip.definitions:
        yield f"no message definition in {kip.path}"
    if kip.loose:
        yield f"{plural(len(kip.loose), 'field')} of {kip.path} outside of definitions, first on line {kip.loose[0]}"


def _check(
    kip: Kip, base: Tree, base_files: Mapping[str, dict[str, bytes]], rules: RuleSet
) -> tuple[KipObject, list[Finding]]:
    """Check a KIP in the place of the definitions of its names in the base, whose files are given by directory.

    The findings are those of the check, and the changes that no error among them is about.
    """
    directories = {directory: dict(files) for directory, files in base_files.items()}
    blocks: dict[str, Block] = {}
    for directory, file, source, block in _places(kip, base):
        directories.setdefault(directory, {})[file] = source.data
        blocks[file] = block

    def in_kip(path: str, span: Span) -> tuple[str, Span]:
        """The position in the KIP of a position in a definition; a position in another file stays."""
        if path not in blocks:
            return path, span
        block = blocks[path]
        start, end = block.offset(span.line, span.column), block.offset(span.end_line, span.end_column)
        return kip.path, Span(*kip.document.span(start, end))

    findings: list[Finding] = []
    for directory, files in directories.items():
        inputs = [Input(path, data, path in blocks) for path, data in files.items()]
        if any(item.is_reported for item in inputs):
            result = check_set(inputs, rules, directory=directory, single_file=not base.sets)
            findings += [finding.at(*in_kip(finding.path, finding.span)) for finding in result.findings]
    changes: list[ChangeFinding] = []
    if base.sets:
        after = make_tree(kip.path, ((name, files.items()) for name, files in directories.items()))
        classified_changes = classify(compare_trees(base, after), rules, base.sources, after.sources)
        changes = rank(change.at(*in_kip(change.path, change.span)) for _, change in classified_changes)
    definitions = _definitions(kip, base, {block.start for block in blocks.values()}, changes)
    supersedes = {rule.id: rule.supersedes for rule in rules.all_rules}
    kip_object = KipObject(kip.path, tuple(definitions), tuple(changes), kip.loose)
    return kip_object, [*findings, *unexplained(changes, rank(findings), supersedes)]


def _places(kip: Kip, base: Tree) -> Iterator[tuple[str, str, Definition, Block]]:
    """The directory and the file of each definition: those of its name in the base, else a file beside its type.

    The last definition of a name counts: KIPs show the old one, then the new.
    """
    sets = base.sets.items()
    files = {item.name: (directory, item.file) for directory, schemas in sets for item in schemas.messages}
    counts = Counter((item.type, directory) for directory, schemas in sets for item in schemas.messages)
    directories = {kind: directory for (kind, directory), _ in reversed(counts.most_common())}
    for source, block in kip.definitions:
        kind = source.message.type if source.message else "request"
        directory = directories.get(kind, next(iter(base.sets), ""))
        name = _name(source) or str(block.start)
        yield *files.setdefault(name, (directory, f"{kip.path}/{name}.json")), source, block


def _name(source: Definition) -> str:
    """The message's name, as far as it can be read."""
    return source.message.name if source.message else next(iter(source.likely_names[1:]), "")


def _definitions(kip: Kip, base: Tree, current: set[int], changes: list[ChangeFinding]) -> Iterator[DefinitionObject]:
    """What there is to say of each definition; `current` are the offsets of those that count."""
    changed = {change.message_name for change in changes}
    for source, block in kip.definitions:
        name, message = _name(source), source.message
        state: State = "read"
        if message is None:
            state = "unread"
        elif block.start not in current:
            state = "older"
        elif base.sets:
            in_base = any(name in schemas.by_name for schemas in base.sets.values())
            state = "new" if not in_base else "changed" if name in changed else "same"
        kind, valid_versions = (message.type, message.spec.valid_versions) if message else ("", "")
        yield DefinitionObject(name, kind, valid_versions, state, *kip.document.span(block.start, block.end))


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write each KIP, and a line with the counts of findings."""
    width = width_of(out)
    for kip in result.kips:
        rows: list[list[Cell]] = [
            [
                (f"line {row.line}", DIM),
                *((text, "") for text in (row.name or "?", row.type, row.valid_versions)),
                (STATES[row.state], DIM),
            ]
            for row in kip.definitions
        ]
        out.write("\n".join([title(kip.path, color), *table((), rows, color, width), "\n"]))
        for finding in result.findings:
            if finding.path != kip.path or isinstance(finding, ChangeFinding) or not result.is_listed(finding):
                continue
            out.write(excerpt(finding, result.sources.get(finding.path, b""), color, width) + "\n")
        changes = [change for change in kip.changes if change in result.findings]
        if changes:
            out.write(f"{title(f'What it changes in {result.against}', color)}\n\n")
            write_diff(changes, kip.current, result.sources, out, color=color)
            out.write("\n")
    out.write(f"{result.headline}{result.unlisted}\n")
