"""The commands that ask a lake, and the views that they ask. What they say of the sample history is in the guide."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.commands.pipeline import blame, forks, matrix, query, report
from kiplint.commands.pipeline.pictures import draw_drift
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers import Answers
from tools import kiplint

sys.path.insert(0, str(ROOT / "docs"))

from generator.tables import questions


def test_nothing_went_wrong(answers: Answers) -> None:
    assert answers.rows("FROM problems").values == []


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
    pictures = ["Open findings of sample main", "Open findings of sample tags", "Open findings of fork fork"]
    pictures += ["How long errors lived", "How far forks are from upstream"]
    assert [title for title in pictures if f"<figcaption>{title}</figcaption>" not in page] == []
    assert page.count("<svg ") == len(pictures)
    for text in ("Errors over time", ">2.0.0</text>", 'stroke="var(--error)"', "sample: how many RPCs a client"):
        assert text in page
    assert " style=" not in page  # which the policy of the page forbids


def test_pictures_escape_names() -> None:
    records = [{"fork": "<script>", "same": 1, "only_in_fork": 0, "collision": 2}]
    assert "<script" not in draw_drift(records).svg


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ((blame.command, {"subject": "Nothing"}), "no message or rule is named Nothing"),
        ((forks.command, {"fork": "nothing"}), "the lake has no fork nothing"),
        ((matrix.command, {"client": "1.0.0"}), "give a client and a broker release, or neither"),
        ((matrix.command, {"client": "1.0.0", "broker": "9"}), "the lake has no release 9"),
        ((query.command, {"sql": "DROP TABLE spans"}), "a query must be read-only: one SELECT"),
        ((query.command, {"sql": "SELECT nothing FROM spans"}), "the query failed: "),
        ((query.command, {"sql": "SELECT * FROM read_csv('/etc/passwd')"}), "the query failed: "),
    ],
)
def test_mistakes(command: tuple[Callable[..., int], dict[str, str]], message: str, lake: Path) -> None:
    with pytest.raises(UsageError, match=f"^{message}") as error:
        command[0](lake=str(lake), **command[1])
    assert "\n" not in str(error.value)


def test_no_lake(tmp_path: Path) -> None:
    result = kiplint("pipeline", "report", str(tmp_path), cwd=ROOT)
    assert (result.code, result.err) == (2, f"error: {tmp_path} is not a lake; `kiplint pipeline run` creates it\n")


def test_the_readme_shows_what_blame_prints(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The README names the lake of `make pipeline-demo`, which is of the same commits."""
    blame.command(lake=str(lake), subject="SaslHandshakeRequest")
    command = "$ kiplint pipeline blame build/pipeline-demo/sample-lake SaslHandshakeRequest"
    assert f"{command}\n{capsys.readouterr().out.rstrip()}\n```\n" in (ROOT / "README.md").read_text("utf-8")
