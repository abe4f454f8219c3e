"""What reviewdog's JSON Schema of a DiagnosticResult says of the objects that kiplint writes, and what its text asks.

Stricter than that schema, which lets everything be left out and added: only the properties that are used here are
allowed, and lines and columns begin at 1.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

COUNT = {"type": "integer", "minimum": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


POSITION = _object({"line": COUNT, "column": COUNT})
RANGE = _object({"start": POSITION, "end": POSITION})
SUGGESTION = _object({"range": RANGE, "text": {"type": "string"}})
DIAGNOSTIC = _object(
    {
        "message": {"type": "string", "minLength": 1},
        "location": _object({"path": {"type": "string", "minLength": 1}, "range": RANGE}),
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "code": _object(
            {"value": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+$"}}, {"url": {"pattern": "^https://"}}
        ),
    },
    {"suggestions": {"type": "array", "items": SUGGESTION, "minItems": 1}},
)
RESULT = _object(
    {"diagnostics": {"type": "array", "items": DIAGNOSTIC}}, {"source": _object({"name": {"const": "kiplint"}})}
)
VALIDATOR = Draft202012Validator(RESULT)


def assert_rdjson(document: Any) -> None:
    """Refuse what is no such document, or has a range that ends before it begins."""
    VALIDATOR.validate(document)
    for one in document["diagnostics"]:
        for span in (one["location"]["range"], *(each["range"] for each in one.get("suggestions", ()))):
            start, end = ((span[name]["line"], span[name]["column"]) for name in ("start", "end"))
            assert start <= end
