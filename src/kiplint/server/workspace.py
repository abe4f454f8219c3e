"""The definitions of a directory: the files on disk, replaced by unsaved texts of the editor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from kiplint.compat.judge import Judged
from kiplint.engine.config import Configuration, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import take_apart
from kiplint.engine.scopes import EditedSet
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.sets import Goal, Migration, all_rules, proved
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import DECODER, ENCODER, MessageSpec
from kiplint.server.base import Bases, ReleasedBase, changes, near_files
from kiplint.server.buffer import Buffer, Encoding, salvage
from kiplint.sources.disk import read
from kiplint.sources.schema_files import SchemaFile, SchemaFiles, SourceError, definitions, kind_of
from kiplint.text.decode import decode
from kiplint.text.lines import decode_text


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
    """The findings in the open texts of a directory, by path; by identity the changes that some of them are, and why
    there are no more of these.
    """

    findings: Mapping[str, list[Finding]]
    breaks: Mapping[str, Judged]
    problem: str = ""


class _Configured(NamedTuple):
    """The configuration of a directory, the rules that run there, and its definitions as they were checked last."""

    configuration: Configuration
    rules: RuleSet
    by_id: Mapping[str, Rule]
    edited: EditedSet

    def matches(self, configuration: Configuration, rules: RuleSet) -> bool:
        """Whether it would be the same if it were made of these."""
        known = (self.configuration, self.rules.rules, self.rules.known)
        return known == (configuration, rules.rules, rules.known)


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
        self._listed: dict[str, dict[str, bytes]] = {}
        self._neighbours: dict[str, Neighbours] = {}
        self._configured: dict[str, _Configured | UsageError] = {}
        self._former: dict[str, _Configured | UsageError] = {}
        self._changes: dict[str, tuple[ReleasedBase, RuleSet, Mapping[str, bytes], dict[Finding, Judged]]] = {}

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
        self._changes.pop(path, None)
        self._outdate(os.path.dirname(path))

    def forget(self) -> None:
        """Forget what was read from disk: definitions or configuration have changed."""
        for directory in list(self._listed):
            self._outdate(directory)
        self._former, self._configured = self._configured, {}
        self.bases.forget()

    def opened(self, directory: str) -> list[Buffer]:
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
        known = self._neighbours.get(directory)
        if known is None:
            files = self._files(directory)
            loaded = (load(path, data).message or self._salvaged(path) for path, data in files.items())
            known = Neighbours(directory, files, SchemaSet(tuple(filter(None, loaded)), directory))
            self._neighbours[directory] = known
        return known

    def check(self, directory: str) -> OpenFindings:
        """Check the open texts of a directory, and compare them with their base; raises UsageError as `rules` does.

        Findings have no fixes; `fixed` has.
        """
        files, configured = self._files(directory), self._configuration(directory)
        findings = configured.edited.check(files, self.buffers.keys() & files.keys())
        breaks: dict[str, Judged] = {}
        problem = ""
        try:
            if files and (base := self.bases.of(directory, configured.configuration)):
                for path in findings:
                    compared = self._compared(path, files, base, configured.rules)
                    findings[path] = [*findings[path], *compared] if compared else findings[path]
                    breaks |= {finding.identity: change for finding, change in compared.items()}
        except (UsageError, SourceError) as error:
            problem = f"not compared with {self.bases.setting}: {error}"
        return OpenFindings(findings, breaks, problem)

    def fixed(self, path: str) -> list[Finding]:
        """The findings of the last check in an open text with their fixes; changes are not among them."""
        configured = self._configured.get(os.path.dirname(path))
        return configured.edited.fixed(path, make_fix) if isinstance(configured, _Configured) else []

    def _compared(
        self, path: str, files: Mapping[str, bytes], base: ReleasedBase, rules: RuleSet
    ) -> dict[Finding, Judged]:
        """What a text breaks that its base has; as before, unless a text that matters has changed."""
        message = None if files[path] in base.texts else load(path, files[path]).message
        if message is None:
            return {}
        near = near_files(files, message)
        known = self._changes.get(path)
        if known is None or known[0] is not base or known[1] is not rules or known[2] != near:
            made = {base.finding(change): change for change in changes(message, near, base, rules)}
            known = self._changes[path] = (base, rules, near, made)
        return known[3]

    def proved(self, neighbours: Neighbours, migration: Migration, goal: Goal | None = None) -> Migration:
        """The part of a migration that makes nothing worse; raises UsageError for an unreadable configuration."""
        files = tuple(SchemaFile(path, data) for path, data in neighbours.files.items())
        rules = all_rules(self._configuration(neighbours.directory).configuration)
        schema_files = SchemaFiles(neighbours.directory, files, lone=len(files) == 1)
        return proved(schema_files, migration, rules, goal, neighbours.schemas)

    def rules(self, directory: str) -> Mapping[str, Rule]:
        """By id: the rules that run for a directory; raises UsageError where its configuration cannot be read."""
        return self._configuration(directory).by_id

    def _salvaged(self, path: str) -> Message | None:
        buffer = self.buffers.get(path)
        return salvage(buffer, self._readable.get(path)) if buffer and buffer.fits else None

    def _outdate(self, directory: str) -> None:
        self._listed.pop(directory, None)
        known = self._neighbours.pop(directory, None)
        if known:
            take_apart(known.schemas)

    def _configuration(self, directory: str) -> _Configured:
        if directory not in self._configured:
            try:
                made = configure(directory)
                rules = made.rules()
                former = self._former.get(directory)
                if isinstance(former, _Configured) and former.matches(made, rules):
                    self._configured[directory] = former
                else:
                    by_id = {rule.id: rule for rule in rules.rules}
                    self._configured[directory] = _Configured(made, rules, by_id, EditedSet(directory, rules))
            except UsageError as error:
                self._configured[directory] = error
        known = self._configured[directory]
        if isinstance(known, UsageError):
            raise known
        return known

    def _keeps(self, directory: str, path: str) -> bool:
        try:
            return self._configuration(directory).configuration.keeps(path)
        except UsageError:  # the check reports it
            return True

    def _files(self, directory: str) -> dict[str, bytes]:
        """The bytes of the definitions of a directory, by path; open texts that are not saved yet among them."""
        if directory not in self._listed:
            self._listed[directory] = self._list(directory)
        return self._listed[directory]

    def _list(self, directory: str) -> dict[str, bytes]:
        texts = {buffer.path: buffer.data for buffer in self.opened(directory) if _may_be_definition(buffer)}
        if all(kind_of(data, os.path.basename(path)) == "other" for path, data in texts.items()):
            return {}  # nobody knows what else is there, nor how much
        try:
            entries = list(os.scandir(directory))
        except OSError:
            entries = []
        for entry in entries:
            if entry.name.endswith(".json") and entry.path not in texts and self._is_file(entry):
                texts[entry.path] = self._disk[entry.path][1]
        files = (SchemaFile(path, texts[path]) for path in sorted(texts) if self._keeps(directory, path))
        return {file.path: file.data for file in definitions(files, certain=False)}

    def _is_file(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry is a file that can be read; then its bytes are known afterwards."""
        try:
            if not entry.is_file():
                return False
            there = entry.stat()
            stamp = (there.st_mtime_ns, there.st_size)
            if self._disk.get(entry.path, (None,))[0] != stamp:
                self._disk[entry.path] = (stamp, read(entry.path, listed=True))
        except (OSError, SourceError):
            return False
        return True
