"""Did you mean: only what is close."""

from __future__ import annotations

import pytest

from kiplint.engine.config import Config
from kiplint.engine.packs import shipped_rules
from kiplint.limits import SUGGESTIONS
from kiplint.render.formats import FORMATS
from kiplint.text.words import did_you_mean, nearest
from tools import check, definition, field

RULES = [name for rule in shipped_rules() for name in (rule.id, rule.pack)]
MESSAGES = ["FetchRequest", "FetchResponse", "MetadataRequest", "ProduceRequest"]


@pytest.mark.parametrize(
    ("word", "candidates", "expected"),
    [
        ("tags/gpa", RULES, "tags/gap"),
        ("Tags", RULES, "tags"),
        ("kip-1313/header-mising", RULES, "kip-1313/header-missing"),
        ("txt", FORMATS, "text"),
        ("Fetch", MESSAGES, "FetchRequest"),
        ("MetdataRequest", MESSAGES, "MetadataRequest"),
        ("files", ["field", "rpc"], "field"),
        ("kip-714", RULES, ""),
        ("yaml", FORMATS, ""),
        ("fatal", ["error", "warning", "info", "never"], ""),
        ("bad", ["wire", "storage", "support", "none"], ""),
        ("", MESSAGES, ""),
    ],
)
def test_what_is_close(word: str, candidates: list[str], expected: str) -> None:
    assert nearest(word, candidates) == expected
    assert did_you_mean(word, candidates) == (f"; did you mean {expected}?" if expected else "")


@pytest.mark.parametrize("properties", [{"abuot": "x"}, {"entityType": "topicNam"}])
def test_a_definition_has_so_many_suggestions(properties: dict[str, str]) -> None:
    data = definition(*(field(f"F{at}", "string", **properties) for at in range(SUGGESTIONS + 5)))
    findings = check(data, Config(select=["shape"]))
    assert len(findings) == SUGGESTIONS + 5
    assert sum("did you mean" in finding.message for finding in findings) == SUGGESTIONS
