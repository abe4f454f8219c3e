"""The comparison with Kafka's generator, with stand-ins for it: classes of its name that are compiled and run like it.

Kafka's own sources are not there for tests; the nightly workflow compiles them.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint.text.decode import blank_comments

sys.path.insert(0, str(ROOT / "scripts"))

import compare_generator

pytestmark = pytest.mark.skipif(not shutil.which("javac"), reason="needs a JDK")

STAND_IN = """\
package org.apache.kafka.message;
import java.nio.file.*;
import java.util.List;
public final class MessageGenerator {
    public static void processDirectories(
            String name, String output, String input, List<String> types, List<String> classes) throws Exception {
        System.out.println("not a verdict");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(input), "*.json")) {
            for (Path file : files) {
                String text = Files.readString(file);
                if (%s) throw new RuntimeException("outside", new IllegalStateException("inside\\nbelow"));
            }
        }
    }
}
"""


@pytest.fixture
def kafka(tmp_path: Path) -> Path:
    """A checkout with definitions, and with the place of the generator."""
    checkout = tmp_path / "kafka"
    shutil.copytree(ROOT / "fixtures/sets/broker/clients", checkout / "clients/src/main/resources/common/message")
    (checkout / "generator/src/main/java/org/apache/kafka/message").mkdir(parents=True)
    return checkout


Compare = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Compare:
    """A function that runs the script: its exit code and its lines."""

    def call(*words: str | Path) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", ["compare_generator.py", *map(str, words)])
        return compare_generator.main(), "".join(capsys.readouterr()).splitlines()

    return call


@pytest.fixture
def compare(kafka: Path, run: Compare) -> Compare:
    """The same, with a generator that refuses the text of a file under a condition of Java."""
    source = kafka / "generator/src/main/java/org/apache/kafka/message/MessageGenerator.java"

    def call(refuses: str, *words: str) -> tuple[int, list[str]]:
        source.write_text(STAND_IN % refuses, "utf-8")
        return run(kafka, kafka, *words)

    return call


def test_what_only_the_generator_refuses_is_listed(compare: Compare) -> None:
    code, lines = compare("true", "--mutations", "60")
    refusals = [
        line
        for line in lines
        if line.endswith(": refused only by the generator: java.lang.IllegalStateException: inside")
    ]
    assert code == 1
    assert refusals[0].startswith("clients: ")
    assert re.fullmatch(r"clients/\w+\.json: \w*: .+", refusals[1].partition(": refused")[0])
    assert lines[-2] == "Errors where the generator has none: "
    summary = re.fullmatch(
        r"1 sets and 60 mutations, seed 1: the generator refuses 61, kiplint (\d+); (\d+) disagreements", lines[-1]
    )
    assert summary
    assert int(summary[1]) + int(summary[2]) == 61
    assert len(refusals) == int(summary[2])


def test_what_only_kiplint_refuses_is_listed_unless_it_is_meant_to_be_stricter(compare: Compare) -> None:
    code, lines = compare("false", "--mutations", "150")
    assert code == 1
    rules = {rule for line in lines[:-2] for rule in line.partition("refused only by kiplint: ")[2].split(", ")}
    stricter = {rule.split()[0] for rule in lines[-2].partition(": ")[2].split(", ")}
    assert {"shape/missing-property", "shape/unknown-property"} <= rules
    assert {"fields/unknown-type", "versions/field-above-valid"} <= stricter - rules


def test_the_page_has_both_verdicts_and_each_disagreement(compare: Compare, tmp_path: Path) -> None:
    page = tmp_path / "build" / "verdicts.md"
    code, lines = compare("false", "--mutations", "150", "--page", str(page))
    text = page.read_text("utf-8").splitlines()
    assert (code, text[0]) == (1, "# Agreement with Kafka's generator: 1 sets and 150 mutations, seed 1")
    accepted, refused = (re.findall(r"\d+", line) for line in text[4:6])
    assert (sum(map(int, accepted)), refused) == (151, ["0", "0"])
    listed = [line.removeprefix("- `").replace("`:", ":", 1) for line in text if line.startswith("- `")]
    assert listed == [line for line in lines if ": refused only by kiplint: " in line]
    assert any(line.startswith("The generator ignores what is written") for line in text)


def test_without_a_disagreement_it_succeeds(compare: Compare) -> None:
    code, lines = compare("false", "--mutations", "0")
    assert (code, lines[-1]) == (
        0,
        "1 sets and 0 mutations, seed 1: the generator refuses 0, kiplint 0; 0 disagreements",
    )


def test_a_seed_gives_the_same_mutations_each_of_which_changes_a_file(kafka: Path) -> None:
    sets = compare_generator.read_sets(kafka)
    first, again, other = (list(compare_generator.mutate(sets, 200, random.Random(seed))) for seed in (2, 2, 3))
    assert first == again
    assert first != other
    originals = [json.loads(blank_comments(data)) for data in sets["clients"].values()]
    assert [mutation for mutation in first if json.loads(mutation.text) in originals] == []


def test_a_generator_that_does_not_compile_is_reported(compare: Compare) -> None:
    code, lines = compare("nonsense", "--mutations", "1")
    assert code == 2
    assert lines[0].startswith("error: javac exited with 1: ")


def test_a_directory_without_definitions_is_refused(tmp_path: Path, run: Compare) -> None:
    assert run(tmp_path, tmp_path) == (2, [f"error: {tmp_path} has no definitions; name a checkout of Kafka"])
