"""The definitions of a directory: files on disk, replaced by unsaved texts of the editor, and the base of both."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

import msgspec

from kiplint.compat.change import pair_messages
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import ChangeFinding, Judgement, judge
from kiplint.compat.released import Releases, releases_of
from kiplint.compat.since import places
from kiplint.compat.tree import Tree, load_base, make_tree
from kiplint.engine.config import Configuration, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.scopes import EditedSet
from kiplint.fixes.fixers import make_fixes
from kiplint.fixes.sets import Goal, Migration, all_rules, prove
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import DECODER, ENCODER, MessageSpec
from kiplint.server.buffer import Buffer, Encoding, child, salvage
from kiplint.sources.disk import home_of, read
from kiplint.sources.git import is_revision, open_repository
from kiplint.sources.history import target_branches
from kiplint.sources.schema_files import SchemaFile, SchemaFiles, SourceError, definitions, kind_of
from kiplint.text.decode import decode
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator


class Neighbours(msgspec.Struct, frozen=True):
    """One directory at one moment: the bytes of its definitions by path, and the set that they make.

    A text that cannot be read as it is has a message as far as it can be salvaged.
    """

    directory: str
    files: Mapping[str, bytes]
    schemas: SchemaSet

    def message(self, path: str) -> Message | None:
        """The message of a file; None when there is none to be had of it."""
        return next((message for message in self.schemas.messages if message.file == path), None)


def _may_be_definition(buffer: Buffer) -> bool:
    """Whether a text is of a JSON file; one without a file has to look like a definition."""
    return buffer.path.endswith(".json") or (
        buffer.path.startswith("<") and kind_of(buffer.data, buffer.path) in ("definition", "malformed")
    )


class OpenFindings(NamedTuple):
    """The findings in the open texts of a directory, by path; by fingerprint the changes that some of them are, and why
    there are no more of these.
    """

    findings: Mapping[str, list[Finding]]
    breaks: Mapping[str, ChangeFinding]
    problem: str = ""


class _Setup(NamedTuple):
    """The configuration of a directory, the rules that run there, and its definitions as they were checked last."""

    configuration: Configuration
    rules: RuleSet
    by_id: Mapping[str, Rule]
    edited_set: EditedSet


class _Comparison(NamedTuple):
    """The changes of a text, and what they were computed from."""

    base: ReleasedBase
    rules: RuleSet
    files: Mapping[str, bytes]
    changes: tuple[ChangeFinding, ...]


class Workspace:
    """All that the editor has open, and what stands beside it. Paths are absolute.

    `versioned` says whether the editor takes edits that are for one state of a text and no other, `snippets` whether it
    takes completions that say where the cursor goes.
    """

    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}
        self.encoding: Encoding = "utf-16"
        self.versioned = False
        self.snippets = False
        self.bases = Bases()
        self._readable: dict[str, MessageSpec] = {}
        self._disk: dict[str, tuple[tuple[int, int], bytes]] = {}
        self._folders: dict[str, dict[str, bytes]] = {}
        self._neighbours: dict[str, Neighbours] = {}
        self._setups: dict[str, _Setup] = {}
        self._current: set[str] = set()  # the directories whose configuration was read since the last `forget`
        self._comparisons: dict[str, _Comparison] = {}

    def put(self, buffer: Buffer) -> None:
        """Add or replace a text."""
        self.buffers[buffer.path] = buffer
        if spec := decode(buffer.data, DECODER, ENCODER):
            self._readable[buffer.path] = spec
        self._outdate(os.path.dirname(buffer.path))

    def drop(self, path: str) -> None:
        """Drop a closed text: the file on disk counts again."""
        self.buffers.pop(path, None)
        self._readable.pop(path, None)
        self._comparisons.pop(path, None)
        self._outdate(os.path.dirname(path))

    def forget(self) -> None:
        """Forget what was read from disk: definitions or configuration have changed."""
        for directory in list(self._folders):
            self._outdate(directory)
        self._current.clear()
        self.bases.forget()

    def open_buffers(self, directory: str) -> list[Buffer]:
        """The texts of a directory that the editor has open."""
        return [buffer for path, buffer in self.buffers.items() if os.path.dirname(path) == directory]

    def buffer(self, path: str) -> Buffer:
        """A text as the editor has it, else the file on disk; raises SourceError when that cannot be read."""
        return self.buffers.get(path) or self.saved(path)

    def saved(self, path: str, version: int | None = None) -> Buffer:
        """The file on disk, an oversized one only its beginning; raises SourceError when it cannot be read."""
        return Buffer(path, decode_text(read(path)), version, self.encoding)

    def neighbours(self, directory: str) -> Neighbours:
        """The definitions of a directory as they are now."""
        if directory not in self._neighbours:
            files = self._files(directory)
            messages = (load(path, data).message or self._salvage(path) for path, data in files.items())
            schemas = SchemaSet(tuple(filter(None, messages)), directory)
            self._neighbours[directory] = Neighbours(directory, files, schemas)
        return self._neighbours[directory]

    def check(self, directory: str) -> OpenFindings:
        """Check the open texts of a directory, and compare them with their base; raises UsageError as `rules` does.

        Findings have no fixes; `fixed` has.
        """
        files, setup = self._files(directory), self._configuration(directory)
        findings = setup.edited_set.check(files, self.buffers.keys() & files.keys())
        breaks: dict[str, ChangeFinding] = {}
        problem = ""
        try:
            if files and (base := self.bases.of(directory, setup.configuration)):
                for path in findings:
                    change_findings = self._compare(path, files, base, setup.rules)
                    findings[path] = [*findings[path], *change_findings] if change_findings else findings[path]
                    breaks |= {change.fingerprint: change for change in change_findings}
        except (UsageError, SourceError) as error:
            problem = f"not compared with {self.bases.setting}: {error}"
        return OpenFindings(findings, breaks, problem)

    def fixed(self, path: str) -> list[Finding]:
        """The findings of the last check in an open text with their fixes; changes are not among them."""
        directory = os.path.dirname(path)
        return self._setups[directory].edited_set.fixed(path, make_fixes) if directory in self._current else []

    def _compare(
        self, path: str, files: Mapping[str, bytes], base: ReleasedBase, rules: RuleSet
    ) -> tuple[ChangeFinding, ...]:
        """What a text breaks that its base has; as before, unless a text that matters has changed."""
        message = None if files[path] in base.texts else load(path, files[path]).message
        if message is None:
            return ()
        near = near_files(files, message)
        last = self._comparisons.get(path)
        if last and last.base is base and last.rules is rules and last.files == near:
            return last.changes
        findings = tuple(map(base.finding, changes(message, near, base, rules)))
        self._comparisons[path] = _Comparison(base, rules, near, findings)
        return findings

    def former_text(self, path: str, change: ChangeFinding, key: str) -> str:
        """The property in the base of the field or message that a change in a text is about; else empty."""
        directory = os.path.dirname(path)
        base = self.bases.of(directory, self._configuration(directory).configuration)
        messages = base.tree.messages if base else ()
        message = next((message for message in messages if message.file == change.old_path), None)
        if base is None or message is None:
            return ""
        pointers = (field.pointer for field in message.all_fields if field.path == change.field)
        text = decode_text(base.tree.sources[message.file])
        pointer = next(pointers, None) if change.field else ""
        node = Locator(text).node(pointer) if pointer is not None else None
        value = child(node, key) if node else None
        return f'"{key}": {text[value.start : value.end]}' if value else ""

    def prove(self, neighbours: Neighbours, migration: Migration, goal: Goal | None = None) -> Migration:
        """The part of a migration that makes nothing worse; raises UsageError for an unreadable configuration."""
        files = tuple(SchemaFile(path, data) for path, data in neighbours.files.items())
        rules = all_rules(self._configuration(neighbours.directory).configuration)
        schema_files = SchemaFiles(neighbours.directory, files, lone=len(files) == 1)
        return prove(schema_files, migration, rules, goal, neighbours.schemas)

    def rules(self, directory: str) -> Mapping[str, Rule]:
        """By id: the rules that run for a directory; raises UsageError where its configuration cannot be read."""
        return self._configuration(directory).by_id

    def _salvage(self, path: str) -> Message | None:
        buffer = self.buffers.get(path)
        return salvage(buffer, self._readable.get(path)) if buffer and buffer.fits else None

    def _outdate(self, directory: str) -> None:
        self._folders.pop(directory, None)
        self._neighbours.pop(directory, None)

    def _configuration(self, directory: str) -> _Setup:
        """The configuration of a directory; as it was where nothing in it has changed, with what was checked."""
        last = self._setups.get(directory)
        if last and directory in self._current:
            return last
        configuration = configure(directory)
        rules = configuration.rules()
        parts = (configuration, rules.rules, rules.all_rules)
        if last is None or (last.configuration, last.rules.rules, last.rules.all_rules) != parts:
            by_id = {rule.id: rule for rule in rules.rules}
            last = _Setup(configuration, rules, by_id, EditedSet(directory, rules))
            self._setups[directory] = last
        self._current.add(directory)
        return last

    def _files(self, directory: str) -> dict[str, bytes]:
        """The bytes of the definitions of a directory, by path; open texts that are not saved yet among them."""
        if directory not in self._folders:
            self._folders[directory] = self._list(directory)
        return self._folders[directory]

    def _list(self, directory: str) -> dict[str, bytes]:
        texts = {buffer.path: buffer.data for buffer in self.open_buffers(directory) if _may_be_definition(buffer)}
        if all(kind_of(data, os.path.basename(path)) == "other" for path, data in texts.items()):
            return {}  # nobody knows what else is there, nor how much
        try:
            entries = list(os.scandir(directory))
        except OSError:
            entries = []
        for entry in entries:
            if entry.name.endswith(".json") and entry.path not in texts and self._is_file(entry):
                texts[entry.path] = self._disk[entry.path][1]
        files = [SchemaFile(path, texts[path]) for path in sorted(texts)]
        with suppress(UsageError):  # the check reports it
            keeps = self._configuration(directory).configuration.keeps
            files = [file for file in files if keeps(file.path)]
        return {file.path: file.data for file in definitions(files, certain=False)}

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry is a file that can be read; then its bytes are known afterwards."""
        try:
            if not entry.is_file():
                return False
            status = entry.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if self._disk.get(entry.path, (None,))[0] != stamp:
                self._disk[entry.path] = (stamp, read(entry.path, listed=True))
        except (OSError, SourceError):
            return False
        return True


HEAD: Final = "HEAD"
MERGE_BASE: Final = "merge-base"
NONE: Final = "none"
HEADERS: Final = ("RequestHeader", "ResponseHeader")


class ReleasedBase(NamedTuple):
    """The definitions of a directory in a revision, called `name`, their texts, and the releases that there are."""

    name: str
    tree: Tree
    texts: frozenset[bytes]
    releases: Releases | None

    def finding(self, judgement: Judgement) -> ChangeFinding:
        """The finding about a change, which names the released versions of the message."""
        change, finding = judgement
        former = change.former
        versions = former.valid if former else change.versions
        released = self.releases.versions(former) if self.releases and former else versions
        where = "released versions" if self.releases else f"versions in {self.name}"
        message = f"{finding.message} ({where}: {released})" if released else finding.message
        return msgspec.structs.replace(finding, message=message)


class Bases:
    """The bases of all directories. Each is read once for a commit; which commit it is, is looked up in `forget`.

    `setting` is HEAD, `merge-base` with the branch that changes go into, a revision, or `none`.
    """

    def __init__(self, setting: str = HEAD) -> None:
        self.setting = setting
        self._commits: dict[str, str] = {}
        self._bases: dict[tuple[str, str], ReleasedBase | None] = {}

    def forget(self) -> None:
        """Forget the bases: there may be new commits, or another configuration."""
        self._commits.clear()

    def of(self, directory: str, configuration: Configuration) -> ReleasedBase | None:
        """The base of a directory; None without one. Raises SourceError for a setting that does not name a revision."""
        top = home_of(directory) if directory and self.setting != NONE else ""
        if not top:
            return None
        if top not in self._commits:
            self._commits[top] = _commit(self.setting, top)
        commit, released = self._commits[top], configuration.config.released
        key = (directory, f"{commit} {' '.join(released)}")
        if commit and key not in self._bases:
            self._bases = {other: base for other, base in self._bases.items() if other[0] != directory}
            self._bases[key] = _read(self.setting, commit, directory, top, configuration)
        return self._bases.get(key)


