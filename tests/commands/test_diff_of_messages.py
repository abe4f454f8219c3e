"""A diff of some messages alone, by name or glob, and how an RPC is told: one heading, and its name only there."""

from __future__ import annotations

import io

import pytest

from conftest import ROOT
from kiplint import diff
from kiplint.commands.diff.run import DiffResult
from kiplint.engine.errors import UsageError
from kiplint.render.formats import write

SETS = (ROOT / "fixtures/sets/broker/clients", ROOT / "fixtures/kip-1313")


def names(*globs: str) -> set[str]:
    result = diff(*SETS, messages=globs).changes
    return {finding.message_name for finding in result}


def text(result: DiffResult) -> list[str]:
    out = io.StringIO()
    write("text", result, out)
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        (["OffsetDelete"], {"OffsetDeleteRequest", "OffsetDeleteResponse"}),
        (["OffsetDeleteRequest"], {"OffsetDeleteRequest"}),
        (["*Telemetry", "RequestHeader"], {"PushTelemetryRequest", "PushTelemetryResponse", "RequestHeader"}),
        (["SaslHandshake"], set[str]()),
    ],
)
def test_messages_and_rpcs_by_name_or_glob(globs: list[str], expected: set[str]) -> None:
    assert names(*globs) == expected


def test_a_name_that_neither_has() -> None:
    with pytest.raises(UsageError, match=r"^OfsetDelete: .*did you mean OffsetDelete\?$"):
        names("OfsetDelete")


def test_an_rpc_has_one_heading_and_its_lines_do_not_repeat_the_name() -> None:
    assert text(diff(*SETS, messages=["OffsetDelete"])) == [
        "OffsetDelete",
        "  info  compat/new-version  request: version 1 is new, flexible for the first time, with request header 3",
        "  info  compat/new-version  response: version 1 is new, flexible for the first time, with response header 1",
        "",
        "kip-1313 against sets/broker/clients: nothing breaks; 2 infos.",
    ]
