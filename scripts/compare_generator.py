"""Compare kiplint's verdicts with those of Kafka's own message generator, on Kafka's schema sets and on mutations.

`python scripts/compare_generator.py KAFKA JARS` compiles the generator of a checkout of Kafka, with the JDK that is
installed and the jars below the directory JARS: jackson-databind, jackson-datatype-jdk8, what these need, and
argparse4j. Then each set is read as it is, and definitions with one random mutation, each alone.

It is a disagreement when the generator refuses what has no error in kiplint, or accepts what has one of a rule that is
not in `STRICTER`. The exit code is 1 if there is one. The same seed gives the same mutations. `--page FILE` writes the
result as a page: both verdicts in a table of four, and each disagreement with its reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from make_corpus import SETS, TESTS

import kiplint.compat.change  # noqa: F401 - so that rules about changes are known
from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.decode import blank_comments

HARNESS = Path(__file__).with_name("Verdicts.java")
SOURCES = "generator/src/main/java"
COORDINATOR = ("CoordinatorRecordTypeGenerator", "CoordinatorRecordJsonConvertersGenerator")
TYPES = {
    "clients": ("ApiMessageTypeGenerator",),
    "metadata": ("MetadataRecordTypeGenerator", "MetadataJsonConvertersGenerator"),
    **dict.fromkeys(("group-coordinator", "share-coordinator", "transaction-coordinator"), COORDINATOR),
}
"""The generators that Kafka's build gives a set beside those of messages."""

STRICTER = {
    "The Java that the generator writes does not compile": (
        "fields/default-not-java", "fields/duplicate-name", "fields/reserved-name", "rpc/message-name-invalid",
        "structs/java-name", "structs/named-like-message", "style/about-not-java",
    ),
    "The generator ignores what is written, or reads it as something else": (
        "fields/array-of-bytes", "fields/children-on-primitive", "fields/default-unsupported", "fields/unknown-type",
        "shape/unknown-enum-value", "structs/inline-in-common", "structs/redefined-common", "structs/undefined",
        "syntax/duplicate-key", "tags/above-valid", "versions/deprecated-invalid", "versions/field-above-valid",
        "versions/flexible-not-open", "versions/flexible-override-outside", "versions/invalid-range",
        "versions/never-present", "versions/nullable-outside-versions",
    ),
    "The generator looks at it only where it has the whole set, or not at all": (
        "rpc/api-key-missing", "rpc/api-key-negative", "rpc/name-suffix", "rpc/protected-name",
    ),
    "A KIP says so, and not the generator": ("kip-*/*",),
}  # fmt: skip
"""Why kiplint has errors where the generator has none: by reason, the rules."""

RANGES = ("0+", "1+", "2+", "0-1", "1-2", "0", "3", "2-1", "none", "-1", "1-", "+1", "x", "", "32768", "99+")
VALUES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("versions", "validVersions", "flexibleVersions", "taggedVersions", "nullableVersions"), RANGES),
    "deprecatedVersions": RANGES,
    "name": ("", "Name", "lower", "Name!", "9Lives", "Throttle Time", "ErrorCode"),
    "type": ("bool", "int8", "uint16", "int32", "int64", "float64", "string", "uuid", "bytes", "records", "[]int32",
             "[]string", "[]", "[][]int8", "strng", "Int32", "Missing", "[]Missing", "request", "data"),
    "tag": (0, 1, 2, -1, "0", "x", 1.5),
    "default": ("", "null", None, "0", "-1", "300", "70000", "true", "0x7f", "1.5", "x", 7, True),
    "entityType": ("topicName", "brokerId", "producerId", "unknown", "other"),
    **dict.fromkeys(("mapKey", "ignorable", "zeroCopy", "latestVersionUnstable"), (True, False, "true", 1, "x")),
    "apiKey": (0, 17, 18, 900, -1, "x", None),
    "listeners": (["broker"], ["controller", "broker"], ["zkBroker"], [], "broker"),
    "about": ("", "What it is.", 7),
    "surplus": ("x", 1, None),
}  # fmt: skip
"""By property: values that a mutation may write; one more is what the property is elsewhere in Kafka."""


class Mutation(NamedTuple):
    """A definition with one change: the file, what was changed, and its text."""

    path: str
    change: str
    text: str


