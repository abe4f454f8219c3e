"""The hooks for pre-commit: their patterns on real paths, and pre-commit's own installation of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import packages
from conftest import ROOT
from sources.support import git, make_repository, write

sys.path.insert(0, str(ROOT / "docs"))

from generator import hooks

PAGE = (ROOT / "docs/guide/pre-commit.md").read_text("utf-8")
MANIFEST: dict[str, dict[str, Any]] = {
    one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
PLACES = {
    "clients-test": "clients/src/test/resources/common/message",
    "metadata": "metadata/src/main/resources/common/metadata",
    "storage": "storage/src/main/resources/message",
}
"""Where Kafka's modules have their schemas, unless in src/main/resources/common/message."""

OTHERS = [
    ".asf.yaml",
    ".github/configs/labeler.json",
    ".vim/coc-settings.json",
    "CMakePresets.json",
    "META-INF/native-image/jni-config.json",
    "clients/src/main/resources/common/message/README.md",
    "clients/src/main/resources/common/message/FetchRequest.json.orig",
    "clients/src/main/resources/common/message/old/FetchRequest.json",
    "clients/src/main/resources/common/messages/FetchRequest.json",
    "clients/src/main/resources/common/message.json",
    "clients/src/test/resources/log4j2.json",
    "docker/telemetry/grafana/provisioning/dashboards/User/broker.json",
    "docs/layouts/index.json",
    "docs/site/package-lock.json",
    "generator/src/main/java/org/apache/kafka/message/MessageSpec.java",
    "message/FetchRequest.json",
    "package.json",
    "src/consistency-testing/chaostest/example.kafka.mrsw.json",
    "src/go/rpk/gon.json",
    "src/main/resources/metadata/dashboards.json",
    "src/v/kafka/protocol/schemata/generator.py",
    "src/v/kafka/protocol/tests/fetch_request.json",
    "src/v/redpanda/admin/api-doc/schemata.json",
    "tests/spec/round_trip.json",
    "tests/trogdor/spec/produce-bench-spec.json",
    "trogdor/src/main/resources/message.json",
]


def is_taken(path: str) -> bool:
    """Whether pre-commit gives a file to kiplint-check."""
    return re.search(MANIFEST["kiplint-check"]["files"], path) is not None


