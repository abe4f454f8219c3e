"""New RPCs: the definitions of their first version."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from kiplint.commands.new.result import NewResult
from kiplint.engine.config import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.fixes import new_rpc as first_version
from kiplint.fixes.sets import client_rpcs, load_set, rule_parameter
from kiplint.fixes.write import create_files, refuse_unwritable
from kiplint.sources.open import open_sets
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
    dry_run: bool = False,
) -> NewResult:
    """Make the request and response of a new RPC, and write them unless `dry_run`.

    `schemas` is the directory for them; `api_key` is by default the next free one, `listeners` is by default `broker`.
    Raises UsageError when several directories have RPCs, for a name or key that is in use, for an unknown listener, and
    for a file that exists already; SourceError for what cannot be opened.
    """
    path = os.fspath(schemas)
    refuse_unwritable([path])
    sets = [(files.directory, load_set(files)[0]) for files in open_sets([path], configure(path).keeps)]
    candidates = [(directory, schema_set) for directory, schema_set in sets if client_rpcs(schema_set)] or sets
    if len(candidates) > 1:
        names = ", ".join(directory or "." for directory, _ in candidates)
        raise UsageError(f"several directories have requests ({names}): name the directory for the new RPC")
    directory, schema_set = candidates[0]
    known = {*rule_parameter(path, LISTENERS, "known"), *(("zkBroker",) if schema_set.has_zookeeper else ())}
    if unknown := next((listener for listener in listeners if listener not in known), None):
        raise UsageError(f"there is no listener {unknown}{did_you_mean(unknown, known)}")
    try:
        definitions = first_version.new_rpc(
            name, schema_set, api_key=api_key, listeners=listeners or ("broker",), unstable=unstable
        )
    except first_version.BadName as error:
        raise UsageError(str(error)) from None
    files = {os.path.join(directory, file): data for file, data in definitions.items()}
    if not dry_run:
        create_files(files)
    return NewResult(files=files)