class Verdict(NamedTuple):
    """What the two say: why the generator refuses, or None; and kiplint's rules with errors."""

    about: str
    refusal: str | None
    errors: tuple[str, ...]

    @property
    def is_missed(self) -> bool:
        """Whether only the generator refuses it."""
        return self.refusal is not None and not self.errors

    @property
    def disagreement(self) -> str:
        """What only one of the two refuses, and why; empty if they agree, or kiplint is stricter for a known reason."""
        if self.is_missed:
            return f"refused only by the generator: {self.refusal}"
        return f"refused only by kiplint: {', '.join(self.surplus)}" if self.surplus else ""

    @property
    def surplus(self) -> list[str]:
        """The rules with errors that the generator does not have, and that it is not expected to have."""
        stricter_patterns = [pattern for patterns in STRICTER.values() for pattern in patterns]
        errors = self.errors if self.refusal is None else ()
        return [rule for rule in errors if not any(fnmatchcase(rule, pattern) for pattern in stricter_patterns)]


def main() -> int:
    """Print the disagreements and a summary; 1 if there is a disagreement, 2 if nothing could be compared."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kafka", type=Path, help="a checkout of Kafka")
    parser.add_argument("jars", type=Path, help="a directory with the jars that the generator needs")
    parser.add_argument("--mutations", type=int, default=2_000, help="how many (2000)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--page", type=Path, help="a file of Markdown to write")
    options = parser.parse_args()
    sets = read_sets(options.kafka)
    if not sets:
        print(f"error: {options.kafka} has no definitions; name a checkout of Kafka", file=sys.stderr)
        return 2
    mutations = list(mutate(sets, options.mutations, random.Random(options.seed)))
    with tempfile.TemporaryDirectory() as folder:
        try:
            verdicts = compare(sets, mutations, Generator(options.kafka, options.jars, Path(folder)))
        except subprocess.CalledProcessError as error:
            print(f"error: {error.cmd[0]} exited with {error.returncode}: {error.stderr}", file=sys.stderr)
            return 2
    disagreements = [verdict for verdict in verdicts if verdict.disagreement]
    for verdict in disagreements:
        print(f"{verdict.about}: {verdict.disagreement}")
    stricter = Counter(rule for verdict in verdicts if verdict.refusal is None for rule in verdict.errors)
    print(f"Errors where the generator has none: {', '.join(f'{rule} {n}' for rule, n in sorted(stricter.items()))}")
    print(
        f"{len(sets)} sets and {len(mutations)} mutations, seed {options.seed}: the generator refuses "
        f"{sum(verdict.refusal is not None for verdict in verdicts)}, kiplint {sum(bool(v.errors) for v in verdicts)}; "
        f"{len(disagreements)} disagreements"
    )
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        title = f"{len(sets)} sets and {len(mutations)} mutations, seed {options.seed}"
        options.page.write_text(page(title, verdicts), encoding="utf-8")
    return 1 if disagreements else 0


def page(title: str, verdicts: list[Verdict]) -> str:
    """The verdicts as Markdown: how often the two agree, each disagreement, and where kiplint is stricter, and why."""
    counts = Counter((verdict.refusal is not None, bool(verdict.errors)) for verdict in verdicts)
    disagreements = [verdict for verdict in verdicts if verdict.disagreement]
    stricter = Counter(rule for verdict in verdicts if verdict.refusal is None for rule in verdict.errors)
    lines = [
        f"# Agreement with Kafka's generator: {title}",
        "",
        "| | kiplint has no error | kiplint has an error |",
        "|---|---|---|",
        f"| the generator accepts | {counts[False, False]} | {counts[False, True]} |",
        f"| the generator refuses | {counts[True, False]} | {counts[True, True]} |",
        "",
        f"{len(disagreements)} disagreements.",
        *(f"- `{verdict.about}`: {verdict.disagreement}" for verdict in disagreements),
    ]
    for reason, patterns in STRICTER.items():
        rules = [rule for rule in sorted(stricter) if any(fnmatchcase(rule, pattern) for pattern in patterns)]
        if rules:
            lines += ["", f"{reason}: {', '.join(f'{rule} ({stricter[rule]})' for rule in rules)}."]
    return "\n".join(lines) + "\n"


def read_sets(kafka: Path) -> dict[str, dict[str, bytes]]:
    """The definitions of a checkout by set and file name."""
    places = {**SETS, "clients-test": TESTS}
    sets = {
        name: {file.name: file.read_bytes() for file in sorted((kafka / place).glob("*.json"))}
        for name, place in places.items()
    }
    return {name: files for name, files in sets.items() if files}


def compare(sets: dict[str, dict[str, bytes]], mutations: list[Mutation], generator: Generator) -> list[Verdict]:
    """The verdicts on each set as it is, then on each mutation."""
    config = Config()
    rules = make_ruleset(config, load_rules(config, ""))

    def errors(files: dict[str, bytes], directory: str = "", *, single_file: bool) -> tuple[str, ...]:
        inputs = [SchemaFile(path, data) for path, data in sorted(files.items())]
        result = check_set(inputs, rules, single_file=single_file, directory=directory)
        return tuple(sorted({finding.rule for finding in result.findings if finding.severity == "error"}))

    cases = [(files, TYPES.get(name, ())) for name, files in sets.items()]
    cases += [({Path(mutation.path).name: mutation.text.encode()}, ()) for mutation in mutations]
    own = [errors(files, name, single_file=False) for name, files in sets.items()]
    own += [errors({mutation.path: mutation.text.encode()}, single_file=True) for mutation in mutations]
    about = [*sets, *(f"{mutation.path}: {mutation.change}" for mutation in mutations)]
    return [Verdict(*parts) for parts in zip(about, generator.refusals(cases), own, strict=True)]


class Generator:
    """Kafka's generator, compiled into a directory."""

    def __init__(self, kafka: Path, jars: Path, directory: Path) -> None:
        self.directory = directory
        self.classpath = os.pathsep.join([str(directory / "classes"), *map(str, sorted(jars.rglob("*.jar")))])
        sources = ["-sourcepath", str(kafka / SOURCES), str(HARNESS)]
        self._run("javac", "-nowarn", "-proc:none", "-d", str(directory / "classes"), "-cp", self.classpath, *sources)

    def refusals(self, cases: Iterable[tuple[dict[str, bytes], Iterable[str]]]) -> list[str | None]:
        """Why it refuses each directory of files, given the generators of types; None where it accepts."""
        lines = []
        for number, (files, types) in enumerate(cases):
            folder = self.directory / "definitions" / str(number)
            folder.mkdir(parents=True)
            for name, data in files.items():
                (folder / name).write_bytes(data)
            lines.append("\t".join([str(folder), *types]))
        words = ["java", "-Xss512k", "-cp", self.classpath, "Verdicts", str(self.directory / "generated")]
        output = self._run(*words, text="\n".join(lines))
        return [None if line == "accept" else line.partition("\t")[2] for line in output.splitlines()]

    @staticmethod
    def _run(*words: str, text: str = "") -> str:
        return subprocess.run(words, check=True, capture_output=True, text=True, input=text, encoding="utf-8").stdout


