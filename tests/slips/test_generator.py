"""What Kafka's generator refuses and was once missed, what it takes and was once refused, and what is softer now."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.engine.config import Config
from tools import QUIET, check, definition, field

CONFIG = Config(ignore=[*QUIET, "style"])
A = field("A")
S = {"name": "S", "versions": "0+", "fields": [A]}


def findings_of(*fields: dict[str, Any], **others: Any) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in check(definition(*fields, **others), CONFIG)]


def common(**others: Any) -> dict[str, Any]:
    return {"commonStructs": [{**S, **others}]}


USES_S = field("Use", "[]S")


@pytest.mark.parametrize(
    ("fields", "others", "rule"),
    [
        ([field("Old", "[]Part", "0-1", fields=[A])], {"validVersions": "2-5"}, "versions/never-present"),
        ([field("Old", "Part", "0-1", fields=[A])], {"validVersions": "2-5"}, "versions/never-present"),
        ([field("Use", "[]S")], common(name=""), "structs/name-missing"),
        ([USES_S], common(about="What it is."), "shape/unknown-property"),
        ([USES_S], common(versions="6+"), "structs/common-above-valid"),
        ([USES_S], common(versions="0-4"), "structs/common-ends"),
        ([field("R", "[]records", nullableVersions="0+")], {}, "fields/array-of-records"),
        ([field("Use", "[]XRequest", fields=[A])], {}, "structs/named-like-message"),
        ([field("Use", "[]XRequestData", fields=[A])], {}, "structs/named-like-message"),
        (
            [A],
            {"type": "response", "apiKey": 18, "name": "OtherResponse", "headerVersions": {"0-2": "0", "3+": "1"}},
            "kip-511/response-header-zero",
        ),
    ],
)
def test_what_the_generator_refuses(fields: list[dict[str, Any]], others: dict[str, Any], rule: str) -> None:
    assert (rule, "error") in findings_of(*fields, **others)


def test_what_it_takes() -> None:
    assert findings_of(USES_S, **common(deprecatedVersions="0-1")) == []
    below = findings_of(field("Old", "int32", "0-1"), A, validVersions="2-5")
    assert below == [("versions/never-present", "info")]
    findings = findings_of(field("Old", "[]S", "0-1"), USES_S, validVersions="2-5", **common())
    assert findings == [("versions/never-present", "info")]


@pytest.mark.parametrize(
    ("fields", "others", "rule", "severity"),
    [
        ([A], {"validVersions": "none"}, "rpc/dead-message-properties", "warning"),
        ([A], {"deprecatedVersions": "0-9"}, "versions/deprecated-invalid", "warning"),
        ([field("B", versions="3"), A], {}, "versions/only-one-version", "info"),
    ],
)
def test_what_is_softer(fields: list[dict[str, Any]], others: dict[str, Any], rule: str, severity: str) -> None:
    assert [finding for finding in findings_of(*fields, **others) if finding[0] == rule] == [(rule, severity)]
