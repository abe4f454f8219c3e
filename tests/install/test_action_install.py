"""The GitHub action's own installation, out of a clone, with nothing but what is locked."""

from __future__ import annotations

from pathlib import Path

import packages
from github_runner import Runner
from sources.support import git, make_repository
from test_action import FAULTS, GAP, SUMMARY, TRAPS, UNTOLD, change, plain, pull_request, thing
from tools import ABOUT_WARNING


def test_an_installation_from_the_checkout(tmp_path: Path) -> None:
    packages.need_index()
    workspace = make_repository(tmp_path / "work tree", {**thing(), "kiplint.toml": ABOUT_WARNING})
    runner = Runner(workspace, tmp_path / "machine", packages.checkout(tmp_path / "clone"))
    change(workspace, {**thing(request=GAP, response=UNTOLD), **TRAPS})
    installation = runner.install()
    assert installation.code == 0, installation.log.lines
    assert (runner.machine / "temp/kiplint/kiplint/packs/tags.json").is_file()
    outcome = pull_request(runner)
    base = git(workspace, "rev-parse", "--short", "HEAD~1")
    assert (outcome.log.annotations, plain(outcome.summary)) == (FAULTS, SUMMARY.replace("BASE", base))
    assert outcome.log.matchers == [str(runner.clone / ".github/action/matcher.json")]
