"""`kiplint readers`, and `kiplint check --readers`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.render.formats import format_names
from sources.support import git, make_repository
from tools import Ran, definition, field, kiplint

FINE = definition(field("Name", "string"), listeners=["broker"])
HEADERS = {"0-2": "1", "3-4": "2", "5+": "3"}
DECLARED = definition(field("Name", "string"), listeners=["broker"], headerVersions=HEADERS)
LATE = definition(field("Name", "string"), field("LateMs", "int64"), listeners=["broker"])


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path, {"set/XRequest.json": LATE, "set/YRequest.json": FINE.replace(b"X", b"Y")})
    (tmp_path / "set/XRequest.json").write_bytes(DECLARED.replace(b'"Name"', b'"LateMs"'))
    return tmp_path


def run(place: Path, *words: str, **env: str) -> Ran:
    return kiplint(*words, cwd=place, env=env)


def document(place: Path, *words: str) -> dict[str, Any]:
    ran = run(place, *words, "--output-format", "json")
    assert ran.code == 0
    result: dict[str, Any] = json.loads(ran.out)
    return result


def test_a_table_of_what_breaks(place: Path) -> None:
    ran = run(place, "readers", "set")
    rows = {line.split()[0]: line.split()[1:4] for line in ran.out.splitlines()[1:9]}
    assert rows == {
        "envoy": ["2", "0", "1"], "kafka-protocol-rs": ["2", "1", "0"], "kafka-python": ["2", "0", "1"], "kio": ["2", "1", "0"],
        "librdkafka": ["0", "0", "0"], "nisshi": ["2", "0", "1"], "platformatic": ["2", "0", "0"], "redpanda": ["0", "0", "0"],
    }  # fmt: skip
    assert "  it knows no property headerVersions\n    XRequest  set/XRequest.json:" in ran.out
    assert "  request header 2, not request header 3\n    XRequest 5  set/XRequest.json:" in ran.out
    assert ran.out.endswith(
        "The set makes Envoy's generator take the wrong header (1 message), kafka-protocol-rs fail (1 definition), "
        "kafka-python take the wrong header (1 message), kio fail (1 definition) and nisshi take the wrong header "
        "(1 message).\n"
    )


def test_only_what_a_change_brought_about(place: Path) -> None:
    result = document(place, "readers", "set", "--since", "HEAD")
    assert {row["name"]: (len(row["fails"]), len(row["misreads"])) for row in result["readers"]} == {
        "envoy": (0, 1), "kafka-protocol-rs": (1, 0), "kafka-python": (0, 1), "kio": (0, 0),
        "librdkafka": (0, 0), "nisshi": (0, 1), "platformatic": (0, 0), "redpanda": (0, 0),
    }  # fmt: skip
    (misread,) = result["readers"][0]["misreads"]
    assert (misread["message_name"], misread["versions"], misread["what"]) == ("XRequest", "5", "header")
    assert (misread["kafka"], misread["reader"]) == ("request header 3", "request header 2")
    assert result["readers"][0]["ignores"] == {"headerVersions": 1}
    assert result["summary"]["older"] == 1
    assert result["summary"]["sentence"].startswith(
        "The change since HEAD makes Envoy's generator take the wrong header"
    )
    same = document(place, "readers", "HEAD:set", "--since", "HEAD:")
    assert (
        same["summary"]["sentence"] == "The change since HEAD: makes no reader fail or read anything else than Kafka."
    )
    git(place, "checkout", "-q", "--", "set")
    assert document(place, "readers", "set", "--since", "HEAD")["findings"] == []


def test_a_reader_that_loses_a_file(place: Path) -> None:
    git(place, "checkout", "-q", "--", "set")
    (place / "set/YRequest.json").rename(place / "set/YCall.json")
    result = document(place, "readers", "set", "--since", "HEAD")
    lost = {
        row["name"]: (row["loses"], row["reads_before"], row["reads"]) for row in result["readers"] if "loses" in row
    }
    assert lost == {"platformatic": (["YRequest"], 2, 1)}
    assert result["summary"]["sentence"] == "The change since HEAD makes platformatic's script lose YRequest."
    rows = {
        line.split()[0]: line.split()[1:7]
        for line in run(place, "readers", "set", "--since", "HEAD").out.splitlines()[1:9]
    }
    assert rows["platformatic"] == ["2", "->", "1", "0", "->", "0"]
    assert rows["kio"] == ["2", "->", "2", "1", "->", "1"]


def test_the_repository_may_be_elsewhere(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    away = tmp_path_factory.mktemp("away")
    result = document(away, "readers", str(place / "set"), "--since", "HEAD", "--repo", str(place))
    assert (result["summary"]["older"], len(result["readers"][0]["misreads"])) == (1, 1)
    git(place, "bundle", "create", "-q", "all.bundle", "--all")
    for where, says in (
        (str(away), "no such revision: HEAD"),
        (str(place / "all.bundle"), "set is not in the work tree of"),
    ):
        ran = run(away, "readers", str(place / "set"), "--since", "HEAD", "--repo", where)
        assert (ran.code, says in ran.err) == (2, True)


@pytest.mark.parametrize("form", format_names())
def test_every_format_tells_it(form: str, place: Path) -> None:
    ran = run(place, "readers", "set", "--select", "readers/kio", "--output-format", form)
    assert ran.code == 0
    assert "LateMs" in ran.out
    assert "XRequest" in ran.out


def test_findings_of_a_check(place: Path) -> None:
    plain = document(place, "check", "set", "--ignore", "style,rpc,kip-1313")
    assert plain["findings"] == []
    result = document(place, "check", "set", "--ignore", "style,rpc,kip-1313", "--readers")
    assert {(finding["rule"], finding["severity"]) for finding in result["findings"]} == {
        (f"readers/{name}", "info") for name in ("envoy", "kafka-protocol-rs", "kafka-python", "kio", "nisshi")
    }
    ran = run(place, "check", "set", "--select", "readers/kio", "--severity", "readers/kio=error")
    assert (ran.code, ran.out.count("error[readers/kio]")) == (1, 1)
    ran = run(place, "check", "set", "--select", "readers", "--changed-since", "HEAD", "--output-format", "concise")
    assert "readers/kafka-protocol-rs" in ran.out


def test_a_comment_may_ignore_a_reader(place: Path) -> None:
    file = place / "set/XRequest.json"
    file.write_bytes(b"// kiplint: ignore-file[readers] they know\n" + file.read_bytes())
    assert run(place, "check", "set", "--select", "readers").out == ""
    for words in (["--select", "default"], ["--readers"]):
        ran = run(place, "check", "set", "--ignore", "rpc,kip-1313,style/file-name,style/about-missing", *words)
        assert "unused-ignore" not in ran.out
        assert "readers/" not in ran.out


def test_the_job_summary_says_who_breaks(place: Path) -> None:
    summary = place / "summary.md"
    run(place, "readers", "set", "--since", "HEAD", "--output-format", "github", GITHUB_STEP_SUMMARY=str(summary))
    text = summary.read_text()
    assert "The change since HEAD makes Envoy's generator take the wrong header (1 message)" in text
    assert "kafka-protocol-rs: it knows no property headerVersions: set/XRequest.json:" in text


@pytest.mark.parametrize("form", format_names())
def test_nothing_that_a_definition_says_acts(form: str, tmp_path: Path) -> None:
    hostile = "\ud800\x1b[31m\n::error::<script>|"
    fields = [field(hostile, "int33", **{hostile: "1"}), field("Ms", hostile), field(hostile + "Ms", default=hostile)]
    for n, item in enumerate(fields):
        data = definition(item, name=f"X{n}Request", listeners=["broker"], entityType=hostile, **{hostile: hostile})
        (tmp_path / f"X{n}Request.json").write_bytes(data)
    (tmp_path / "YRequest.json").write_bytes(definition(field(), name="YRequest", listeners=["broker"], **{hostile: 1}))
    ran = run(tmp_path, "readers", ".", "--output-format", form)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert not any(line.startswith("::error") for line in ran.out.splitlines())


def test_what_makes_no_sense(place: Path) -> None:
    assert run(place, "readers", "set", "--select", "tags").code == 2
    assert "no reader is selected" in run(place, "readers", "set", "--select", "tags").err
    assert run(place, "readers", "set", "--since", "nosuch").code == 2
    assert run(place, "readers", "nothing").code == 2
