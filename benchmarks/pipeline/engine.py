"""The engine in this process, on one core: how fast it is by itself, and what executors add around it."""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from benchmarks.pipeline.variation import Template, Variation, variations
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.engine.scopes import Scopes, check_both
from kiplint.pipeline.lake.schema import array, columns, table
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.stages.lint import lint_in_arrow
from kiplint.pipeline.workers import Use, rows_of, sorted_sets

ROUNDS = 4
A_TURN = 7
"""The variations that are checked at a time: some two thousand definitions, in about a second."""


@dataclass
class Sample:
    """Some definitions of the corpus in sets, and what turns with them took: how many, wall and CPU seconds."""

    rules: RuleSet
    variations: Sequence[Variation]
    turns: list[tuple[int, float, float]] = field(default_factory=list)

    @classmethod
    def of(cls, rules: RuleSet, templates: Sequence[Template], definitions: int) -> "Sample":
        """The first definitions of any generated corpus."""
        return cls(rules, list(itertools.islice(variations(templates), max(1, definitions // len(templates)))))

    @property
    def sets(self) -> Iterator[Sequence[tuple[str, bytes]]]:
        return (files for variation in self.variations for files in variation.sets.values())

    @property
    def definitions(self) -> int:
        return sum(map(len, self.sets))

    def take(self) -> None:
        """Check some of it, as `kiplint check` would, set by set: other ones each time.

        The first are not counted: whatever ran before has left other things in the caches of the machine.
        """
        first = len(self.turns) * A_TURN
        turn = [self.variations[(first + more) % len(self.variations)] for more in range(-1, A_TURN)]
        self._check(turn[:1])
        wall, cpu = _time(lambda: self._check(turn[1:]))
        self.turns.append((sum(len(files) for variation in turn[1:] for files in variation.sets.values()), wall, cpu))

    @property
    def rate(self) -> float:
        """Definitions a second, by the clock."""
        return sum(count for count, _, _ in self.turns) / sum(wall for _, wall, _ in self.turns)

    @property
    def cpu_rate(self) -> float:
        """Definitions for each second of CPU time."""
        return sum(count for count, _, _ in self.turns) / sum(cpu for _, _, cpu in self.turns)

    def worker(self) -> dict[str, float]:
        """CPU seconds for each definition in what a worker does with it: reading rows, engine, rows of findings."""
        engine = Engine.of(self.rules)
        lint = lint_in_arrow(engine)
        sums: Counter[str] = Counter()
        for variation in self.variations:
            sums.update(_measure(variation, lint, engine.rules))
        each = {name: seconds / self.definitions for name, seconds in sums.items()}
        return {**each, "write": max(0.0, each["all"] - each["read"] - each["engine"])}

    def _check(self, turn: Iterable[Variation]) -> None:
        for variation in turn:
            for files in variation.sets.values():
                check_set([Input(name, data) for name, data in files], self.rules)


def _measure(variation: Variation, lint: Callable[[pa.Table], pa.Table], rules: Scopes) -> dict[str, float]:
    group = _group(variation)
    works: dict[str, Callable[[], object]] = {
        "read": lambda: _sets(group),
        "engine": lambda: [check_both(files, {name for name, _ in files}, rules) for files in variation.sets.values()],
        "all": lambda: lint(group),
    }
    rounds = [{name: _time(work)[1] for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: min(times[name] for times in rounds) for name in works}


def _sets(group: pa.Table) -> object:
    return sorted_sets(
        (use["tree"], Use(use["name"], blob, data)) for blob, data, uses in rows_of(group) for use in uses
    )


def _group(variation: Variation) -> pa.Table:
    """A variation as a task gets it: a row for each text, with its uses."""
    rows = [
        (f"{at:040}", data, [{"tree": f"{number:064}", "name": name, "fresh": True}])
        for number, files in enumerate(variation.sets.values())
        for at, (name, data) in enumerate(files)
    ]
    return table({**columns("blob, data binary"), "uses": array(columns("tree, name, fresh boolean"))}, rows)


def _time(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu
