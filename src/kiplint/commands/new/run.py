"""New messages: the definitions of their first version."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from kiplint.commands.kip.drafts import read_kip
from kiplint.engine.config import Configuration, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import offered_values
from kiplint.engine.run import Input, check_set
from kiplint.fixes import new_message
from kiplint.fixes.new_version import BadField, FieldToAdd, parse_fields
from kiplint.fixes.sets import CheckedFiles, Files, all_rules, load_set, regressions
from kiplint.fixes.write import create_files, prepare_writing
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.words import comma_parts, did_you_mean, join_words

if TYPE_CHECKING:
    from kiplint.commands.new.options import CoordinatorCommand, FromKipCommand, RecordCommand, RpcCommand

Make = Callable[[SchemaSet], Mapping[str, bytes]]
"""Makes definitions for a set, by the names of their files."""


class NewFile(msgspec.Struct, frozen=True):
    """A new file."""

    path: str
    text: str


class NewDocument(msgspec.Struct, frozen=True):
    """What `kiplint new ... --output-format json` writes."""

    version: Literal[1]
    files: tuple[NewFile, ...]


DOCUMENTS: Final = {"new": NewDocument}


class NewResult(RunResult, frozen=True):
    """The result of `new_rpc`."""

    files: Mapping[str, bytes] = {}
    """The bytes of the new files, by path."""

    command = "new"

    @property
    def document(self) -> NewDocument:
        """The JSON document."""
        return NewDocument(1, tuple(NewFile(path, data.decode()) for path, data in self.files.items()))


def new_rpc(options: RpcCommand) -> NewResult:
    """Make the request and the response of a new RPC, and write them unless `dry_run`.

    Fields are written `Name:type, Others:[]{Id:int32}`, as for `migrate_bump`. The notes list the findings of the rules
    in the result; if one is an error, nothing is written. Raises UsageError when several directories have RPCs, for a
    name or key that is in use, for an unknown listener, and for a file that exists already; SourceError for what cannot
    be opened.
    """
    listeners = comma_parts(options.listeners)

    def make(schema_set: SchemaSet) -> Mapping[str, bytes]:
        usual = offered_values(configure(options.schemas).rules().all_rules, "listeners")
        all_listeners = {*usual, *(("zkBroker",) if schema_set.has_zookeeper else ())}
        if unknown := next((listener for listener in listeners if listener not in all_listeners), None):
            raise UsageError(f"there is no listener {unknown}{did_you_mean(unknown, all_listeners)}")
        return new_message.new_rpc(
            options.name,
            schema_set,
            api_key=options.api_key,
            listeners=listeners,
            unstable=options.unstable,
            request=_fields(options.request),
            response=_fields(options.response),
        )

    return _write(options.schemas, ("request", "response"), "requests", make, dry_run=options.dry_run)


def new_record(options: RecordCommand) -> NewResult:
    """Make a new metadata record, and write it unless `dry_run`. Notation, notes and errors are as for `new_rpc`."""

    def make(schema_set: SchemaSet) -> Mapping[str, bytes]:
        fields = _fields(options.fields)
        return new_message.new_record(options.name, schema_set, api_key=options.api_key, fields=fields)

    return _write(options.schemas, ("metadata",), "metadata records", make, dry_run=options.dry_run)


def new_coordinator(options: CoordinatorCommand) -> NewResult:
    """Make the key and the value of a new record of a coordinator, and write them unless `dry_run`.

    Notation, notes and errors are as for `new_rpc`.
    """

    def make(schema_set: SchemaSet) -> Mapping[str, bytes]:
        key, value = _fields(options.key), _fields(options.value)
        return new_message.new_coordinator(options.name, schema_set, api_key=options.api_key, key=key, value=value)

    kinds = ("coordinator-key", "coordinator-value")
    return _write(options.schemas, kinds, "coordinator records", make, dry_run=options.dry_run)


def new_from_kip(options: FromKipCommand) -> NewResult:
    """Write the definitions in the text of a KIP that the set lacks to files, with its licence, unless `dry_run`.

    Those of messages that are there are named in the notes, as are warnings about what the KIP says. Raises UsageError
    and SourceError as `new_rpc` and `kip` do, and UsageError where there is no definition, or none that can be read.
    """
    definitions = read_kip(options.file).current
    if unread := next((definition for definition in definitions if definition.source.message is None), None):
        line = unread.span.line
        raise UsageError(f"the definition in line {line} of {options.file} cannot be read; see `kiplint kip`")
    messages = {definition.name: definition for definition in definitions}
    if not messages:
        raise UsageError(f"no message definition in {options.file}")
    kinds = tuple({message.type for definition in definitions if (message := definition.source.message)})
    present: list[str] = []

    def make(schema_set: SchemaSet) -> Mapping[str, bytes]:
        present.extend(name for name in messages if name in schema_set.by_name)
        texts = {name: messages[name].block.text for name in messages if name not in schema_set.by_name}
        return new_message.in_manner({name: new_message.indent(text) for name, text in texts.items()}, schema_set)

    noun = "messages of these types"
    result = _write(options.schemas, kinds, noun, make, dry_run=options.dry_run)
    if not present:
        return result
    subject = f"{join_words(present)} {'is' if len(present) == 1 else 'are'}"
    note = f"{subject} there already, and not changed; `kiplint kip --base` shows what the KIP changes"
    return NewResult(files=result.files, status=result.status, notes=(*result.notes, note))


def _fields(text: str) -> tuple[FieldToAdd, ...]:
    return parse_fields(text) if text else ()


def _write(
    path: str,
    kinds: Sequence[str],
    noun: str,
    make: Make,
    *,
    dry_run: bool,
) -> NewResult:
    """Make definitions for the set that has messages of these types, prove them, and write them unless `dry_run`.

    Warnings and infos are only noted.
    """
    prepare_writing([path])
    configuration = configure(path)
    files, schema_set = _home(path, configuration, kinds, noun)
    try:
        definitions = make(schema_set)
    except (BadField, new_message.BadName) as error:
        raise UsageError(str(error)) from None
    fresh = {os.path.join(files.directory, file): data for file, data in definitions.items()}
    rules = all_rules(configuration)

    def check(data: Files) -> CheckedFiles:
        inputs = (Input(name, text) for name, text in data.items())
        return CheckedFiles(data, check_set(inputs, rules, directory=files.directory).findings)

    before = {file.path: file.data for file in files.files}
    worse = list(regressions(check(before), check(before | fresh)))
    notes = tuple(f"{item.path}: {item.severity}: {item}" for item in worse)
    if any(item.severity == "error" for item in worse):
        return NewResult(status="findings", notes=(*notes, "nothing was written"))
    if not dry_run:
        create_files(fresh)
    return NewResult(files=fresh, notes=notes)


def _home(path: str, configuration: Configuration, kinds: Sequence[str], noun: str) -> tuple[SchemaFiles, SchemaSet]:
    """The set below a path that has messages of these types; an empty one for a directory without definitions."""
    try:
        sets = [(files, load_set(files)[0]) for files in open_sets([path], configuration.keeps)]
    except NothingThereError:
        if not os.path.isdir(path):
            raise
        return SchemaFiles(path, ()), SchemaSet((), path)  # the first definitions of a set
    having = [
        (files, schema_set) for files, schema_set in sets if any(item.type in kinds for item in schema_set.messages)
    ]
    candidates = having or sets
    if len(candidates) > 1:
        names = ", ".join(files.directory or "." for files, _ in candidates)
        raise UsageError(f"several directories have {noun} ({names}): name the directory for the new definitions")
    files, schema_set = candidates[0]
    if schema_set.messages and not having:
        where = files.directory or "."
        raise UsageError(f"{where} has definitions, but no {noun}: name the directory for the new definitions")
    return files, schema_set
