"""Run each command on each input that it reads, at n and 2n; write benchmarks/HOSTILE.md."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib import import_module
from itertools import chain, groupby
from multiprocessing import Pool, current_process
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from benchmarks.hostile.grammar import FRAME, Files, Input, inputs
from benchmarks.results import aligned
from benchmarks.timing import Command, Run, run, run_to_end
from benchmarks.workspace import REPOSITORY, empty_scratch, scratch
from kiplint.cli import completion
from kiplint.cli import main as kiplint
from kiplint.cli.app import COMMANDS, names, room
from kiplint.cli.options import Argument, Parameter, parameters
from kiplint.limits import DEFINITION_BYTES
from kiplint.render.formats import format_names

PAGE = Path(__file__).resolve().parent.parent / "HOSTILE.md"
EXECUTABLE = REPOSITORY / ".venv" / "bin" / "kiplint"
LARGEST_OTHER = 4 << 20
"""The largest file that is measured, of those that are no definitions, in bytes."""
SLOW, MOST_GROWTH, MOST_SECONDS, MOST_MEMORY = 0.3, 2.3, 10.0, 1024
"""The seconds above start-up from which growth counts, the most of a doubling, and of the largest size (s, MiB)."""
ROUNDS, CLEAR, STEADY = 3, 2.1, 1.0
"""How often both sizes are run if the first runs show a growth of at least CLEAR; twice as often for MOST_GROWTH. Runs
of more than STEADY seconds vary little: they are repeated only for a growth of at least MOST_GROWTH."""
QUARTER, NOTHING = 4, 0.01
"""The largest size is skipped if an eighth of it takes less than NOTHING seconds: even quadratic growth stays fast. It
is skipped also if a quarter shows no growth above CLEAR, with which n stays below MOST_SECONDS and MOST_MEMORY."""
LIMIT = 60
"""The seconds of the processor after which a command is ended."""

NOT_RUN = ("explain", "lsp", "pipeline", "probe", "rules", "schema")
"""Commands that are not measured: they read no untrusted files, or `make bench-growth` measures them."""
SETS = {"SET", "[SET]", "OLD", "NEW", "[BASE] HEAD", "CLIENT", "BROKER...", "PATH", "FROM", "TO"}
PAIRS = {"OLD", "[BASE] HEAD", "CLIENT", "FROM", "REV"}
"""The parameters that take sets, and those of commands that take more than one."""
WORDS: Mapping[str, str] = {
    **dict.fromkeys(("OLD", "CLIENT", "FROM", "OLDER", "GLOB|REV|SET"), "old"),
    **dict.fromkeys(("SET", "[SET]", "NEW", "BROKER...", "PATH", "TO"), "new"),
    "[BASE] HEAD": "old new",
    "RPC": "X",
    "NAME": "Y",
    "[MESSAGE[@VERSION]]": "XRequest",
    "[MESSAGE@VERSION|FILE]": "XRequest@1",
    "INPUT": FRAME.hex(),
    "RULES": "all",
    "FILE": "page.md",
    "REV": "v0",
    "GLOB": "*",
    "EXPRESSION": "size>1",
    "FIELD": "New:int32",
}
"""The words to pass for the parameters of each metavar. An argument with a metavar that is not listed is an error."""
VARIED = {"EXPRESSION", "FIELD", "GLOB", "GLOB|REV|SET", "OLDER", "REV"}
"""The metavars of options that are tried with the inputs that are `is_wide`."""
TOGETHER = {"unsafe_fixes": ("--diff",), "changed_since": ("--unsafe-fixes", "--diff")}
"""By the name of an option: other options that it needs to have an effect."""
PLACES = {"folders": {}, "revisions": {"old": "v0:", "new": "HEAD:"}, "archives": {"old": "old.zip", "new": "new.zip"}}
"""Where the schema sets come from, and the words that name them on the command line."""

ABOUT = f"""\
# Hostile input

Written by `make bench-hostile`; do not edit.

