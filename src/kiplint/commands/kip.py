"""`kiplint kip`: the definitions in the text of KIPs, checked in a set and compared with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TextIO

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import asdict

from kiplint.cli.options import (
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    IsolatedOption,
    ReportFormatOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    complete_sets,
    keywords_of,
    make_options,
)
from kiplint.cli.output import report
from kiplint.compat.causes import unexplained
from kiplint.compat.change import ChangeFinding
from kiplint.compat.compare import compare_trees
from kiplint.compat.diff import classify_sets, completeness
from kiplint.compat.tree import Tree, make_tree, read_directories, unparsable_files
from kiplint.engine.config import Configurations, FailOn, RuleOptions, StrPath
from kiplint.engine.finding import Finding, Span
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.limits import KIP_BYTES
from kiplint.model.definition import Definition
from kiplint.model.load import load
from kiplint.render.changes import write_changes
from kiplint.render.formats import Writer
from kiplint.render.report import AnyFinding, FindingsSummary, Report, Status, at_least, rank
from kiplint.render.table import title, width_of
from kiplint.render.text import excerpt
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import NothingThereError, SchemaFile
from kiplint.text.document import Block, read_document
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import printable
from kiplint.text.words import first_of, plural, tally

EPILOG = """\b
Examples:
  kiplint kip KIP-1242.md
  kiplint kip KIP-1242.txt --base 4.1.0:"""


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="KIPs in plain text or Markdown, each checked on its own; - for standard input."
        ),
    ],
    base: Annotated[
        str | None,
        typer.Option(
            metavar="BASE",
            autocompletion=complete_sets,
            help="The schema set to compare with: a directory, an archive, a release such as 4.1, REV: or REV:path.",
        ),
    ] = None,
    repository: RepositoryOption = None,
    whole: Annotated[bool, typer.Option("--all", help="Also list infos.")] = False,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    output_format: ReportFormatOption = None,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
) -> int:
    """Check the schemas in the text of a KIP.

    The definitions are the JSON blocks in the text, whose spaces and quotes a wiki may have altered. They are checked
    as one set; the last definition of a message counts. With --base, they replace the definitions of the same names
    in that set, and the report shows what they change in it, as `kiplint diff` does. Name the release that the KIP
    changes, or the code to see how the two differ. All positions are in the KIP.
    """
    options = make_options(KipOptions, locals())
    return report("kip", output_format, lambda: run(options))


class KipOptions(RuleOptions, frozen=True, kw_only=True):
    """Which KIPs `kiplint kip` checks, and what it compares them with."""

    files: Sequence[StrPath]
    """KIPs as text or Markdown."""
    base: StrPath | None = None
    """The schema set to compare the KIPs with."""
    repository: StrPath | None = None
    """The repository of revisions, a directory or a bundle."""
    whole: bool = False
    """Whether text also lists infos."""
    fail_on: FailOn | None = None
    """The lowest severity that causes the status `findings`; by default that of the configuration."""


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
    changes: Annotated[tuple[ChangeFinding, ...], Meta(description="What they change in the set that --base names.")]


class KipSummary(FindingsSummary, frozen=True):
    """The numbers of all KIPs."""

    changes: int


class KipDocument(msgspec.Struct, frozen=True):
    """What `kiplint kip --output-format json` writes. All lines and columns are those of the KIPs."""

    version: Literal[1]
    kips: tuple[KipObject, ...]
    findings: tuple[Finding, ...]
    summary: KipSummary


class KipResult(Report, frozen=True):
    """The result of `kip`. The findings come from the check, and from each change."""

    kips: tuple[KipObject, ...] = ()
    """The KIPs, in order."""

    command = "kip"
    always_has_verdict = True

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write}

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
    """A KIP: its path as it is shown, its bytes, the lines of its text, and its definitions with their text blocks."""

    path: str
    data: bytes
    lines: Lines
    definitions: tuple[tuple[Definition, Block], ...]
    fields: tuple[int, ...]
    """The offsets of the fields that are in no definition."""
    patches: tuple[int, ...]
    """The offsets of the parts of patches that do not contain a complete definition."""

    @property
    def notes(self) -> Iterator[str]:
        """What was not read."""
        if not self.definitions:
            yield f"no message definition in {self.path}"
        for what, offsets in (("field", self.fields), ("patch hunk", self.patches)):
            if offsets:
                lines = [str(self.lines.position(offset)[0]) for offset in offsets]
                where = f"{'line' if len(lines) == 1 else 'lines'} {first_of(lines, 5)}"
                yield f"{self.path}: {plural(len(lines), what)} outside a definition, not checked ({where})"

    def span(self, start: int, end: int) -> Span:
        """The lines and columns of the text from the offset `start` up to `end`."""
        return Span(*self.lines.position(start), *self.lines.position(end))

    @property
    def definition_objects(self) -> tuple[DefinitionObject, ...]:
        """The definitions as the JSON output has them; type and versions are empty where they cannot be read."""
        objects: list[DefinitionObject] = []
        for definition, block in self.definitions:
            readable = definition.is_readable
            message_type, versions = (definition.type, definition.spec.valid_versions) if readable else ("", "")
            span = self.span(block.start, block.end)
            objects.append(DefinitionObject(_name(definition), message_type, versions, **asdict(span)))
        return tuple(objects)


@keywords_of(KipOptions)
def kip(*files: StrPath, **options: Any) -> KipResult:
    """Check the definitions in KIPs: the blocks of JSON in text or Markdown; each KIP by itself.

    With a `base`, a set, they are checked in the place of its definitions and compared with it. `select`, `ignore`,
    `severity` and `config` choose the rules as for `check`. The status is `findings` when a finding is as severe as
    `fail_on`. Raises UsageError and SourceError as `check` does, and SourceError where no KIP has a definition.
    """
    return run(KipOptions(files=files, **options))


def run(options: KipOptions) -> KipResult:
    """Check the KIPs; raises the errors of `kip`."""
    names = tuple(os.fspath(file) for file in options.files)
    configurations = Configurations("." if not names or names[0] == STDIN else names[0], options)
    configurations.main.rules()  # a mistake in the options is reported even if there is nothing to check
    base_files: Mapping[str, Sequence[tuple[str, bytes]]] = {}
    if options.base:
        base_files = read_directories(options.base, open_repository(options.repository))
    base = make_tree(os.fspath(options.base or ""), base_files.items())
    kips = [_read(name) for name in names]
    notes = tuple(note for kip in kips for note in kip.notes)
    if not any(kip.definitions for kip in kips):
        raise NothingThereError(f"nothing to check: {'; '.join(notes)}")

    kip_objects: list[KipObject] = []
    all_findings: list[Finding] = []
    is_complete = True
    for kip in kips:
        if kip.definitions:
            outcome = _check(kip, base, base_files, configurations)
            kip_objects.append(KipObject(kip.path, kip.definition_objects, tuple(outcome.changes)))
            all_findings += outcome.findings
            is_complete = is_complete and outcome.is_complete
            notes += outcome.warnings
    ranked_findings = tuple(rank(all_findings))
    status: Status = "ok"
    if base.unparsable or not is_complete:
        status = "error"
    elif at_least(ranked_findings, options.fail_on or configurations.main.config.fail_on):
        status = "findings"
    paths = tuple(kip.path for kip in kips)
    sources = {**base.sources, **{kip.path: kip.data for kip in kips}}
    return KipResult(
        findings=ranked_findings,
        files=len(kips),
        messages=sum(len({definition.name for definition in kip.definitions}) for kip in kip_objects),
        sources={path: sources[path] for path in (*paths, *(finding.path for finding in ranked_findings))},
        status=status,
        sets=names,
        rules=configurations.rules_by_id,
        paths=paths,
        unparsable=unparsable_files(base),
        notes=notes,
        whole=options.whole,
        kips=tuple(kip_objects),
    )


def _read(path: str) -> Kip:
    """Read a KIP and its definitions; raises SourceError for a file that cannot be read."""
    data = read_input(path, KIP_BYTES)
    text = decode_text(data)
    document = read_document(text)
    definitions = tuple((load("", block.text.encode()), block) for block in document.blocks)
    return Kip("<stdin>" if path == STDIN else path, data, Lines(text), definitions, document.fields, document.patches)


class _Outcome(NamedTuple):
    """What a KIP changes, and what is wrong with it."""

    changes: list[ChangeFinding]
    findings: list[Finding]
    """The findings of the check, and the changes that no error of the check explains."""
    is_complete: bool = True
    """Whether all messages were compared."""
    warnings: tuple[str, ...] = ()


def _check(
    kip: Kip, base: Tree, base_files: Mapping[str, Iterable[tuple[str, bytes]]], configurations: Configurations
) -> _Outcome:
    """Replace the definitions of the base that have the same names as those of a KIP; check and compare the result.

    Each set is judged by its configuration; if the base has none, by that of the KIP. `base_files` are the paths and
    the bytes of the base by directory. All positions are in the KIP.
    """
    files_by_directory = {directory: dict(files) for directory, files in base_files.items()}
    blocks_by_path: dict[str, Block] = {}
    for directory, path, definition, block in _placed_definitions(kip, base):
        files_by_directory.setdefault(directory, {})[path] = definition.data
        blocks_by_path[path] = block

    def in_kip(finding: AnyFinding) -> AnyFinding:
        """The finding with its position in the KIP, unless it is in a file of the base."""
        block = blocks_by_path.get(finding.path)
        if block is None:
            return finding
        start = block.offset(finding.line, finding.column)
        end = block.offset(finding.end_line, finding.end_column)
        return finding.at(kip.path, kip.span(start, end))

    def rules_of(directory: str) -> RuleSet:
        configuration = configurations.of(directory)
        return (configuration if configuration.file else configurations.main).rules()

    findings: list[Finding] = []
    for directory, files in files_by_directory.items():
        inputs = [SchemaFile(path, data, is_reported=path in blocks_by_path) for path, data in files.items()]
        if any(file.is_reported for file in inputs):
            rules = rules_of(os.path.join(base.root, directory))
            result = check_set(inputs, rules, directory=directory, single_file=not base.sets)
            findings += map(in_kip, result.findings)
    if not base.sets:
        return _Outcome([], findings)

    after = make_tree(base.name, ((directory, files.items()) for directory, files in files_by_directory.items()))
    all_changes = compare_trees(base, after)
    classified_changes = classify_sets(all_changes, base, after, rules_of, base.sources)
    changes = rank(in_kip(finding) for _, finding in classified_changes)
    supersedes = {rule.id: rule.supersedes for rule in configurations.rules_by_id.values()}
    findings += unexplained(changes, rank(findings), supersedes)
    return _Outcome(changes, findings, *completeness(all_changes, classified_changes))


def _placed_definitions(kip: Kip, base: Tree) -> Iterator[tuple[str, str, Definition, Block]]:
    """The directory, path and block of each definition of a KIP; the path is that of the base's definition of its name.

    A new definition gets a path of its own in the directory with the most definitions of its type. If several have one
    name, they have one path, and the last of them counts: KIPs show the old one, then the new.
    """
    paths_by_name = {
        message.name: (directory, message.file)
        for directory, schemas in base.sets.items()
        for message in schemas.messages
    }
    for definition, block in kip.definitions:
        name = _name(definition) or str(block.start)
        if name not in paths_by_name:
            message_type = definition.type if definition.is_readable else "request"
            counts = {
                directory: sum(message.type == message_type for message in schemas.messages)
                for directory, schemas in base.sets.items()
            }
            directory = max(counts, key=counts.__getitem__, default="")
            paths_by_name[name] = (directory, f"{kip.path}/{name}.json")
        directory, path = paths_by_name[name]
        yield directory, path, definition, block


def _name(definition: Definition) -> str:
    """The name of the message; of an unreadable definition the name in its text, or empty."""
    return definition.name if definition.is_readable else definition.likely_names[-1]


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write for each KIP its definitions, findings and changes, then a line with the counts of all findings."""
    width = width_of(out)
    finding_ids = {*map(id, result.findings)}
    for kip in result.kips:
        out.write(title(kip.path, color) + "\n")
        for definition in kip.definitions:
            columns = (f"line {definition.line}", definition.name or "?", definition.type, definition.valid_versions)
            out.write(printable("  " + "  ".join(columns)) + "\n")
        out.write("\n")
        for finding in result.findings:
            if finding.path == kip.path and not isinstance(finding, ChangeFinding) and result.is_listed(finding):
                out.write(excerpt(finding, result.sources.get(finding.path, b""), color, width) + "\n")
        # The findings lack the changes that an error explains.
        changes = [change for change in kip.changes if id(change) in finding_ids]
        if changes:
            out.write(title("What it changes", color) + "\n\n")
            write_changes(changes, result.sources, out, color=color)
    out.write(f"{result.headline}{result.unlisted_hint}\n")
