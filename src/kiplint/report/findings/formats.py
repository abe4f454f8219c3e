"""The formats by name; each module is imported only when it is used."""

from __future__ import annotations

from importlib import import_module

from kiplint.report.findings.report import Format

FORMATS = {
    "text": "Findings with the line they are on, for people.",
    "concise": "One line for each finding: path:line:column: severity rule message.",
    "json": "One JSON document with all findings and a summary (see `kiplint schema output`).",
    "jsonl": "One JSON object a line for each finding.",
    "github": "Annotations of GitHub Actions, the table in the job summary, and counts as outputs of the step.",
    "sarif": "SARIF 2.1.0, for code scanning and editors.",
    "rdjson": "Reviewdog's diagnostic format, with suggestions that review bots can post.",
    "junit": "JUnit XML: a suite for each file, a failure for each finding; what a diff only tells, passes.",
    "gitlab": "A code quality report of GitLab.",
    "markdown": "A table, for pull requests and job summaries.",
}


def load(name: str) -> Format:
    """The function that writes a format."""
    module = import_module(f"kiplint.report.findings.{name}")
    write: Format = module.write
    return write