def _commit(setting: str, top: str) -> str:
    """The commit of a setting; empty in a repository without commits. Raises SourceError if it names no revision."""
    if setting in (HEAD, MERGE_BASE):
        if not is_revision(HEAD, top):
            return ""
        if setting == MERGE_BASE:
            forks = (open_repository(top).run("merge-base", HEAD, branch).strip() for branch in target_branches(top))
            return next(filter(None, forks), "") or _commit(HEAD, top)
    elif not is_revision(setting, top):
        raise SourceError("no such revision")
    return open_repository(top).run("rev-parse", f"{setting}^{{commit}}").strip()


def _read(name: str, commit: str, directory: str, top: str, configuration: Configuration) -> ReleasedBase | None:
    keeps = configuration.keeps
    place = next(places(commit, [directory], top, "the base", top), "")
    if not place:
        return None
    releases = releases_of(configuration, f"{commit}:", (), top, inner=place.partition(":")[2])
    tree = load_base(place, top, keeps)
    return ReleasedBase(name, tree, frozenset(tree.sources.values()), releases)


def changes(message: Message, files: Mapping[str, bytes], base: ReleasedBase, rules: RuleSet) -> list[Judgement]:
    """What a message breaks, or may break, that its base has; the rest of its set is not compared.

    `files` are its `near_files`. Raises UsageError for a message that is too large to be compared.
    """
    former = base.tree.sets.get("", SchemaSet(())).messages
    former_message = next((old for old, new in pair_messages(former, [message]) if old and new), None)
    if former_message is None:
        return []
    former_files = near_files({item.file: item.data for item in former}, former_message)
    old = make_tree("", [("", former_files.items())])
    new = make_tree("", [("", files.items())])
    return [
        judgement
        for judgement in judge(compare_trees(old, new, (), base.releases), rules, old.sources, new.sources)
        if (finding := judgement.finding).path == message.file
        and (finding.breaks != "none" or finding.severity != "info")
        and not (rules.ignores and rules.ignores(message.file, finding.rule))
    ]


def near_files(files: Mapping[str, bytes], message: Message) -> dict[str, bytes]:
    """The files of a message, of the other half of its RPC and of the headers, which go by the names of their files."""
    names = {f"{name}.json" for name in HEADERS}
    names |= {f"{message.base_name}{suffix}.json" for suffix in ("Request", "Response", "Key", "Value")}
    near = {path: data for path, data in files.items() if re.split(r"[/:]", path)[-1] in names}
    return {**near, message.file: message.data}
