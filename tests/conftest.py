"""What all tests share: where the real schemas lie, and how hypothesis runs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

import examples  # noqa: F401 (settings of hypothesis)

ROOT = Path(__file__).resolve().parent.parent

# Nothing that whoever runs the tests has set up for git, Spark or object stores counts, or a hook of git's has set.
for _name in list(os.environ):
    if _name.startswith(
        ("GIT_", "SPARK_", "PYSPARK_", "HADOOP_", "JDK_JAVA_", "JAVA_TOOL_", "_JAVA_", "AWS_", "CI_", "GITHUB_")
    ):
        del os.environ[_name]
os.environ |= {"GIT_CONFIG_GLOBAL": str(ROOT / "tests" / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1"}
os.environ["SPARK_CONF_DIR"] = str(ROOT / "tests" / "pipeline")

# What tests serve on loopback is not asked of a proxy.
for _name in ("no_proxy", "NO_PROXY"):
    os.environ[_name] = ",".join(filter(None, (os.environ.get(_name), "127.0.0.1", "localhost")))

SIGNALS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""The signals that end a process; Windows has no SIGHUP."""

# What a shell starts in the background ignores Ctrl-C, and under nohup the end of the session, and so would each process
# that a test interrupts. A handler that does nothing is not handed on.
for _number in SIGNALS:
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)


TOGETHER = "tests/pipeline"
"""The tests that share one Spark session, and so one process."""

LONGEST = (
    TOGETHER,
    "tests/test_growth.py",
    "tests/test_distributions.py",
    "tests/test_docs.py",
    "tests/compat/test_gate.py",
    "tests/test_action.py",
    "tests/fixes",
    "tests/cli",
)
"""What takes the longest, in this order: none of it is to begin when the other processes are about to be done."""


class _Scheduling(LoadFileScheduling):  # type: ignore[misc]
    """The tests of a file run in one process, and those of `TOGETHER` in the same one."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER if nodeid.startswith(TOGETHER) else str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling:
    """Who runs which tests, when there are several processes."""
    return _Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write the texts that tests expect as they are now")


@pytest.fixture
def assert_text(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """A function that holds a text to be that of a file, or with `--accept` writes the file."""

    def compare(file: Path, text: str) -> None:
        if request.config.option.accept:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        assert text == (file.read_bytes().decode() if file.is_file() else "")

    return compare


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that the others fill the time beside them."""
    items.sort(key=lambda item: _place(item.nodeid))


def _place(nodeid: str) -> int:
    return next((n for n, name in enumerate(LONGEST) if nodeid.startswith(name)), len(LONGEST))


def _corpus() -> Path:
    return Path(os.environ.get("KIPLINT_CORPUS") or ROOT.parent / "shared" / "corpus").resolve()


def _present(path: Path, what: str) -> Path:
    if not path.is_dir():
        pytest.skip(f"{what} not found at {path}: set KIPLINT_CORPUS to the corpus directory")
    return path


@pytest.fixture(scope="session")
def repo() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The directory of real schemas; the test is skipped without it, but fails where a variable names one."""
    if os.environ.get("KIPLINT_CORPUS") and not _corpus().is_dir():
        pytest.fail(f"KIPLINT_CORPUS is {_corpus()}, which does not exist")
    return _present(_corpus(), "the real schemas are")


@pytest.fixture(scope="session")
def verdicts() -> Path:
    """The directory of what Kafka's generator says to mutated schemas; the test is skipped without it."""
    return _present(_corpus().parent / "verdicts", "the generator's verdicts are")


@pytest.fixture(scope="session")
def shared_bytes() -> Path:
    """The directory of bytes that other software wrote; the test is skipped without it."""
    return _present(_corpus().parent / "bytes", "the real bytes are")


@pytest.fixture(scope="session")
def history(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare repository with all that Kafka's schemas ever were."""
    where = tmp_path_factory.mktemp("history") / "kafka.git"
    bundle = corpus / "kafka-schema-history.bundle"
    subprocess.run(["git", "clone", "-q", "--mirror", bundle, where], check=True, capture_output=True)
    return where
