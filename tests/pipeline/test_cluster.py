"""The recipe of the guide, on a standalone cluster of two workers on this machine, in directories of their own."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from benchmarks.sample import sources_of

import kiplint
from conftest import ROOT
from kiplint.pipeline.session import installed_java, packaged_java, quiet_java
from pipeline.conftest import NIGHTLY, content

pytestmark = pytest.mark.skipif(not NIGHTLY, reason="takes minutes: KIPLINT_NIGHTLY=1 runs it")

SPARK = Path(pyspark.__file__).parent
SECONDS = 180


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a master that has two workers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    env = {**os.environ, "JAVA_HOME": quiet_java(installed_java() or packaged_java()), "SPARK_LOCAL_IP": "127.0.0.1"}
    place = "org.apache.spark.deploy"
    commands = [[f"{place}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]]
    commands += 2 * [[f"{place}.worker.Worker", "--cores", "1", "--memory", "1g", "--webui-port", "0", address]]
    processes = []
    try:
        for number, command in enumerate(commands):
            directory = tmp_path_factory.mktemp(f"machine-{number}")
            start = [str(SPARK / "bin" / "spark-class"), *command]
            with (directory / "log").open("w") as log:
                processes.append(subprocess.Popen(start, cwd=directory, env=env, stdout=log, stderr=log))
            wait_for(directory / "log", "I have been elected leader" if number == 0 else "Successfully registered")
        yield address
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def wait_for(log: Path, text: str) -> None:
    end = time.monotonic() + SECONDS
    while text not in log.read_text():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.2)


def test_the_recipe_of_the_guide(master: str, history: Path, lake: Path, tmp_path: Path) -> None:
    """`spark-submit` on a cluster makes the tables that a run on this machine makes."""
    guide = (ROOT / "docs" / "guide" / "pipeline.md").read_text("utf-8")
    (recipe,) = re.findall(r"^(spark-submit [^\\\n]*(?:\\\n[^\\\n]*)*)", guide, re.MULTILINE)
    words = shlex.split(recipe.replace("\\\n", " "))
    assert words[:3] == ["spark-submit", "--master", "spark://HOST:7077"]
    assert words[-7:-4] == ["$ENV/lib/python3.13/site-packages/kiplint/__main__.py", "pipeline", "run"]
    options = words[3:-7]
    program = [str(Path(kiplint.__file__).parent / "__main__.py"), "pipeline", "run"]
    command = [
        str(SPARK / "bin" / "spark-submit"),
        "--master",
        master,
        *options,
        "--conf",
        "spark.executor.memory=512m",
    ]
    command += [*program, *sources_of(history), "--out", str(tmp_path / "lake")]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(command, check=True, cwd=tmp_path, env=env)
    assert content(tmp_path / "lake") == content(lake)
