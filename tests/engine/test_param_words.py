"""Names that a configuration gives to parameters of rules, and that nobody has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import kiplint
from engine.test_header_maps import FIRST
from kiplint.engine.config import Config, RuleTable
from kiplint.engine.params import WHOLE, misnamed
from kiplint.engine.ruleset import load_rules, make_ruleset
from tools import check, complaint, definition, field

FEW = ["FetchRequest", "FetchResponse", "SaslHandshakeRequest"]
MANY = [*FEW, *(f"Number{n}Request" for n in range(WHOLE))]
RULES = load_rules(Config(), "")


def config(rule: str, **params: Any) -> Config:
    return Config(rules={rule: RuleTable(params)})


def warnings_of(names: list[str], rule: str, **params: Any) -> list[str]:
    return [name.detail for name in misnamed(make_ruleset(config(rule, **params), RULES).all_rules, names)]


@pytest.mark.parametrize(
    ("word", "few", "many"),
    [
        ("Fetch", "", ""),
        ("SaslHandshake", "", ""),
        ("SaslHandshak", "; did you mean SaslHandshake?", "; did you mean SaslHandshake?"),
        ("saslhandshake", "; did you mean SaslHandshake?", "; did you mean SaslHandshake?"),
        ("FetchRequest", "; did you mean Fetch?", "; did you mean Fetch?"),
        ("FetchSnapshot", "", " here"),
        ("SaslHndshk", "; did you mean SaslHandshake?", "; did you mean SaslHandshake?"),
    ],
)
def test_rpcs(word: str, few: str, many: str) -> None:
    for names, output in ((FEW, few), (MANY, many)):
        expected = [f"there is no RPC {word}{output}"] if output else []
        assert warnings_of(names, "rpc/versions-differ", frozen=[word]) == expected
        assert warnings_of(names, "kip-1313/frozen-rpc", frozen={word: "0-1"}) == expected


def test_messages() -> None:
    text = warnings_of(
        FEW, "kip-1313/telemetry-fields", messages=["FetchRequst", "FetchRequest", "PushTelemetryReqest"]
    )
    assert text == [
        "there is no message FetchRequst; did you mean FetchRequest?",
        "there is no message PushTelemetryReqest; did you mean PushTelemetryRequest?",
    ]


def test_shipped_parameters_are_not_mistakes() -> None:
    assert list(misnamed(RULES, MANY)) == []


@pytest.mark.parametrize(
    ("rule", "params", "expected"),
    [
        ("kip-1313/request-header-v3", {"tagged": "maybe"}, "maybe is none of either, yes, no"),
    ],
)
def test_words(rule: str, params: dict[str, Any], expected: str) -> None:
    assert expected in complaint(lambda: make_ruleset(config(rule, **params), RULES))


def test_commands_say_it(repo: Path, tmp_path: Path) -> None:
    shutil.copytree(repo / "fixtures/sets/broker/clients", tmp_path / "set")
    text = '[rules."kip-1313/frozen-rpc".params]\nfrozen = { Metdata = "0-1" }\n'
    (tmp_path / "set/kiplint.toml").write_text(text)
    word = "there is no RPC Metdata; did you mean Metadata?"
    rows = (f"warning: {tmp_path}/set/kiplint.toml:2: the parameter frozen of kip-1313/frozen-rpc: {word}",)
    folder = str(tmp_path / "set")
    assert kiplint.check(folder).notes == rows
    assert kiplint.check(f"{folder}/FindCoordinatorRequest.json").notes == rows
    assert kiplint.diff(folder, folder).notes == rows
    assert kiplint.rollout(folder).notes == rows


# Whether ClientInstanceId has to be a tagged field of the request header is a parameter: either, yes or no
PLAIN = field("ClientInstanceId", "uuid", "3+")
TAGGED: dict[str, Any] = {**PLAIN, "taggedVersions": "3+", "tag": 0}


def messages_of(identity: dict[str, Any], tagged: str | None) -> list[str]:
    params = {"kip-1313/request-header-v3": RuleTable(params={"tagged": tagged})} if tagged else {}
    header: dict[str, Any] = {"type": "header", "apiKey": None, "validVersions": "1-3", "flexibleVersions": "2+"}
    text = definition(*FIRST, identity, name="RequestHeader", **header)
    config = Config(select=["kip-1313/request-header-v3"], rules=params)
    return [finding.message for finding in check({"RequestHeader.json": text}, config)]


def test_one_of_the_two() -> None:
    assert messages_of(TAGGED, "yes") == messages_of(PLAIN, "no") == []
    assert messages_of(PLAIN, "yes") == ["ClientInstanceId has to be a tagged field of the request header"]
    assert messages_of(TAGGED, "no") == ["ClientInstanceId must not be a tagged field of the request header"]