def test_the_manifest_is_written_out_of_the_catalogue() -> None:
    assert (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8") == hooks.make()
    assert list(MANIFEST) == [one.id for one in hooks.HOOKS]


def test_pre_commit_takes_the_manifest() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_hooks_are_what_they_have_to_be() -> None:
    check, diff = MANIFEST["kiplint-check"], MANIFEST["kiplint-diff"]
    assert check["entry"] == "kiplint check --only-failing"
    assert (check["types"], check["require_serial"]) == (["file"], True)
    assert (diff["entry"], diff["args"]) == ("kiplint diff", ["HEAD:", "."])
    assert (diff["pass_filenames"], diff["always_run"]) == (False, True)


@pytest.mark.parametrize("bundle", ["kafka-schema-history", "kafka-forks"])
def test_every_schema_of_every_history_is_taken(corpus: Path, tmp_path: Path, bundle: str) -> None:
    """All paths that Kafka, AutoMQ, LinkedIn and Redpanda have ever had."""
    git(tmp_path, "clone", "-q", "--bare", str(corpus / f"{bundle}.bundle"), "all")
    paths = set(git(tmp_path / "all", "log", "--all", "--name-only", "--format=").splitlines()) - {""}
    assert len(paths) > 300
    assert sorted(path for path in paths if not is_taken(path)) == []


@pytest.mark.parametrize("path", OTHERS)
def test_nothing_else_is_taken(path: str) -> None:
    assert not is_taken(path)


def test_the_guide_names_every_directory() -> None:
    for folder in hooks.FOLDERS:
        assert is_taken(f"{folder}/X.json")
        assert is_taken(f"some/where/{folder}/X.json")
        assert f"| `{folder}/` |" in PAGE


class PreCommit:
    """pre-commit in a repository; what it installs is kept for the others that have the same `home`."""

    def __init__(self, where: Path, home: Path) -> None:
        self.where = where
        self.home = home

    def __call__(self, *words: str) -> tuple[int, str]:
        """Run it; its exit code and what it prints, without what it says of installing."""
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", *words],
            cwd=self.where,
            env=packages.environment(
                PRE_COMMIT_HOME=str(self.home), PRE_COMMIT_COLOR="never", COLUMNS="80", NO_COLOR="1"
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        lines = done.stdout.decode().splitlines(keepends=True)
        return done.returncode, "".join(line for line in lines if not line.startswith("[INFO]"))


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


def configuration(clone: Path) -> dict[str, bytes]:
    """The guide's configuration, with the clone for the place of kiplint."""
    (text,) = re.findall(r'^```yaml title="\.pre-commit-config\.yaml"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    text = text.replace("https://github.com/OWNER/kiplint", str(clone)).replace(
        "v0.1.0", git(clone, "rev-parse", "HEAD")
    )
    return {".pre-commit-config.yaml": text.encode()}


MISTAKE = '    { "name": "Mistake", "type": "int31", "versions": "0+", "about": "Not a type." },\n'
BREAK = '    { "name": "Mistake", "type": "int32", "versions": "0+", "about": "Not there in the release." },\n'


def spoil(kafka: Path, line: str) -> str:
    """Stage a schema with a line more, before its first field; what kiplint says of the type in it."""
    path = f"{PLACES['storage']}/ProducerSnapshot.json"
    lines = git(kafka, "show", f"HEAD:{path}").splitlines(keepends=True)
    number = next(number for number, text in enumerate(lines, 1) if '"fields"' in text) + 1
    write(kafka, {path: "".join([*lines[: number - 1], line, *lines[number - 1 :]]).encode()})
    git(kafka, "add", "-A")
    margin = " " * len(str(number))
    return (
        'error[fields/unknown-type]: "int31" is not a type; did you mean int32?\n'
        f"{margin}--> {path}:{number}:26\n{margin} |\n{number} | {line}{margin} | {' ' * 25}{'^' * 15}\n"
        f"{margin} = Kafka's generator\n\n"
        "Found 1 error in 1 file. `kiplint explain RULE` tells why a rule is there.\n"
    )


def result(hook: str, ending: str) -> str:
    """The line that pre-commit prints of a hook."""
    return hook + ending.rjust(79 - len(hook), ".") + "\n"


FAILED = f"{result('kiplint check', 'Failed')}- hook id: kiplint-check\n- exit code: 1\n\n"


def test_try_repo(clone: Path, home: Path, kafka: Path) -> None:
    """Kafka's schemas pass; with one mistake staged that is found, and nothing else."""
    pre_commit = PreCommit(kafka, home)
    words = ("try-repo", str(clone), "kiplint-check", "--all-files")
    code, said = pre_commit(*words)
    assert said.rpartition("=\n")[2] == result("kiplint check", "Passed")
    assert code == 0
    finding = spoil(kafka, MISTAKE)
    code, said = pre_commit(*words)
    every = len(git(kafka, "ls-files", "*/resources/*.json").splitlines())
    assert said.rpartition("=\n")[2] == f"{FAILED}{finding}\n".replace("in 1 file", f"in {every} files")
    assert code == 1


def test_commits(clone: Path, home: Path, kafka: Path) -> None:
    """Both hooks, as the guide configures them, on what is staged."""
    pre_commit = PreCommit(kafka, home)
    write(kafka, configuration(clone))
    git(kafka, "add", "-A")
    nothing = result("kiplint check", "(no files to check)Skipped") + result("kiplint diff", "Passed")
    assert pre_commit("run") == (0, nothing)
    finding = spoil(kafka, MISTAKE)
    assert pre_commit("run", "kiplint-check") == (1, f"{FAILED}{finding}\n")
    spoil(kafka, BREAK)
    code, said = pre_commit("run")
    assert said.startswith(result("kiplint check", "Passed") + result("kiplint diff", "Failed"))
    assert re.findall(r"^error\[(.+?)\]", said, re.MULTILINE) == ["compat/layout-changed"]
    assert code == 1


def test_a_deleted_record_is_found(clone: Path, home: Path, kafka: Path) -> None:
    write(kafka, configuration(clone))
    git(kafka, "rm", "-q", PLACES["metadata"] + "/TopicRecord.json")
    git(kafka, "add", "-A")
    code, said = PreCommit(kafka, home)("run")
    assert re.findall(r"^error\[(.+?)\]: (.*)", said, re.MULTILINE) == [
        ("compat/message-removed", "TopicRecord is gone")
    ]
    assert code == 1


def test_the_guide_shows_what_is_printed(clone: Path, home: Path, tmp_path: Path) -> None:
    where = make_repository(tmp_path / "here", configuration(clone))
    ((path, text),) = re.findall(r'^```json title="(.+?)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
    write(where, {path: text.encode()})
    git(where, "add", "-A")
    ((command, output),) = re.findall(r"^```console\n\$ (kiplint .*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (head,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert command == f"{MANIFEST['kiplint-check']['entry']} {path}"
    assert PreCommit(where, home)("run", "kiplint-check") == (1, f"{head}\n{output}\n")
