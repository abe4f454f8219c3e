"""Whether ClientInstanceId has to be a tagged field of the request header is a parameter: either, yes or no."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.engine.config import Config, RuleTable
from tools import check, definition, field

FIRST = [
    field("RequestApiKey", "int16"),
    field("RequestApiVersion", "int16"),
    field("CorrelationId"),
    field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none"),
]
PLAIN = field("ClientInstanceId", "uuid", "3+")
TAGGED: dict[str, Any] = {**PLAIN, "taggedVersions": "3+", "tag": 0}


def messages_of(identity: dict[str, Any], tagged: str | None) -> list[str]:
    params = {"kip-1313/request-header-v3": RuleTable(params={"tagged": tagged})} if tagged else {}
    header: dict[str, Any] = {"type": "header", "apiKey": None, "validVersions": "1-3", "flexibleVersions": "2+"}
    text = definition(*FIRST, identity, name="RequestHeader", **header)
    config = Config(select=["kip-1313/request-header-v3"], rules=params)
    return [finding.message for finding in check({"RequestHeader.json": text}, config)]


@pytest.mark.parametrize("tagged", [None, "either"])
@pytest.mark.parametrize("identity", [PLAIN, TAGGED])
def test_either(identity: dict[str, Any], tagged: str | None) -> None:
    assert messages_of(identity, tagged) == []


def test_one_of_the_two() -> None:
    assert messages_of(TAGGED, "yes") == messages_of(PLAIN, "no") == []
    assert messages_of(PLAIN, "yes") == ["ClientInstanceId has to be a tagged field of the request header"]
    assert messages_of(TAGGED, "no") == ["ClientInstanceId must not be a tagged field of the request header"]


@pytest.mark.parametrize("tagged", [None, "yes", "no"])
@pytest.mark.parametrize("wrong", [{"type": "string"}, {"versions": "2+"}, {"name": "InstanceId"}])
def test_it_is_a_uuid_from_version_3_on_with_any_parameter(wrong: dict[str, Any], tagged: str | None) -> None:
    assert any(
        "a uuid in versions 3+" in text or "uuid" in text or "3+" in text
        for text in messages_of({**PLAIN, **wrong}, tagged)
    )
