"""The check of the open documents of a directory, beside the other definitions there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from kiplint.engine.config import configure
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.engine.run import Input, check_set
from kiplint.fixes.fixers import make_fixes
from kiplint.sources.disk import show_path, with_siblings
from kiplint.sources.schema_files import definitions, is_other_json


class CheckedDirectory(NamedTuple):
    """The findings in the open documents of a directory, by path, and the rules that ran, by id.

    `sources` are the bytes of the files that fixes edit; findings name files as these keys do.
    """

    findings: Mapping[str, list[Finding]] = {}
    rules: Mapping[str, Rule] = {}
    sources: Mapping[str, bytes] = {}


def check_documents(directory: str, documents: Mapping[str, bytes]) -> CheckedDirectory:
    """Check the documents of a directory, by path, with the other definitions there as context.

    Documents that are excluded or are no definitions have no findings. Raises UsageError for a configuration that
    cannot be read, and SourceError for a definition that cannot.
    """
    configuration = configure(directory)
    rules = configuration.rules()
    contents: dict[str, bytes | None] = {
        path: data
        for path, data in documents.items()
        if configuration.keeps(path) and not is_other_json(data, os.path.basename(path))
    }
    if not contents:
        return CheckedDirectory()
    schemas = with_siblings(directory, contents, configuration.keeps)
    files = definitions(schemas.files, certain=False)  # a broken file counts beside definitions only
    result = check_set(
        (Input(file.path, file.data, file.is_reported) for file in files),
        rules,
        directory=schemas.directory,
        partial=len(files) == 1,
        fixer=make_fixes,
    )
    findings: dict[str, list[Finding]] = {path: [] for path in documents}
    paths = {show_path(path): path for path in contents}
    for finding in result.findings:
        if finding.path in paths:
            findings[paths[finding.path]].append(finding)
    return CheckedDirectory(findings, {rule.id: rule for rule in rules.rules}, result.sources)
