"""What every scenario needs: the command under test, the files, and how often to run."""

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks import evolution, protos, schemas
from benchmarks.timing import Command, CommandError, output
from benchmarks.workspace import Corpus, empty_scratch

FINDINGS_OR_NONE = frozenset({0, 1})


@dataclass(frozen=True)
class Plan:
    """How often to run: pairs of commands, and rounds of the scaling run by its factor."""

    pairs: int
    scaling: dict[int, int]


FULL = Plan(pairs=21, scaling={1: 15, 10: 7, 100: 3})
QUICK = Plan(pairs=5, scaling={1: 5, 10: 3})


@dataclass(frozen=True)
class Lab:
    """One run of the benchmarks."""

    corpus: Corpus
    plan: Plan

    def kiplint(self, *arguments: str | Path, cwd: Path | None = None) -> Command:
        """The command under test: `kiplint` beside the running Python; findings are not failure."""
        executable = Path(sys.executable).with_name("kiplint")
        return Command((executable, *arguments), cwd or self.corpus.clients.parent, FINDINGS_OR_NONE)

    @cached_property
    def schemas(self) -> list[schemas.Schema]:
        """The definition files that everything is measured on."""
        return schemas.read_set(self.corpus.clients)

    @cached_property
    def size(self) -> protos.Size:
        """How much there is in those files."""
        return protos.size_of(self.schemas)

    @cached_property
    def versions(self) -> tuple[Path, Path]:
        """An older and a newer version of the files, written below `.bench/`."""
        older, newer = empty_scratch("diff", "older"), empty_scratch("diff", "newer")
        evolution.write_pair(self.schemas, older, newer)
        return older, newer

    def findings(self, directory: Path) -> list[dict[str, Any]]:
        """What `kiplint check` finds; raises CommandError when it did not look at every file there."""
        command = self.kiplint("check", directory.name, "--output-format", "json", cwd=directory.parent)
        report = json.loads(output(command))
        there, count = len(list(directory.glob("*.json"))), report["summary"]["files"]
        if count != there:
            raise CommandError(f"`{command}` looked at {count} of {there} files")
        return list(report["findings"])
