"""The fixes of a SARIF result: replacements of regions, file by file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kiplint.engine.finding import FileEdit, Fix
from kiplint.report.findings.places import Places

_SAID = {"safe": "Write what is certainly meant", "unsafe": "Write what is most likely meant"}


def fixes(fix: Fix, places: Places, uri: Callable[[str], str]) -> list[dict[str, Any]]:
    """The `fixes` of a result; none when the text of a file is not at hand, or a place has no column."""
    by_file: dict[str, list[FileEdit]] = {}
    for edit in fix.edits:
        by_file.setdefault(edit.path, []).append(edit)
    if not all(map(places.knows, by_file)) or not all(places.shows(edit.path, edit.start) for edit in fix.edits):
        return []
    changes = [
        {"artifactLocation": {"uri": uri(path)}, "replacements": [_replacement(edit, places) for edit in edits]}
        for path, edits in by_file.items()
    ]
    return [{"description": {"text": _SAID[fix.applicability]}, "artifactChanges": changes}]


def _replacement(edit: FileEdit, places: Places) -> dict[str, Any]:
    line, column = places.position(edit.path, edit.start)
    end_line, end_column = places.position(edit.path, edit.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    inserted = {"insertedContent": {"text": edit.text}} if edit.text else {}
    return {"deletedRegion": region, **inserted}