def mutate(sets: dict[str, dict[str, bytes]], count: int, rng: random.Random) -> Iterator[Mutation]:
    """So many definitions with one random mutation each."""
    texts = {f"{name}/{file}": blank_comments(data) for name, files in sets.items() for file, data in files.items()}
    documents = {path: json.loads(text) for path, text in texts.items()}
    elsewhere: dict[str, list[Any]] = {}
    for document in documents.values():
        for element in _elements(document):
            for key, value in element.items():
                elsewhere.setdefault(key, []).append(value)
    while count:
        path = rng.choice(list(documents))
        document = json.loads(texts[path])
        element = rng.choice(list(_elements(document)))
        name = element.get("name", "")
        change = rng.choice(CHANGES)(element, elsewhere, rng)
        if document != documents[path]:
            count -= 1
            yield Mutation(path, f"{name}: {change}", json.dumps(document, indent=2))


def _elements(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message, its fields and its structs."""
    yield document
    for item in (*(document.get("fields") or ()), *(document.get("commonStructs") or ())):
        yield from _elements(item)


Change = Callable[[dict[str, Any], dict[str, list[Any]], random.Random], str]
"""Changes an element, given the values of each property elsewhere, and says what it did."""


def _write(element: dict[str, Any], elsewhere: dict[str, list[Any]], rng: random.Random) -> str:
    """Write a property that the element has, or as often any."""
    key = rng.choice(list(rng.choice([element, VALUES])))
    element[key] = rng.choice([*VALUES.get(key, ("x",)), *rng.sample(elsewhere.get(key, [None]), 1)])
    return f"{key} = {json.dumps(element[key])[:60]}"


def _drop(element: dict[str, Any], _: dict[str, list[Any]], rng: random.Random) -> str:
    key = rng.choice(list(element))
    del element[key]
    return f"without {key}"


def _repeat(element: dict[str, Any], elsewhere: dict[str, list[Any]], rng: random.Random) -> str:
    fields = element.get("fields") or []
    foreign = rng.choice(rng.choice(elsewhere["fields"]) or [{}])
    item = rng.choice([*fields, foreign])
    element["fields"] = [*fields, item]
    return f"one more field {item.get('name')}"


CHANGES: tuple[Change, ...] = (_write, _write, _write, _drop, _repeat)


if __name__ == "__main__":
    sys.exit(main())