The inputs come from the grammars: every construct that repeats in definitions, sets, histories, packs, configurations,
baselines, bytes, captures and KIPs, read by every command that reads its kind, and some with every option. n is the
largest size that is read: a definition of {DEFINITION_BYTES.figure}, another file of {LARGEST_OTHER >> 20} MiB, or
thousands of files; less where that is refused. Time is that of the processor for the whole run, above that of
`kiplint --version`. A doubling is the time of n through that of n / 2, each the least of {ROUNDS} runs unless one shows
less than {CLEAR} or takes more than {STEADY:.0f} s, and of {2 * ROUNDS} while they show more than {MOST_GROWTH}.
A doubling may be {MOST_GROWTH}; n may take {MOST_SECONDS:.0f} s and {MOST_MEMORY} MiB. `!` marks what is above.

Each case is screened at an eighth and at a quarter of n first, in a fork that has imported all commands. It is not
measured if it takes no time there, or if the time grows by less than {CLEAR}, and n stays below these limits even so.
`make bench-hostile HOSTILE_ARGS="--only chain"` measures some cases, and leaves this page as it is;
`--jobs 2` measures two inputs at the same time, `--seconds 600` stops after that time, and `--seed` selects the order
of the inputs."""
HEAD = ("input", "command", "n", "time", "memory", "doubling")


class Case(NamedTuple):
    """An input, the words of a command that reads it, and where its sets come from."""

    input: Input
    words: tuple[str, ...]
    place: str = "folders"

    @property
    def title(self) -> str:
        """The name of the case: the input, the command line, and where the sets come from."""
        return f"{self.input.name}: {' '.join(self.words)} ({self.place})"


@cache
def commands() -> Mapping[tuple[str, ...], Sequence[Parameter]]:
    """The parameters of each command that is run, by its words."""

    def of(package: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Sequence[Parameter]]]:
        for name in names(package):
            if not words and name in NOT_RUN:
                continue
            entry = room(package, name)
            if hasattr(entry, "COMMANDS"):
                yield from of(entry, (name,))
            else:
                yield (*words, name), parameters(entry)

    return dict(of(import_module(COMMANDS), ()))


def cases() -> Iterator[Case]:
    """All cases: each input with each command that reads inputs of its kind."""
    for case_input in inputs():
        for command, params in commands().items():
            keys = {param.mark.metavar for param in params} | {param.name for param in params}
            if not keys & ({case_input.key} if case_input.key else PAIRS if case_input.is_pair else SETS):
                continue
            words = (*command, *case_input.words, *(word for param in params for word in _words(param, case_input)))
            if "base" in keys and "REV" in keys:
                yield Case(case_input, (*words, "--base", "v0"), "revisions")
                continue
            yield Case(case_input, words)
            if case_input.is_wide:
                for param in params:
                    place = "revisions" if param.mark.metavar == "REV" else "folders"
                    with_it = TOGETHER.get(param.name, ())
                    yield from (Case(case_input, (*words, *more, *with_it), place) for more in _options(param))
                if "repo" in keys:
                    yield from (Case(case_input, words, place) for place in ("revisions", "archives"))


def _words(param: Parameter, case_input: Input) -> Sequence[str]:
    """The words for a parameter that is always there."""
    metavar = param.mark.metavar or ""
    if case_input.key and case_input.key in (metavar, param.name):
        return [*param.flags[:1], case_input.file]
    if isinstance(param.mark, Argument):
        if metavar not in WORDS and param.is_required:
            raise SystemExit(f"benchmarks.hostile: say in WORDS what stands for {metavar}")
        return WORDS.get(metavar, "").split()
    return [param.flags[0], WORDS[metavar]] if metavar == "SET" or param.name == "select" else []


def _options(param: Parameter) -> Iterator[tuple[str, ...]]:
    """The option with each of its values."""
    if not param.flags or param.name in ("open", "stdio", "list_clients"):
        return
    flag, metavar = param.flags[0], param.mark.metavar or ""
    if param.kind is bool:
        yield (flag,)
    for word in format_names() if param.mark.complete is completion.formats else param.words:
        yield flag, word
    if metavar in VARIED:
        yield flag, WORDS[metavar]


class Measured(NamedTuple):
    """A size of an input and its fastest run. `has_failed` is set if the run ended in an internal error."""

    n: int
    run: Run
    is_refused: bool
    has_failed: bool = False


def measure_all(titles: Iterable[str], start: Run, end: float) -> list[tuple[str, tuple[Measured, Measured] | None]]:
    """Cases that were begun before `end`, on the clock of `time.monotonic`, each with what `measure` says."""
    return [(title, measure(cases_by_title()[title], start)) for title in titles if time.monotonic() < end]


@cache
def cases_by_title() -> Mapping[str, Case]:
    """All cases. They are made before processes are forked, as the functions of inputs cannot be sent to a process."""
    return {case.title: case for case in cases()}


def measure(case: Case, start: Run) -> tuple[Measured, Measured] | None:
    """The largest size that is read, and half of it; None where the largest takes no time."""
    n = largest(case.input)
    small = max(n // (2 * QUARTER), 1)
    least, eighth = run_of_one(case[1:]), screen(case, small)
    if eighth.has_failed:
        return eighth, eighth
    while eighth.is_refused and small > 64 and eighth.run.cpu - least.cpu < NOTHING:  # refused at once
        eighth = screen(case, small := small // 4)
    if eighth.run.cpu - least.cpu < NOTHING:
        return None
    quarter = screen(case, 2 * small)
    for _ in range(1, ROUNDS):
        if quarter.has_failed or eighth.run.cpu > STEADY or not grows(quarter, eighth, least):
            break
        quarter, eighth = _least(quarter, screen(case, 2 * small)), _least(eighth, screen(case, small))
    if quarter.has_failed:
        return quarter, quarter
    seconds, memory = quarter.run.cpu - least.cpu, quarter.run.peak - least.peak
    is_small = CLEAR**2 * seconds < MOST_SECONDS and CLEAR**2 * memory < MOST_MEMORY
    if is_small and not grows(quarter, eighth, least):
        return None
    whole = _run(case, n := min(n, 2 * small * QUARTER))
    if whole.run.cpu - start.cpu < SLOW:
        return None
    half = _run(case, n // 2)
    for at in range(1, 2 * ROUNDS):
        most = MOST_GROWTH if half.run.cpu > STEADY or at >= ROUNDS else CLEAR
        if growth(whole, half, start) < most or (whole.run.cpu > MOST_SECONDS and at == ROUNDS):
            break
        whole, half = _least(whole, _run(case, n)), _least(half, _run(case, n // 2))
    return None if whole.run.cpu - start.cpu < SLOW else (whole, half)


def grows(quarter: Measured, eighth: Measured, least: Run) -> bool:
    """Whether quadratic growth shows between two sizes that are screened, and counts at the largest size."""
    seconds = quarter.run.cpu - least.cpu
    return growth(quarter, eighth, least) >= CLEAR and QUARTER**2 * seconds > SLOW


@cache
def run_of_one(command: tuple[tuple[str, ...], str]) -> Run:
    """Run a command on an input of size 1. `command` holds its words, and where its sets come from."""
    return screen(next(case for case in cases() if case[1:] == command), 1).run


def screen(case: Case, n: int) -> Measured:
    """A run in a fork of this process, which has imported all commands."""
    directory = _scratch()
    words = place(case, n, directory)
    with TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.chdir(directory)
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream, target in enumerate((nothing, nothing, errors.fileno())):
                os.dup2(target, stream)
            sys.argv = ["kiplint", *words]
            kiplint()
        _, status, usage = os.wait4(child, 0)
        errors.seek(0)
        has_failed = errors.read().startswith(b"error: internal error")
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(n, Run(cpu, cpu, usage.ru_maxrss / 1024), os.waitstatus_to_exitcode(status) == 2, has_failed)


def preload() -> None:
    """Import what commands import, so that forks need not."""
    for module in walk_packages(import_module(COMMANDS).__path__, f"{COMMANDS}."):
        if not module.name.startswith(f"{COMMANDS}.pipeline"):
            import_module(module.name)
    for name in ("jinja2", "json5", "jsonschema", "networkx", "typer", "kiplint.cli.app", "kiplint.sources.git"):
        import_module(name)


def growth(whole: Measured, half: Measured, start: Run) -> float:
    """The time of a size through that of its half."""
    return (whole.run.cpu - start.cpu) / max(half.run.cpu - start.cpu, 0.01)


def _least(first: Measured, second: Measured) -> Measured:
    return min(first, second, key=lambda measurement: measurement.run.cpu)


@lru_cache(maxsize=4)
def make_files(case_input: Input, n: int) -> tuple[Sequence[Files], Files]:
    """The files of an input of size n; the cases of an input follow each other."""
    return case_input.write(n)


@cache
def _size(case_input: Input, n: int) -> int:
    trees, beside = make_files(case_input, n)
    return max(len(data) for files in ([beside] if beside else trees) for data in files.values())


@cache
def largest(case_input: Input) -> int:
    """The largest size whose files are small enough, nearly; from what 64 more take."""
    _, beside = make_files(case_input, 1)
    most = LARGEST_OTHER if beside else DEFINITION_BYTES
    few = _size(case_input, 64)
    n = min(case_input.most, 1 << 22, 64 + int((most - few) * 64 / max(_size(case_input, 128) - few, 1)))
    while (size := _size(case_input, n)) > most:
        n = min(n * most // size, n * 99 // 100)
    return n


def _scratch() -> Path:
    """An empty directory that no other job uses."""
    return empty_scratch("hostile", current_process().name)


def _run(case: Case, n: int) -> Measured:
    directory = _scratch()
    command = ("/bin/sh", "-c", f'ulimit -t {LIMIT}; exec "$@"', "-", str(EXECUTABLE), *place(case, n, directory))
    result, status = run_to_end(Command(command, directory, frozenset({0, 1, 2, -9, -24})))
    return Measured(n, result, status == 2)


def place(case: Case, n: int, directory: Path) -> list[str]:
    """Write the files of a case into an empty directory; the words of the command line."""
    trees, beside = make_files(case.input, n)
    if case.place == "revisions":
        _import(directory, trees)
    for name, tree in () if case.place == "revisions" else (("old", trees[0]), ("new", trees[-1])):
        if case.place == "archives":
            with zipfile.ZipFile(directory / f"{name}.zip", "w") as archive:
                for path, data in tree.items():
                    archive.writestr(path, data)
        else:
            _write(directory / name, tree)
    _write(directory, beside)
    sets = {"new": "."} if "v0" in case.words else PLACES[case.place]
    return [sets.get(word, word) for word in case.words]


def _write(directory: Path, files: Files) -> None:
    for name, data in files.items():
        path = directory / name
        if not path.parent.is_dir():
            for parent in reversed(path.parents):  # `parents=True` goes down 1,000 folders by recursion
                parent.mkdir(exist_ok=True)
        path.write_bytes(data)


def _import(directory: Path, trees: Sequence[Files]) -> None:
    """A repository with a commit and a tag for each tree, and the last one checked out."""
    stream: list[bytes] = []
    before: Files = {}
    for at, tree in enumerate(trees):
        files = {name: data for name, data in tree.items() if before.get(name) != data}
        parts = [*(b"D %s\n" % name.encode() for name in before if name not in tree)]
        parts += [
            b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data) for name, data in files.items()
        ]
        stream.append(b"commit refs/heads/main\nmark :%d\ncommitter a <a@b> %d +0000\ndata 1\nc\n" % (at + 1, at))
        stream += [*parts, b"reset refs/tags/v%d\nfrom :%d\n\n" % (at, at + 1)]
        before = tree
    git = ("git", "-C", str(directory))
    for words, data in (
        (["init", "-q", "-b", "main"], b""),
        (["fast-import", "--quiet"], b"".join(stream)),
        (["reset", "-q", "--hard"], b""),
    ):
        subprocess.run([*git, *words], input=data, check=True, capture_output=True)


def row(case: Case, whole: Measured, half: Measured, start: Run) -> tuple[str, ...]:
    """A line of the table."""
    cpu, peak, times = whole.run.cpu - start.cpu, whole.run.peak, growth(whole, half, start)
    words = " ".join(case.words)
    return (
        case.input.name,
        f"`{words if len(words) < 60 else words[:57] + '...'}` {case.place if case.place != 'folders' else ''}",
        f"{whole.n:,}{' internal error !' if whole.has_failed else ' refused' if whole.is_refused else ''}",
        f"{cpu:.2f} s{' !' if cpu > MOST_SECONDS else ''}",
        f"{peak:.0f} MiB{' !' if peak > MOST_MEMORY else ''}",
        f"{times:.2f}{' !' if times > MOST_GROWTH else ''}",
    )


def exceeds(case: Case, whole: Measured, half: Measured, start: Run) -> bool:
    """Whether a run failed, time grows faster than the input, or one below a definition's size takes too much."""
    trees, beside = make_files(case.input, whole.n)
    size = sum(map(len, [*beside.values(), *(data for tree in trees for data in tree.values())]))
    large = whole.run.cpu - start.cpu > MOST_SECONDS or whole.run.peak > MOST_MEMORY
    return whole.has_failed or growth(whole, half, start) > MOST_GROWTH or (size < DEFINITION_BYTES and large)


