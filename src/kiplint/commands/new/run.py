"""New RPCs: the definitions of their first version."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from kiplint.commands.new.result import NewResult
from kiplint.engine.config import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.run import Input, check_set
from kiplint.fixes import new_rpc as first_version
from kiplint.fixes.new_version import BadField, parse_fields
from kiplint.fixes.sets import CheckedFiles, Files, all_rules, client_rpcs, load_set, regressions, rule_parameter
from kiplint.fixes.write import create_files, refuse_unwritable
from kiplint.model.schemas import SchemaSet
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.words import did_you_mean

LISTENERS: Final = "rpc/listeners-unknown"
"""The rule whose parameter `known` lists the listeners."""


def new_rpc(
    name: str,
    schemas: Path = ".",
    *,
    api_key: int | None = None,
    listeners: Sequence[str] = (),
    unstable: bool = False,
    request: str = "",
    response: str = "",
    dry_run: bool = False,
) -> NewResult:
    """Make the `request` and `response` of a new RPC with these fields, and write them unless `dry_run`.

    Fields are written `Name:type, Others:[]{Id:int32}`, as those of `migrate_bump`. What the rules find in the result
    is in the notes, and nothing is written then.

    `schemas` is the directory for them; `api_key` is by default the next free one, `listeners` is by default `broker`
    where requests of the set name theirs.
    Raises UsageError when several directories have RPCs, for a name or key that is in use, for an unknown listener, and
    for a file that exists already; SourceError for what cannot be opened.
    """
    path = os.fspath(schemas)
    refuse_unwritable([path])
    configuration = configure(path)
    try:
        sets = [(files, load_set(files)[0]) for files in open_sets([path], configuration.keeps)]
    except NothingThereError:
        if not os.path.isdir(path):
            raise
        sets = [(SchemaFiles(path, ()), SchemaSet((), path))]  # the first definitions of a set
    candidates = [(files, schema_set) for files, schema_set in sets if client_rpcs(schema_set)] or sets
    if len(candidates) > 1:
        names = ", ".join(files.directory or "." for files, _ in candidates)
        raise UsageError(f"several directories have requests ({names}): name the directory for the new RPC")
    schema_files, schema_set = candidates[0]
    directory = schema_files.directory
    if schema_set.messages and not any(message.is_rpc for message in schema_set.messages):
        raise UsageError(f"{directory or '.'} has definitions, but no requests: name the directory for the new RPC")
    known = {*rule_parameter(path, LISTENERS, "known"), *(("zkBroker",) if schema_set.has_zookeeper else ())}
    if unknown := next((listener for listener in listeners if listener not in known), None):
        raise UsageError(f"there is no listener {unknown}{did_you_mean(unknown, known)}")
    try:
        definitions = first_version.new_rpc(
            name,
            schema_set,
            api_key=api_key,
            listeners=listeners,
            unstable=unstable,
            request=parse_fields(request) if request else (),
            response=parse_fields(response) if response else (),
        )
    except (BadField, first_version.BadName) as error:
        raise UsageError(str(error)) from None
    files = {os.path.join(directory, file): data for file, data in definitions.items()}
    rules = all_rules(configuration)

    def checked(data: Files) -> CheckedFiles:
        inputs = (Input(name, text) for name, text in data.items())
        return CheckedFiles(data, check_set(inputs, rules, directory=directory).findings)

    before = {file.path: file.data for file in schema_files.files}
    worse = tuple(f"{item.path}: {item}" for item in regressions(checked(before), checked(before | files)))
    if worse:
        return NewResult(status="findings", notes=(*worse, "nothing was written"))
    if not dry_run:
        create_files(files)
    return NewResult(files=files)
