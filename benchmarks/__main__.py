"""`python -m benchmarks`: take the measures, print the tables, write `RESULTS.md`."""

import argparse
import sys
from collections.abc import Callable, Iterator

from benchmarks import editor, formats, frames, history, pages, results, scaling, scenarios
from benchmarks.lab import FULL, QUICK, Lab
from benchmarks.outcome import Outcome, SkipError
from benchmarks.timing import CommandError, output
from benchmarks.workspace import RESULTS, find_corpus

MEASURES: dict[str, Callable[[Lab], Iterator[Outcome]]] = {
    "check": scenarios.check,
    "first": scenarios.first,
    "diff": scenarios.diff,
    "start": scenarios.start,
    "single": scenarios.single,
    "check-jsonschema": scenarios.check_jsonschema,
    "scaling": scaling.scaling,
    "editor": editor.editor,
    "formats": formats.formats,
    "pages": pages.pages,
    "frames": frames.frames,
    "releases": history.releases,
}


def main() -> int:
    """Run what was asked for; 0 unless a command failed, whatever the times are."""
    options = _options()
    lab = Lab(find_corpus(), QUICK if options.quick else FULL)
    print(f"{lab.corpus.title}: {lab.size.files} files, {lab.size.messages} messages, {lab.size.fields:,} fields")
    result = results.Results()
    failures = []
    try:
        output(lab.kiplint("--version"))
        for name in options.only or MEASURES:
            try:
                _tell(name)
                result.outcomes.extend(MEASURES[name](lab))
            except SkipError as reason:
                result.notes.append(f"{name}: skipped: {reason}")
            except CommandError as error:
                failures.append(f"{name}: {error}")
    except CommandError as error:
        failures.append(f"{error}; install kiplint beside this Python")
    if result.outcomes or result.notes:
        print(f"\n{results.as_text(result)}")
    for failure in failures:
        print(f"benchmarks: {failure}", file=sys.stderr)
    if not (failures or options.quick or options.only):
        RESULTS.write_text(results.as_markdown(result, lab), encoding="utf-8")
        print(f"\nwritten to benchmarks/{RESULTS.name}")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time kiplint beside its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer runs; RESULTS.md is left as it is")
    parser.add_argument(
        "--only",
        action="append",
        choices=MEASURES,
        metavar="NAME",
        help=f"one measure, repeatable: {', '.join(MEASURES)}; RESULTS.md is left as it is",
    )
    return parser.parse_args()


def _tell(name: str) -> None:
    if sys.stderr.isatty():
        print(f"measuring {name} ...", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
