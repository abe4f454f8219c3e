"""What reviewdog's JSON Schema of a DiagnosticResult says of the objects that kiplint writes, and what its text asks.

Stricter than that schema, which lets everything be left out and added: only the properties that are used here are
allowed, and lines and columns begin at 1.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from .strict_schema import strict

COUNT = {"type": "integer", "minimum": 1}


POSITION = strict({"line": COUNT, "column": COUNT})
RANGE = strict({"start": POSITION, "end": POSITION})
SUGGESTION = strict({"range": RANGE, "text": {"type": "string"}})
DIAGNOSTIC = strict(
    {
        "message": {"type": "string", "minLength": 1},
        "location": strict({"path": {"type": "string", "minLength": 1}, "range": RANGE}),
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "code": strict(
            {"value": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+$"}}, {"url": {"pattern": "^https://"}}
        ),
    },
    {"suggestions": {"type": "array", "items": SUGGESTION, "minItems": 1}},
)
RESULT = strict(
    {"diagnostics": {"type": "array", "items": DIAGNOSTIC}}, {"source": strict({"name": {"const": "kiplint"}})}
)
VALIDATOR = Draft202012Validator(RESULT)


def assert_rdjson(document: Any) -> None:
    """Assert that a document is valid, and that no range ends before it begins."""
    VALIDATOR.validate(document)
    for diagnostic in document["diagnostics"]:
        for span in (diagnostic["location"]["range"], *(each["range"] for each in diagnostic.get("suggestions", ()))):
            start, end = ((span[name]["line"], span[name]["column"]) for name in ("start", "end"))
            assert start <= end
