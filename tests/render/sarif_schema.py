"""What SARIF 2.1.0 says of the objects that kiplint writes, as a JSON Schema.

It is stricter than the standard: only properties are allowed which are used here, and what code scanning asks beyond it.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator


def strict(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these properties and no others."""
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def _list(items: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **others}


MESSAGE = strict({"text": TEXT})
REGION = strict(dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), COUNT))
URI = {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}
PLACE = {"physicalLocation": strict({"artifactLocation": strict({"uri": URI}), "region": REGION})}
RULE = strict(
    {
        "id": {"type": "string", "pattern": "^[a-z0-9-]+/[a-z0-9-]+$"},
        "shortDescription": strict({"text": {**TEXT, "maxLength": 1024}}),
        "fullDescription": strict({"text": {**TEXT, "maxLength": 1024}}),
        "help": strict({"text": TEXT, "markdown": TEXT}),
        "defaultConfiguration": strict({"level": LEVEL}),
        "properties": strict(
            {
                "precision": {"enum": ["very-high", "high", "medium", "low"]},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
                "tags": _list(TEXT, uniqueItems=True),
            }
        ),
    },
    {"helpUri": {"type": "string", "format": "uri", "pattern": "^https://"}},
)
REPLACEMENT = strict({"deletedRegion": REGION, "insertedContent": strict({"text": {"type": "string"}})})
CHANGED_FILE = strict({"artifactLocation": strict({"uri": URI}), "replacements": _list(REPLACEMENT, minItems=1)})
FIX = strict({"description": MESSAGE, "artifactChanges": _list(CHANGED_FILE, minItems=1)})
RESULT = strict(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "partialFingerprints": strict({"primaryLocationLineHash": {"type": "string", "pattern": "^[0-9a-f]{32}"}}),
    },
    {
        "locations": _list(strict(PLACE), minItems=1, maxItems=1),
        "fixes": _list(FIX, minItems=1),
        "relatedLocations": _list(strict({**PLACE, "id": COUNT, "message": MESSAGE}), minItems=1),
    },
)
DRIVER = strict(
    {
        "name": {"const": "kiplint"},
        "semanticVersion": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        "rules": _list(RULE, uniqueItems=True),
    }
)
INVOCATION = strict(
    {"executionSuccessful": {"type": "boolean"}},
    {"toolExecutionNotifications": _list(strict({"level": LEVEL, "message": MESSAGE}))},
)
RUN = strict(
    {
        "tool": strict({"driver": DRIVER}),
        "automationDetails": strict({"id": {"type": "string", "pattern": "^kiplint/[a-z -]+/$"}}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "invocations": _list(INVOCATION, minItems=1),
        "results": _list(RESULT, maxItems=25_000),
    }
)
LOG = strict(
    {
        "$schema": {"type": "string", "pattern": r"^https://.*sarif.*2\.1\.0.*\.json$"},
        "version": {"const": "2.1.0"},
        "runs": _list(RUN, minItems=1, maxItems=1),
    }
)
SCHEMA = Draft202012Validator(LOG)


def valid_run(document: Any) -> Any:
    """The run of a log that holds to it, and to what no schema can say: indices lead to the rules named."""
    SCHEMA.validate(document)
    (run,) = document["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len({*ids})
    assert [ids[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    return run
