"""`python -m benchmarks.fuzz.bytes`: decode damaged bytes of every message and version.

No traceback, no hang, little memory.

Each reading is bounded by an alarm, and the memory that readings take is what the process grew by.
"""

import argparse
import random
import resource
import signal
import sys
import time

from benchmarks.fuzz.damage import damage
from benchmarks.workspace import find_corpus
from kiplint.codec.catalog import Catalog, Definitions
from kiplint.codec.codec import Codec
from kiplint.codec.values import rich
from kiplint.model.layout import intervals
from kiplint.sources.open import open_sets

SECONDS = 2
MOST_MEMORY = 64 * 2**20


def main() -> int:
    """Fuzz, print how it went, and give 1 where a reading raised, hung or grew too large."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz.bytes", description=__doc__)
    parser.add_argument("--decodes", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    seeds = [(codec, codec.encode(rich(codec.body))[0]) for codec in _codecs()]
    for codec, data in seeds:
        codec.decode(data)
    before, start = _memory(), time.perf_counter()
    signal.signal(signal.SIGALRM, _hung)
    counts = {True: 0, False: 0}
    for number in range(options.decodes):
        codec, data = seeds[number % len(seeds)]
        damaged_data = damage(data, rng)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        result = codec.decode(damaged_data)
        counts[not result.problems] += 1
        if result.problems and not all(0 <= item.offset <= len(damaged_data) for item in result.problems):
            raise AssertionError(f"{codec.title}: {damaged_data.hex()}: {result.problems}")
    signal.setitimer(signal.ITIMER_REAL, 0)
    took, growth = time.perf_counter() - start, _memory() - before
    print(
        f"{options.decodes:,} decodes of damaged bytes of {len(seeds)} layouts in {took:.0f} s: {counts[False]:,} with "
        f"problems, {counts[True]:,} without; memory grew by {growth / 2**20:.1f} MiB"
    )
    return int(growth > MOST_MEMORY)


def _codecs() -> list[Codec]:
    top = find_corpus().clients.parent
    sets = open_sets([str(top)], lambda path: True)
    catalog = Catalog([Definitions([(file.path, file.data) for file in item.files]) for item in sets])
    messages = [message for name in catalog.names for message in catalog.with_name(name)]
    return [catalog.codec(message, piece.lowest) for message in messages for piece in intervals(message)]


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _hung(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"a reading took more than {SECONDS} seconds")


if __name__ == "__main__":
    sys.exit(main())
