"""The engine in this process, on one core: how fast it is by itself, and what executors add around it."""

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from benchmarks.pipeline.variation import Template, Variation, variations
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.engine.scopes import check_both
from kiplint.pipeline.columns import batch
from kiplint.pipeline.engine import Engine
from kiplint.pipeline.stages.lint import sets_in_arrow
from kiplint.pipeline.texts import ROWS, sets_in

A_BATCH = 1000


@dataclass
class Sample:
    """Some definitions of the corpus in sets, and what passes over them took: wall and CPU seconds by pass.

    `meanwhile` has definitions and CPU seconds of small passes beside other work.
    """

    rules: RuleSet
    variations: Sequence[Variation]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    meanwhile: list[tuple[int, float]] = field(default_factory=list)

    @classmethod
    def of(cls, rules: RuleSet, templates: Sequence[Template], definitions: int) -> "Sample":
        """The first definitions of any generated corpus."""
        return cls(rules, list(itertools.islice(variations(templates), max(1, definitions // len(templates)))))

    @property
    def sets(self) -> Iterator[Sequence[tuple[str, bytes]]]:
        return (files for one in self.variations for files in one.sets.values())

    @property
    def definitions(self) -> int:
        return sum(map(len, self.sets))

    def take(self, passes: int) -> None:
        """Check all of it so often, as `kiplint check` would, set by set."""
        for _ in range(passes):
            wall, cpu = _timed(lambda: self._check(self.sets))
            self.wall.append(wall)
            self.cpu.append(cpu)

    def take_a_little(self) -> None:
        """Check a few hundred definitions, while something else runs: other ones each time."""
        one = self.variations[len(self.meanwhile) % len(self.variations)]
        _, cpu = _timed(lambda: self._check(one.sets.values()))
        self.meanwhile.append((sum(map(len, one.sets.values())), cpu))

    @property
    def rate(self) -> float:
        """Definitions a second, by the clock."""
        return self.definitions / statistics.median(self.wall)

    @property
    def cpu_rate(self) -> float:
        """Definitions for each second of CPU time."""
        return self.definitions / statistics.median(self.cpu)

    @property
    def meanwhile_rate(self) -> float:
        """The same for what was taken while something else ran; as before and after where that was too short."""
        taken = sum(cpu for _, cpu in self.meanwhile)
        return sum(count for count, _ in self.meanwhile) / taken if taken else self.cpu_rate

    def worker(self) -> dict[str, float]:
        """CPU seconds for each definition in what a worker does with it: reading rows, engine, rows of findings."""
        engine = Engine.of(self.rules)
        batches = list(self._batches())
        lint = sets_in_arrow(engine)
        names = ("read", "engine", "all")
        works: tuple[Callable[[], object], ...] = (
            lambda: [None for _ in sets_in(batches)],
            lambda: [check_both(files, {name for name, _ in files}, engine.rules) for files in self.sets],
            lambda: list(lint(iter(batches))),
        )
        found = {name: [_timed(work)[1] for _ in range(3)] for name, work in zip(names, works, strict=True)}
        each = {name: statistics.median(times) / self.definitions for name, times in found.items()}
        return {**each, "write": max(0.0, each["all"] - each["read"] - each["engine"])}

    def _check(self, sets: Iterable[Sequence[tuple[str, bytes]]]) -> None:
        for files in sets:
            check_set([Input(name, data) for name, data in files], self.rules)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        rows: list[tuple[object, ...]] = []
        for number, files in enumerate(self.sets):
            tree = f"{number:064}"
            rows += [(number // 3, f"{at:040}", data, [tree], [name], [True]) for at, (name, data) in enumerate(files)]
        for at in range(0, len(rows), A_BATCH):
            yield batch(ROWS, rows[at : at + A_BATCH])


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds, without the collector, as `kiplint check` and the workers run."""
    gc.collect()
    gc.disable()
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - wall, time.process_time() - cpu
    finally:
        gc.enable()
