"""What a scenario hands back: rows of the results, or the reason why there are none."""

from dataclasses import dataclass

from benchmarks.timing import Comparison, Run, least_cpu, median_cpu, median_peak, median_wall


class SkipError(Exception):
    """A measure that cannot be taken here, with a one-line reason."""


@dataclass(frozen=True)
class Row:
    """One measure: what was run, our figure, the figure beside it, their ratio, and the bound on it."""

    measure: str
    ours: str
    peer: str
    ratio: str
    target: str = "-"
    is_met: bool | None = None


@dataclass(frozen=True)
class Cost:
    """What one command took besides time: CPU time in seconds and peak memory in MiB, medians."""

    command: str
    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True)
class Scale:
    """One step of the scaling run; times in seconds, memory in MiB, medians."""

    series: str
    files: int
    wall: float
    above: float
    peak: float

    @property
    def rate(self) -> float:
        """Files per second of the time above start-up."""
        return self.files / self.above


Outcome = Row | Cost | Scale


def pair_row(measure: str, comparison: Comparison, at_most: float | None) -> Row:
    """The row of a comparison by CPU time, whose ratio is to stay at or below a bound."""
    ours, peer = least_cpu(comparison.ours), least_cpu(comparison.theirs)
    return ratio_row(measure, milliseconds(ours), milliseconds(peer), comparison.ratio, at_most)


def ratio_row(measure: str, ours: str, peer: str, ratio: float, at_most: float | None) -> Row:
    """The row of any two figures and their ratio."""
    if at_most is None:
        return Row(measure, ours, peer, f"{ratio:.2f}")
    return Row(measure, ours, peer, f"{ratio:.2f}", f"<= {at_most:g}", ratio <= at_most)


def cost_of(command: str, runs: list[Run]) -> Cost:
    """The medians of one command's runs."""
    return Cost(command, median_wall(runs), median_cpu(runs), median_peak(runs))


def milliseconds(seconds: float) -> str:
    """A time as people compare it: `84 ms`."""
    return f"{seconds * 1000:,.0f} ms"
