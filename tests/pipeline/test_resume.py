from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from conftest import ROOT
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.lake.lake import Lake, Snapshot
from kiplint.pipeline.run import Request, Watcher, make_request, run
from kiplint.pipeline.stage import Engine
from tools import complaint

SET = ROOT / "fixtures" / "sets" / "broker"
SOURCE = f"x={SET}"


def no_session() -> NoReturn:
    raise AssertionError("nothing is to be done")


def begin_run(lake: Lake, request: Request) -> Snapshot:
    """The lake of a run that came no further than to its stages."""
    engine = Engine.of(make_ruleset(Config(), load_rules(Config(), "")))
    watcher = Watcher(lambda: None, lambda *_: None, lambda _: None)
    return run(lake, request, engine, no_session, watcher, stages=())


def build_request(lake: Lake, *sources: str, resume: bool = True, paths: tuple[str, ...] = ()) -> Request:
    return make_request(lake, Request(tuple(sources), tuple(paths)), resume=resume)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def test_the_same_run_is_remembered_once(lake: Lake) -> None:
    request = Request((SOURCE,), ("clients/*",), "x")
    assert [begin_run(lake, request).number for _ in range(3)] == [2, 3, 3]
    assert begin_run(lake, Request((SOURCE,))).number == 5


def test_resume_continues_with_the_request_of_the_run(lake: Lake) -> None:
    request = Request((SOURCE,), ("clients/*",), "x")
    begin_run(lake, request)
    assert build_request(lake) == request


def test_resume_takes_the_same_sources_again(lake: Lake) -> None:
    assert build_request(lake, SOURCE) == Request((SOURCE,))  # killed before anything was written
    begin_run(lake, Request((SOURCE,)))
    assert build_request(lake, SOURCE) == Request((SOURCE,))


def test_resume_refuses_other_sources(lake: Lake) -> None:
    begin_run(lake, Request((SOURCE,)))
    text = "--resume continues with the sources of the previous run; leave the others out"
    assert complaint(lambda: build_request(lake, f"y={SET}")) == text
    assert complaint(lambda: build_request(lake, SOURCE, paths=("clients/*",))) == text


def test_omitted_properties_are_unchanged(lake: Lake, tmp_path: Path) -> None:
    file = tmp_path / "strict.toml"
    file.write_text("")
    begin_run(lake, make_request(lake, Request((SOURCE,), ("clients/*",), "x", str(file))))
    assert make_request(lake, Request(()), resume=True) == Request((SOURCE,), ("clients/*",), "x", str(file))
    assert make_request(lake, Request((), config="other.toml"), resume=True).config == os.path.abspath("other.toml")


def test_other_sources_are_added_and_removed_by_name(lake: Lake) -> None:
    begin_run(lake, Request((SOURCE,), ("clients/*",), "x"))
    other = f"y={SET}"
    text = (
        f"{lake} was read from other sources ({other} is new, {SOURCE} is missing); change them with --add and --remove"
    )
    assert complaint(lambda: make_request(lake, Request((other,)))) == text
    both = make_request(lake, Request(()), add=[other])
    assert both == Request((SOURCE, other), ("clients/*",), "x")
    begin_run(lake, both)
    assert make_request(lake, Request((other, SOURCE))).sources == (other, SOURCE)
    assert make_request(lake, Request(()), remove=["x"]) == Request((other,), ("clients/*",))
    assert make_request(lake, Request(()), add=[f"z={SET}"], remove=["x", "y"]).sources == (f"z={SET}",)
    assert complaint(lambda: make_request(lake, Request(()), remove=["w"])) == (
        f"the lake has no source w: there are {SOURCE}, {other}"
    )
    assert complaint(lambda: make_request(lake, Request(()), remove=["x", "y"])) == "no source would be left"
    assert complaint(lambda: make_request(lake, Request((SOURCE,)), add=[other])).startswith(
        "--add and --remove change "
    )