def write_page(number: int, parts: int, count: str, rows: Sequence[tuple[str, ...]]) -> None:
    """Save the rows of one part of the cases, and write the page if the rows of all parts are saved."""
    files = [scratch("hostile", f"part-{part}-of-{parts}.json") for part in range(1, parts + 1)]
    files[number - 1].write_text(json.dumps([count, rows]))
    if not all(file.is_file() for file in files):
        return
    counts, all_rows = zip(*(json.loads(file.read_text()) for file in files), strict=True)
    head = [HEAD, ["---", "---", *("---:" for _ in HEAD[2:])]]
    lines = [f"| {line} |" for line in aligned([*head, *sorted(chain.from_iterable(all_rows))], between=" | ")]
    PAGE.write_text("\n".join([ABOUT, "", f"{'; '.join(counts)}:", "", *lines, ""]), encoding="utf-8")
    for file in files:
        file.unlink()


def main() -> None:
    """Measure the cases and print them; write the page when all parts were measured. Fails if one `exceeds`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--only", action="append", metavar="TEXT", help="cases with this in their title; repeatable")
    parser.add_argument("--seconds", type=int, default=1 << 40, help="stop after so many seconds")
    parser.add_argument("--seed", type=int, default=0, help="selects a random order of the inputs (usual: 0)")
    parser.add_argument(
        "--shard",
        default="1/1",
        metavar="I/N",
        help="of N parts of the cases the one of number I; the last writes the page",
    )
    parser.add_argument("--jobs", type=int, default=1, help="measure so many inputs at the same time")
    parser.add_argument("--list", action="store_true", help="list the cases, and run none")
    options = parser.parse_args()
    selection = [
        case
        for case in cases_by_title().values()
        if not options.only or any(part in case.title for part in options.only)
    ]
    if options.list or not selection:
        print("\n".join(case.title for case in selection))
        return
    preload()
    end = time.monotonic() + options.seconds
    start = min((run(Command((EXECUTABLE, "--version"))) for _ in range(5)), key=lambda run: run.cpu)
    order = Random(options.seed)
    places = {case.input: order.random() for case in selection}  # so that some are like all
    selection.sort(key=lambda case: places[case.input])
    number, parts = map(int, options.shard.split("/"))
    selection = selection[len(selection) * (number - 1) // parts : len(selection) * number // parts]
    case_count = 0
    sizes: dict[Case, tuple[Measured, Measured]] = {}
    by_input = [[case.title for case in some] for _, some in groupby(selection, key=lambda case: case.input)]
    with Pool(options.jobs) as pool:
        for results in pool.imap_unordered(partial(measure_all, start=start, end=end), by_input):
            case_count += len(results)
            for title, pair in results:
                if pair:
                    case = cases_by_title()[title]
                    sizes[case] = pair
                    print(f"{case_count:,} of {len(selection):,}", *row(case, *pair, start), sep="  ", flush=True)
    if options.jobs > 1:  # other jobs slow memory down
        slow = {case: measure(case, start) for case in sizes if exceeds(case, *sizes[case], start)}
        sizes = {case: pair for case, pair in (sizes | slow).items() if pair}
    rows = [row(case, *pair, start) for case, pair in sizes.items()]
    count = f"{case_count:,} of {len(selection):,} cases were run; {len(rows):,} take more than {SLOW} s"
    print(count)
    if not options.only and not options.seed and case_count == len(selection):
        write_page(number, parts, count, rows)
    if excess := [case.title for case in sizes if exceeds(case, *sizes[case], start)]:
        raise SystemExit("\n".join(["failed, too slow, or too large:", *excess]))


if __name__ == "__main__":
    main()
