"""Where the benchmarks read and write: the corpus, or the bundled sets, and `.bench/` for all that is made."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().with_name("RESULTS.md")

_SET = Path("kafka-trunk-2026-08", "clients")
_HISTORY = "kafka-schema-history.bundle"


@dataclass(frozen=True)
class Corpus:
    """The definition files to measure on, and the history to take releases from, if there is one."""

    title: str
    clients: Path
    history: Path | None


def corpus_root() -> Path:
    """Where the real schemas and histories are, if they are there."""
    return Path(os.environ.get("KIPLINT_CORPUS") or REPOSITORY.parent / "shared" / "corpus")


def find_corpus() -> Corpus:
    """The corpus at KIPLINT_CORPUS (default `../shared/corpus`); without it, the largest of the bundled sets."""
    root = corpus_root()
    if (root / _SET).is_dir():
        history = root / _HISTORY
        return Corpus(str(_SET), (root / _SET).resolve(), history.resolve() if history.is_file() else None)
    sets = [path for path in (REPOSITORY / "fixtures" / "sets").rglob("*") if path.is_dir()]
    largest = max(sets, key=lambda path: len(list(path.glob("*.json"))), default=None)
    if largest is None:
        raise SystemExit("benchmarks: nothing to measure on: set KIPLINT_CORPUS to the corpus directory")
    return Corpus(f"{largest.relative_to(REPOSITORY)} (no corpus: set KIPLINT_CORPUS)", largest, None)


def peers_home(*names: str) -> Path:
    """Where peers are kept for all checkouts: a cache of the user's, outside this one."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return Path(cache if os.path.isabs(cache) else Path.home() / ".cache", "kiplint-benchmarks", *names)


def scratch(*names: str) -> Path:
    """A path below `.bench/`, whose first use keeps the directory out of git."""
    root = REPOSITORY / ".bench"
    if not (root / ".gitignore").exists():
        root.mkdir(exist_ok=True)
        (root / ".gitignore").write_text("*\n", encoding="utf-8")
    return root.joinpath(*names)


def empty_scratch(*names: str) -> Path:
    """A new, empty directory below `.bench/`, in place of what was there."""
    path = scratch(*names)
    subprocess.run(["rm", "-rf", "--", str(path)], check=True)  # rmtree recurses, and trees are thousands deep
    path.mkdir(parents=True)
    return path
