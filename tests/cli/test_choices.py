"""A word that is none of a few: all of them are listed, wherever the mistake is made."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from kiplint.engine.rule import Each
from sources.support import write
from tools import definition, field, kiplint

PACK = '{"pack": "acme", "rules": [{"id": "x", "each": "%s", "severity": "%s", "expect": "name", "message": "m"}]}'
LEVELS = "error, warning, info"
KINDS = ", ".join(get_args(Each))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("choices"), {"XData.json": definition(field("A"), name="XData", type="data")})


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("check", "--fail-on", "bad"), "'bad' is not one of 'error', 'warning', 'info', 'never'"),
        (("check", "--severity", "tags=bad"), f"bad is not a severity: {LEVELS}, off"),
        (("check", "--output-format", "bad"), "there is no format bad: there are text, concise, github, "),
        (("diff", ".", ".", "--fail-on-breaks", "bad"), "wire, storage, support, semantics, source, none"),
        (("schema", "bad"), "there is no schema bad: there are message, config, pack, check, "),
    ],
)
def test_on_the_command_line(here: Path, words: tuple[str, ...], text: str) -> None:
    result = kiplint(*words, cwd=here)
    assert (result.code, result.out) == (2, "")
    assert text in result.err
    assert "Value error" not in result.err
