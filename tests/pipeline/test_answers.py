"""What the views of the lake of the sample history say, and the commands that lay them out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from kiplint.commands.pipeline import blame, forks, matrix, query, report
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers import Answers, questions
from tools import kiplint

LINE = "source = 'sample' AND lineage = 'main'"
COLUMNS = "rule, message_name, introduced_position, fixed_position, first_release, fixed_release"
SPANS = f"SELECT {COLUMNS} FROM spans WHERE {LINE} AND what = $1 AND severity = 'error' ORDER BY ALL"


def rows(answers: Answers, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return list(answers.rows(sql, values).values)


def test_findings_in_time(answers: Answers) -> None:
    missing = [span for span in rows(answers, SPANS, "finding") if span[0] == "kip-1313/header-missing"]
    assert {span[2:] for span in missing} == {(9, None, "2.0.0", None)}
    assert [span for span in rows(answers, SPANS, "finding") if span not in missing] == [
        ("kip-1313/frozen-rpc", "SaslHandshakeRequest", 2, 4, None, None),
        ("kip-1313/frozen-rpc", "SaslHandshakeResponse", 2, 4, None, None),
        ("kip-1313/request-header-order", "RequestHeader", 7, 8, None, None),
        ("rpc/versions-differ", "DeleteGroupsResponse", 3, 5, "1.1.0", "1.2.0"),
        ("versions/field-above-valid", "DeleteGroupsResponse", 3, 5, "1.1.0", "1.2.0"),
    ]


def test_changes_in_time(answers: Answers) -> None:
    assert rows(answers, SPANS, "change") == [
        ("compat/frozen-bumped", "SaslHandshakeRequest", 2, None, None, None),
        ("compat/frozen-bumped", "SaslHandshakeResponse", 2, None, None, None),
        ("compat/layout-changed", "RequestHeader", 7, None, None, None),
        ("compat/layout-changed", "RequestHeader", 8, None, None, None),
        ("compat/response-not-bumped", "DeleteGroupsResponse", 3, None, "1.1.0", None),
    ]


def test_the_fork_collides_where_it_changed_released_versions(answers: Answers) -> None:
    sql = "SELECT message_name, lowest, highest, upstream_release FROM drift WHERE status = 'collision' ORDER BY ALL"
    ranges = [(0, 0), (1, 2), (3, 3), (4, 6)]
    assert rows(answers, sql) == [("FindCoordinatorRequest", low, high, "2.0.0") for low, high in ranges]


def test_forks(answers: Answers) -> None:
    sql = "SELECT source, base_by, base_release, own, collisions, merge_breaks FROM forks"
    assert rows(answers, sql) == [("fork", "commit", None, 0, 1, 3)]


def test_breaks_are_counted_once(answers: Answers) -> None:
    """Those of the branch, and not again those between releases."""
    assert {line for (line,) in rows(answers, "SELECT lineage FROM breaks WHERE source = 'sample'")} == {"main"}


def test_nothing_went_wrong(answers: Answers) -> None:
    assert rows(answers, "FROM problems") == []


@pytest.mark.parametrize("view", questions())
def test_a_view_answers_its_question(view: str, answers: Answers) -> None:
    assert "?" in questions()[view]
    assert answers.rows(f"SELECT * FROM {view}").columns


COMMANDS: dict[str, tuple[Callable[..., int], dict[str, str]]] = {
    "report": (report.command, {}),
    "blame a message": (blame.command, {"subject": "SaslHandshake"}),
    "blame a rule": (blame.command, {"subject": "compat"}),
    "forks": (forks.command, {}),
    "one fork": (forks.command, {"fork": "fork"}),
    "matrix": (matrix.command, {}),
    "pair": (matrix.command, {"client": "1.0.0", "broker": "2.0.0"}),
    "query": (query.command, {"sql": "SELECT source, count(*) AS commits FROM revisions GROUP BY ALL ORDER BY ALL"}),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_as_json(name: str, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page of the guide has the texts."""
    command, options = COMMANDS[name]
    assert command(lake=str(lake), **options, output_format="json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document.pop("version") == 1
    assert all(isinstance(rows, list) for rows in document.values())


def test_the_page_of_the_report(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.command(lake=str(lake), output_format="html")
    page = capsys.readouterr().out
    assert "Open findings of sample main" in page
    assert "1.0.0 with 2.0.0:" in page


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((blame.command, {"subject": "Nothing"}), "no message and no rule is called Nothing"),
        ((forks.command, {"fork": "nothing"}), "the lake has no fork nothing"),
        ((matrix.command, {"client": "1.0.0"}), "matrix takes no release, or two"),
        ((matrix.command, {"client": "1.0.0", "broker": "9"}), "the lake has no release 9"),
        ((query.command, {"sql": "DROP TABLE spans"}), "a query is one SELECT"),
        ((query.command, {"sql": "SELECT nothing FROM spans"}), "the query fails: "),
        ((query.command, {"sql": "SELECT * FROM read_csv('/etc/passwd')"}), "the query fails: "),
    ],
)
def test_mistakes(command: tuple[Callable[..., int], dict[str, str]], message: str, lake: Path) -> None:
    with pytest.raises(UsageError, match=f"^{message}") as error:
        command[0](lake=str(lake), **command[1])
    assert "\n" not in str(error.value)


def test_no_lake(tmp_path: Path) -> None:
    result = kiplint("pipeline", "report", str(tmp_path), cwd=ROOT)
    assert (result.code, result.err) == (2, f"error: {tmp_path} is no lake: `kiplint pipeline run` makes it\n")


def test_the_readme_shows_what_blame_prints(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The README names the lake of `make pipeline-demo`, which is of the same commits."""
    blame.command(lake=str(lake), subject="SaslHandshakeRequest")
    command = "$ kiplint pipeline blame build/pipeline-demo/sample-lake SaslHandshakeRequest"
    assert f"{command}\n{capsys.readouterr().out.rstrip()}\n```\n" in (ROOT / "README.md").read_text("utf-8")
