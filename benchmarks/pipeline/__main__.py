"""`python -m benchmarks.pipeline`: the lint stage beside the engine by itself, from ten thousand definitions on."""

import argparse
import sys
from pathlib import Path

from benchmarks.pipeline import report, runs
from benchmarks.pipeline.engine import Sample
from benchmarks.pipeline.variation import read_templates
from benchmarks.timing import CommandError
from benchmarks.workspace import REPOSITORY, find_corpus
from kiplint.engine.config import Config
from kiplint.engine.ruleset import load_rules, make_ruleset

SIZES = (10_000, 100_000, 1_000_000)
SAMPLE = 10_000
PAGE = Path(__file__).resolve().parent.parent / "PIPELINE.md"


def main() -> int:
    """Measure each size; 0 unless a command failed, whatever the figures are."""
    sizes = _sizes()
    rules = make_ruleset(Config(), load_rules(Config(), ""))
    corpus = find_corpus()
    root = corpus.clients.parent if corpus.history else REPOSITORY / "fixtures" / "sets"
    templates = read_templates(root, rules.all_rules)
    title = root.name if corpus.history else "fixtures/sets (no corpus: figures of other runs do not compare)"
    print(f"{title}: {len(templates)} files, varied", flush=True)
    results = report.Results(title, len(templates))
    try:
        for size in sizes:
            _tell(f"the lint stage over {size:,} definitions")
            sample = Sample.of(rules, templates, min(size, SAMPLE))
            stage = runs.lint(templates, size, root, sample.take)
            results.steps.append(runs.Step(stage, sample))
            print(f"{stage.definitions:,} definitions: {stage.seconds:,.1f} s, {stage.output}", flush=True)
        results.worker = sample.worker()
        _tell(f"ingest of {SAMPLE:,} files")
        results.ingest = runs.ingest(templates, min(SAMPLE, sizes[-1]))
    except CommandError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    print(f"\n{report.as_text(results)}")
    if sizes == SIZES:
        PAGE.write_text(report.as_markdown(results), encoding="utf-8")
        print(f"\nwritten to benchmarks/{PAGE.name}")
    return 0


def _sizes() -> tuple[int, ...]:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline", description="Time the pipeline's lint stage."
    )
    parser.add_argument(
        "--sizes",
        default=",".join(map(str, SIZES)),
        metavar="N,...",
        help=f"definitions, ascending; for others than {', '.join(map(str, SIZES))} {PAGE.name} is left as it is",
    )
    try:
        sizes = tuple(sorted(int(size) for size in parser.parse_args().sizes.replace("_", "").split(",")))
    except ValueError:
        parser.error("--sizes takes numbers with commas between them")
    if not sizes or sizes[0] < 1:
        parser.error("--sizes takes numbers above 0")
    return sizes


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"measuring {what} ...", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
