"""The hooks as pre-commit installs and runs them, out of a clone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import packages
from sources.support import git, make_repository, write
from test_hooks import MANIFEST, PAGE

PLACES = {
    "clients-test": "clients/src/test/resources/common/message",
    "metadata": "metadata/src/main/resources/common/metadata",
    "storage": "storage/src/main/resources/message",
}
"""Where Kafka's modules have their schemas, unless in src/main/resources/common/message."""


class PreCommit:
    """pre-commit in a repository; what it installs is kept for the others that have the same `home`."""

    def __init__(self, where: Path, home: Path) -> None:
        self.where = where
        self.home = home

    def __call__(self, *words: str) -> tuple[int, str]:
        """Run it; its exit code and what it prints, without what it says of installing."""
        process = subprocess.run(
            [sys.executable, "-m", "pre_commit", *words],
            cwd=self.where,
            env=packages.environment(
                PRE_COMMIT_HOME=str(self.home), PRE_COMMIT_COLOR="never", COLUMNS="80", NO_COLOR="1"
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        lines = process.stdout.decode().splitlines(keepends=True)
        return process.returncode, "".join(line for line in lines if not line.startswith("[INFO]"))


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the checkout in it, to install from."""
    packages.need_index()
    return packages.checkout(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installs."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def kafka(corpus: Path, tmp_path: Path) -> Path:
    """A repository with Kafka's schemas where Kafka has them."""
    for module in sorted((corpus / "kafka-trunk-2026-08").iterdir()):
        place = PLACES.get(module.name, f"{module.name}/src/main/resources/common/message")
        shutil.copytree(module, tmp_path / "kafka" / place)
    return make_repository(tmp_path / "kafka", {"package.json": b'{"name": "not ours"}\n'})


def configuration(clone: Path, *hooks: str) -> dict[str, bytes]:
    """The guide's configuration, with the clone for the place of kiplint; other hooks than its own where given."""
    (text,) = re.findall(r'^```yaml title="\.pre-commit-config\.yaml"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    text = text.replace("https://github.com/kiplint/kiplint", str(clone)).replace(
        "v0.1.0", git(clone, "rev-parse", "HEAD")
    )
    if hooks:
        text = text.replace("- id: kiplint-review\n", "\n      ".join(f"- id: {hook}" for hook in hooks) + "\n")
    return {".pre-commit-config.yaml": text.encode()}


BREAK = '    { "name": "Mistake", "type": "int32", "versions": "0+", "about": "Not there in the release." },\n'


def spoil(kafka: Path) -> None:
    """Stage a schema with a field more, before its first."""
    path = f"{PLACES['storage']}/ProducerSnapshot.json"
    lines = git(kafka, "show", f"HEAD:{path}").splitlines(keepends=True)
    number = next(number for number, text in enumerate(lines, 1) if '"fields"' in text)
    write(kafka, {path: "".join([*lines[:number], BREAK, *lines[number:]]).encode()})
    git(kafka, "add", "-A")


def result(hook: str, ending: str) -> str:
    """The line that pre-commit prints of a hook."""
    return hook + ending.rjust(79 - len(hook), ".") + "\n"


def test_the_guides_hook_reviews(clone: Path, home: Path, kafka: Path) -> None:
    pre_commit = PreCommit(kafka, home)
    write(kafka, configuration(clone))
    git(kafka, "add", "-A")
    assert pre_commit("run") == (0, result("kiplint review", "Passed"))
    spoil(kafka)
    code, output = pre_commit("run")
    assert output.startswith(result("kiplint review", "Failed"))
    assert re.findall(r"^error\[(.+?)\]", output, re.MULTILINE) == ["compat/layout-changed"]
    assert code == 1


def test_the_guide_shows_what_is_printed(clone: Path, home: Path, tmp_path: Path) -> None:
    where = make_repository(tmp_path / "here", configuration(clone, "kiplint-check"))
    ((path, text),) = re.findall(r'^```json title="(.+?)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    write(where, {path: text.encode()})
    git(where, "add", "-A")
    ((command, output),) = re.findall(r"^```console\n\$ (kiplint .*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (head,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert command == f"{MANIFEST['kiplint-check']['entry']} {path}"
    assert PreCommit(where, home)("run", "kiplint-check") == (1, f"{head}\n{output}\n")
