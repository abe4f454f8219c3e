"""A set that was checked leaves no element behind, although commands run without the garbage collector."""

from __future__ import annotations

import gc

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.model.fields import Field, Struct
from kiplint.model.message import Message
from kiplint.model.notes import TextElement


def elements() -> int:
    return sum(isinstance(thing, Message | Field | Struct | TextElement) for thing in gc.get_objects())


def test_no_element_outlives_the_check_of_its_set() -> None:
    rules = make_ruleset(Config(select=["all"]), load_rules(Config(), ""))
    files = [*(ROOT / "fixtures/sets").rglob("*.json"), *(ROOT / "fixtures/notes").rglob("bad/*.json")]
    gc.collect()
    gc.disable()
    try:
        before = elements()
        for folder in sorted({file.parent for file in files}):
            inputs = [Input(str(file), file.read_bytes()) for file in sorted(folder.glob("*.json"))]
            check_set(inputs, rules)
        assert elements() == before
    finally:
        gc.enable()
