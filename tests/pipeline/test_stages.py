"""What the stages of a run are asked to do, and how they fail."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from kiplint.compat.sides import broker_side, client_side
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.pipeline import stages
from kiplint.pipeline.changes import compare_pair
from kiplint.pipeline.history import Line
from kiplint.pipeline.matrix import Cells, negotiate_cells
from kiplint.pipeline.rules import Rules
from kiplint.pipeline.stages import run_stages
from tools import definition, expanding, field


class NoRows:
    """A DataFrame without rows."""

    def where(self, _: str) -> NoRows:
        return self

    def collect(self) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("old_rules", "sources"), [("new", {"kafka"}), ("old", {"kafka", "fork"}), ("", {"kafka", "fork"})]
)
def test_other_rules_check_all_sources(old_rules: str, sources: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that cannot be read now: the rows of the old rules are replaced."""
    kafka, fork = (Line(source, "main", "/r", "old", old_rules) for source in ("kafka", "fork"))
    calls: dict[str, tuple[Any, ...]] = {}
    for name in ("messages", "findings", "changes", "matrix", "drift", "spans"):
        monkeypatch.setattr(stages, name, lambda lake, *words, name=name: calls.setdefault(name, words) and NoRows())
    monkeypatch.setattr(stages, "ingest", lambda lake, lines: (0, {}))
    lake: Any = SimpleNamespace(path=Path(), lines=[kafka, fork], tables={"matrix": None}, unpersist=lambda: None)
    lake.add = lake.replace = lambda *_: 0
    lake.persist = lambda rows: rows or NoRows()
    changed_line = kafka._replace(state="new", rules_id="new")
    assert run_stages(lake, [changed_line], {kafka.key: kafka, fork.key: fork}, Rules("new", b""), print) == {}
    assert calls["findings"][1] == calls["changes"][1] == sources
    assert calls["spans"] == ({"kafka"},)
    assert "matrix" not in calls  # as no line of tags has changed


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "Connection refused"), Py4JNetworkError("no answer")])
def test_a_jvm_that_is_killed(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ingest(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(stages, "ingest", ingest)
    lake: Any = SimpleNamespace(path=tmp_path, lines=[], tables={})
    with pytest.raises(UsageError, match="^stage revisions fails: Spark's process has ended; it may need more memory"):
        run_stages(lake, [Line("kafka", "main", "/r", "new")], {}, Rules("", b""), print)


def test_a_message_that_cannot_be_compared_does_not_take_the_rows_of_others() -> None:
    """Its change is a problem of the pair of trees, and its cell of the matrix says so."""

    def tree(name: str, kind: str) -> Tree:
        texts = [expanding(kind, name="YRequest", apiKey=8), definition(field("A", kind), name="XRequest", apiKey=1)]
        texts += [definition(name=f"{rpc}Response", type="response", apiKey=key) for rpc, key in (("X", 1), ("Y", 8))]
        return make_tree(name, [("", [(f"{number}.json", text) for number, text in enumerate(texts)])])

    base, head = tree("base", "int32"), tree("head", "int64")
    rows = compare_pair(base, head, Rules.of())
    failure = "0.json: YRequest cannot be compared: 0.json has more than 100,000 fields, with structs expanded"
    assert [(row.get("message_name"), row.get("problem")) for row in rows] == [(None, failure), ("XRequest", None)]
    cells: Cells = {}
    keys = [*negotiate_cells(client_side("", base.main), broker_side("", head.main), cells)]
    assert [(cells[key]["name"], cells[key]["status"], cells[key]["lowest"]) for key in keys] == [
        ("X", "layout-differs", None),
        ("Y", "not-compared", None),
    ]
