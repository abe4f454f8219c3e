"""The check of the open documents of a directory, beside the other definitions there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kiplint.engine.config import configure
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.engine.run import Input, check_set
from kiplint.fixes.apply import CheckedFiles, Files, accept_fixes, without_collisions
from kiplint.fixes.fixers import make_fixes
from kiplint.sources.disk import show_path, with_siblings
from kiplint.sources.schema_files import definitions, is_other_json


class CheckedDirectory(NamedTuple):
    """The findings in the open documents of a directory, by path, and the rules that ran, by id.

    `state` has all files of the directory, by the paths that findings have; `check` checks other bytes of them.
    """

    findings: Mapping[str, list[Finding]] = {}
    rules: Mapping[str, Rule] = {}
    state: CheckedFiles = CheckedFiles({}, ())
    check: Callable[[Files], CheckedFiles] = lambda files: CheckedFiles(files, ())

    def safe_fixes(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings whose safe fixes can all be applied, and make nothing worse."""
        safe = (finding for finding in findings if finding.fix and finding.fix.applicability == "safe")
        batch = without_collisions(safe)
        _, refusals = accept_fixes(self.state, batch, self.check)
        refused_ids = {id(finding) for finding, _ in refusals}
        return [finding for finding in batch if id(finding) not in refused_ids]


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
    files = definitions(schemas.files, certain=False)[0]  # a broken file counts beside definitions only

    def check(data: Files) -> CheckedFiles:
        inputs = (Input(file.path, data[file.path], file.is_reported) for file in files)
        is_single = len(files) == 1
        result = check_set(inputs, rules, directory=schemas.directory, single_file=is_single, fixer=make_fixes)
        return CheckedFiles(data, result.findings)

    state = check({file.path: file.data for file in files})
    findings: dict[str, list[Finding]] = {path: [] for path in documents}
    paths = {show_path(path): path for path in contents}
    for finding in state.own:
        if finding.path in paths:
            findings[paths[finding.path]].append(finding)
    return CheckedDirectory(findings, {rule.id: rule for rule in rules.rules}, state, check)
