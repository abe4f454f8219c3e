"""`kiplint kip`: the definitions in the text of KIPs, checked in a set and compared with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TextIO

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import asdict, replace

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
from kiplint.commands.diff.text import write_changes
from kiplint.compat.classify import ChangeFinding, classify, unexplained
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree, read_directories, unparsable_files
from kiplint.engine.config import FailOn, Path, configure
from kiplint.engine.finding import Finding, Span
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.limits import KIP_BYTES
from kiplint.model.load import Definition, load
from kiplint.render.report import FindingsSummary, Report, at_least, rank
from kiplint.render.table import title, width_of
from kiplint.render.text import excerpt
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.schema_files import NothingThereError, SchemaFile
from kiplint.text.document import Block, find_blocks
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import printable
from kiplint.text.words import plural, tally

EPILOG = """\b
Examples:
  kiplint kip KIP-1242.md
  kiplint kip KIP-1242.txt --against 4.1.0:"""


def command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="KIPs as text or Markdown, each checked by itself; - for standard input."),
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


Line = Annotated[int, Meta(ge=1, description="1-based; columns count characters.")]


class DefinitionObject(msgspec.Struct, frozen=True):
    """A definition in a KIP."""

    name: str
    type: str
    valid_versions: str
    line: Line
    column: Line
    end_line: Line
    end_column: Line


class KipObject(msgspec.Struct, frozen=True):
    """A KIP."""

    path: str
    definitions: tuple[DefinitionObject, ...]
    changes: Annotated[tuple[ChangeFinding, ...], Meta(description="What they change in the set of --against.")]


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
    """A KIP: its path as it is shown, its bytes, the lines of its text, and its definitions."""

    path: str
    data: bytes
    lines: Lines
    definitions: tuple[tuple[Definition, Block], ...]

    def span(self, start: int, end: int) -> Span:
        """The lines and columns of a part of the text."""
        return Span(*self.lines.position(start), *self.lines.position(end))


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
    """Check the definitions in KIPs: the blocks of JSON in text or Markdown; each KIP by itself.

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
    notes = tuple(f"no message definition in {item.path}" for item in kips if not item.definitions)
    if not any(item.definitions for item in kips):
        raise NothingThereError(f"nothing to check: {'; '.join(notes)}")
    results = [_check(item, base, base_files, rules) for item in kips if item.definitions]
    findings = tuple(rank(finding for _, findings in results for finding in findings))
    failing = at_least(findings, fail_on or configuration.config.fail_on)
    sources = {**base.sources, **{item.path: item.data for item in kips}}
    paths = tuple(item.path for item in kips)
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(len({row.name for row in result.definitions}) for result, _ in results),
        sources={path: sources[path] for path in (*paths, *(finding.path for finding in findings))},
        status="error" if base.unparsable else "findings" if failing else "ok",
        sets=names,
        rules=rules.by_id,
        paths=paths,
        unparsable=unparsable_files(base),
        notes=notes,
        kips=tuple(result for result, _ in results),
    )


def _read(path: str) -> Kip:
    data = read_input(path, KIP_BYTES)
    text = decode_text(data)
    definitions = tuple((load("", block.text.encode()), block) for block in find_blocks(text))
    return Kip("<stdin>" if path == STDIN else path, data, Lines(text), definitions)


def _check(
    kip: Kip, base: Tree, base_files: Mapping[str, Iterable[tuple[str, bytes]]], rules: RuleSet
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
        block = blocks.get(path)
        if block is None:
            return path, span
        start, end = block.offset(span.line, span.column), block.offset(span.end_line, span.end_column)
        return kip.path, kip.span(start, end)

    findings: list[Finding] = []
    for directory, files in directories.items():
        inputs = [SchemaFile(path, data, path in blocks) for path, data in files.items()]
        if any(item.is_reported for item in inputs):
            result = check_set(inputs, rules, directory=directory, single_file=not base.sets)
            findings += [finding.at(*in_kip(finding.path, finding.span)) for finding in result.findings]
    changes: list[ChangeFinding] = []
    if base.sets:
        after = make_tree(kip.path, ((name, files.items()) for name, files in directories.items()))
        classified_changes = classify(compare_trees(base, after), rules, base.sources, after.sources)
        changes = rank(change.at(*in_kip(change.path, change.span)) for _, change in classified_changes)
    supersedes = {rule.id: rule.supersedes for rule in rules.all_rules}
    kip_object = KipObject(kip.path, tuple(_definitions(kip)), tuple(changes))
    return kip_object, [*findings, *unexplained(changes, rank(findings), supersedes)]


def _places(kip: Kip, base: Tree) -> Iterator[tuple[str, str, Definition, Block]]:
    """The directory and the file of each definition: those of its name in the base, else a file beside its type.

    The last definition of a name counts: KIPs show the old one, then the new.
    """
    files = {item.name: (name, item.file) for name, schemas in base.sets.items() for item in schemas.messages}
    for source, block in kip.definitions:
        kind = source.message.type if source.message else "request"
        counts = {name: sum(item.type == kind for item in schemas.messages) for name, schemas in base.sets.items()}
        directory = max(counts, key=counts.__getitem__, default="")
        name = _name(source) or str(block.start)
        yield *files.setdefault(name, (directory, f"{kip.path}/{name}.json")), source, block


def _name(source: Definition) -> str:
    """The message's name, as far as it can be read."""
    return source.message.name if source.message else next(iter(source.likely_names[1:]), "")


def _definitions(kip: Kip) -> Iterator[DefinitionObject]:
    for source, block in kip.definitions:
        kind, versions = (source.message.type, source.message.spec.valid_versions) if source.message else ("", "")
        yield DefinitionObject(_name(source), kind, versions, **asdict(kip.span(block.start, block.end)))


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write each KIP, and a line with the counts of findings."""
    width = width_of(out)
    for kip in result.kips:
        rows = (f"  line {row.line}  {row.name or '?'}  {row.type}  {row.valid_versions}" for row in kip.definitions)
        out.write("\n".join([title(kip.path, color), *map(printable, rows), "\n"]))
        for finding in result.findings:
            if finding.path != kip.path or isinstance(finding, ChangeFinding) or not result.is_listed(finding):
                continue
            out.write(excerpt(finding, result.sources.get(finding.path, b""), color, width) + "\n")
        changes = [change for change in kip.changes if change in result.findings]
        if changes:
            out.write(title("What it changes", color) + "\n\n")
            write_changes(changes, result.sources, out, color=color)
    out.write(f"{result.headline}{result.unlisted}\n")
