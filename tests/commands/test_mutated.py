"""Mutated definitions through every command: exit code 0, 1 or 2, and never a traceback.

`KIPLINT_MUTATIONS=2000` tries as many of them.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from conftest import ROOT
from fixes.mutations import mutate, mutate_value
from kiplint.engine import ruleset
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import CompiledRule
from kiplint.text.decode import blank_comments
from sources.support import make_repository, write
from tools import kiplint
from verdicts import cases

MUTATIONS: Final = int(os.environ.get("KIPLINT_MUTATIONS", "12"))
PARTS: Final = 4
SETS: Final = 12
"""How many mutations are sets of one tree."""

Files = Mapping[str, bytes]

OF_A_SET: Final = (
    "check head/SET/FILE --output-format sarif",
    "rollout base/SET head/SET",
    "migrate bump RPC --set head/SET --dry-run",
    "negotiate base/SET head/SET",
    "negotiate head/SET base/SET --output-format json",
    "decode SET.jsonl --input-format jsonl --set head/SET",
    "kip SET.md --base base/SET",
)
OF_ALL_SETS: Final = (
    "check head",
    "diff base head",
    "diff head base --output-format markdown",
    "rollout head",
    "migrate kip-1313 head --dry-run",
    "review head --base 1.0.0 --output-format markdown",
    "review head --base 1.0.0 --fix",
    "check head --fix --unsafe-fixes",
)
"""The command lines, in a repository that has sets below `base` and `head`; those that write come last."""


@cache
def groups() -> Mapping[str, Files]:
    """The definitions of each RPC or other message of the fixtures, with what the exchange of a connection needs."""
    texts = {file.name: file.read_bytes() for file in sorted((ROOT / "fixtures/sets/broker").glob("*/*.json"))}
    return {name: group_of(name, texts) for name in texts}


def group_of(name: str, texts: Files) -> Files:
    """The file of that name, the other message of its RPC, the headers and ApiVersions."""
    stem = re.sub(r"(Request|Response|Key|Value)\.json$", "", name)
    wanted = re.compile(rf"{stem}(Request|Response|Key|Value)?\.json|(ApiVersions)?(Request|Response)(Header)?\.json")
    return {file: data for file, data in texts.items() if file == name or wanted.fullmatch(file)}


@cache
def verdict_cases(corpus: Path) -> list[tuple[str, Files, Files]]:
    """The mutations whose verdict by Kafka's generator is known: the file's name, and the files before and after."""
    trunk = {file.name: file.read_bytes() for file in sorted((corpus / "kafka-trunk-2026-08/clients").glob("*.json"))}
    found: list[tuple[str, Files, Files]] = []
    for kind in ("single", "header"):
        for case in cases(corpus.parent / "verdicts", corpus, kind):
            path = case.row["base"]
            name = Path(path).name
            original = {name: (corpus / "kafka-trunk-2026-08" / path).read_bytes()}
            group = {**group_of(name, trunk), **original}
            found.append((name, group, {**group, name: case.files[path]}))
    return found


def mutation(number: int, chance: random.Random, corpus: Path | None) -> tuple[str, Files, Files]:
    """The name of a file, and a set before and after its mutation: slips in a text, other values, or both."""
    if corpus and number % 3 == 0:
        name, group, after = chance.choice(verdict_cases(corpus))
    else:
        name = chance.choice(sorted(groups()))
        group = after = groups()[name]
    if number % 3 != 0 or not corpus or chance.random() < 0.5:
        after = {**after, name: mutate_file(after[name], chance)}
    if chance.random() < 0.2:
        group = {**group, name: mutate_file(group[name], chance)}
    return name, group, after


def mutate_file(data: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return mutate(data.decode(), chance).encode()
    try:
        document: Any = json.loads(blank_comments(data))
    except ValueError:  # it was mutated before
        return data
    return json.dumps(mutate_value(document, chance), indent=2, ensure_ascii=chance.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def byte_lines(name: str, chance: random.Random) -> bytes:
    """Bodies and frames of any bytes, in each of the first versions of a message."""
    lines: list[dict[str, Any]] = []
    for version in range(6):
        for size in (0, chance.randrange(40)):
            data = chance.randbytes(size) if chance.random() < 0.5 else bytes(size)
            lines.append({"message": name.removesuffix(".json"), "version": version, "hex": data.hex()})
            key = chance.randrange(80)
            lines.append({"direction": "response", "api_key": key, "api_version": version, "hex": data.hex()})
    return b"\n".join(json.dumps(line).encode() for line in lines)


def failures(numbers: Sequence[int], corpus: Path | None, folder: Path, codes: Counter[tuple[str, int]]) -> list[str]:
    """The command lines that end in a traceback or another exit code, with the numbers of the mutations.

    What fails for several sets together is tried with each of them alone. `codes` counts commands and exit codes.
    """
    place = folder / "-".join(map(str, numbers))
    head: dict[str, bytes] = {}
    lines: list[str] = []
    for number in numbers:
        chance = random.Random(f"command {number}")
        name, before, after = mutation(number, chance, corpus)
        write(place / f"base/{number}", before)
        write(place / f"head/{number}", before)
        head |= {f"head/{number}/{file}": data for file, data in after.items()}
        (place / f"{number}.jsonl").write_bytes(byte_lines(name, chance))
        (place / f"{number}.md").write_bytes(b"```json\n" + after[name] + b"\n```\n")
        rpc = re.sub(r"(Request|Response)?\.json$", "", name)
        lines += (line.replace("SET", str(number)).replace("FILE", name).replace("RPC", rpc) for line in OF_A_SET)
    make_repository(place, {})
    write(place, head)
    result: list[str] = []
    for line in (*lines, *OF_ALL_SETS):
        try:
            code = kiplint(*line.split(), cwd=place).code
        except Exception as error:  # of any kind: it would be a traceback
            result.append(f"{numbers}: kiplint {line}: {error!r}")
            continue
        codes[line.split()[0], code] += 1
        if code not in (0, 1, 2):
            result.append(f"{numbers}: kiplint {line}: exit code {code}")
    if result and len(numbers) > 1:
        return [failure for number in numbers for failure in failures([number], corpus, folder, codes)]
    shutil.rmtree(place)
    return result


@pytest.mark.parametrize("part", range(PARTS))
def test_a_mutated_definition_ends_in_no_traceback(
    part: int, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules are compiled once, which takes half of the time else."""
    compiled: dict[str, CompiledRule] = {}

    def compile_once(rule: Rule) -> CompiledRule:
        if (key := repr(rule)) not in compiled:
            compiled[key] = CompiledRule(rule)
        return compiled[key]

    monkeypatch.setattr(ruleset, "CompiledRule", compile_once)
    try:
        corpus: Path | None = request.getfixturevalue("corpus")
    except pytest.skip.Exception:
        corpus = None
    codes: Counter[tuple[str, int]] = Counter()
    found: list[str] = []
    own_numbers = [*range(part, MUTATIONS, PARTS)]
    for first in range(0, len(own_numbers), SETS):
        found += failures(own_numbers[first : first + SETS], corpus, tmp_path, codes)
    print(sorted(codes.items()))
    assert not found, "\n".join(found)
