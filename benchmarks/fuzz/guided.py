"""`python -m benchmarks.fuzz.guided SURFACE SECONDS [SEED...]`: one surface under atheris, which follows the coverage.

libFuzzer ends the process, so that each surface has its own; the last line of what it writes counts the executions.
"""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import atheris


def main() -> None:
    """Run one surface for so many seconds, beginning with its right inputs."""
    name, seconds = sys.argv[1:3]
    with atheris.instrument_imports(include=["kiplint"]):
        from benchmarks.fuzz.surfaces import SURFACES
    surface = next(surface for surface in SURFACES if surface.name == name)
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(surface.seeds()):
            Path(corpus, str(number)).write_bytes(seed)

        def read(data: bytes) -> None:
            with suppress(*surface.refusals):
                surface.read(data)

        flags = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], corpus, *flags, *sys.argv[3:]], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
