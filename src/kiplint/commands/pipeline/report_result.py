"""The JSON document of the report on a lake; its fields are only ever added to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kiplint.pipeline.answers.newest import LakeReport
from kiplint.render.findings.json import as_json


def document(result: LakeReport) -> Mapping[str, Any]:
    """The document of a result."""
    return result.document


def rows(result: LakeReport) -> Iterator[dict[str, Any]]:
    """The findings of the newest set of each line, an object each."""
    return map(as_json, result.findings)
