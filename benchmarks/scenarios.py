"""The comparisons: kiplint against a peer, or against the least that a Python command can cost."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import peers, protos, schemas
from benchmarks.lab import FINDINGS_OR_NONE, Lab
from benchmarks.outcome import Outcome, SkipError, cost_of, pair_row
from benchmarks.timing import Command, CommandError, compare, output
from benchmarks.workspace import empty_scratch, scratch

BREAKS_FOUND = frozenset({100})


def check(lab: Lab) -> Iterator[Outcome]:
    """All default rules over the whole set, with the options that hooks and CI give, against `buf lint`."""
    peer = peers.buf()
    lab.findings(lab.corpus.clients)
    tree = scratch("proto", "lint")
    protos.write_tree(lab.schemas, tree)
    theirs = Command((peer.executable, "lint"), tree)
    plain = lab.kiplint("check", lab.corpus.clients.name)
    for words in options():
        ours = lab.kiplint("check", *words, lab.corpus.clients.name)
        title = " ".join(["check", *(Path(word).name for word in words), f"{len(lab.schemas)} files"])
        comparison = compare(ours, theirs, lab.plan.pairs)
        yield pair_row(f"{title} / buf lint", comparison, 0.55)
        if words:
            yield pair_row(f"{title} / without options", compare(ours, plain, lab.plan.pairs), 1.15)
        else:
            yield cost_of("kiplint check", comparison.ours)
            yield cost_of("buf lint", comparison.theirs)


def options() -> Iterator[tuple[str, ...]]:
    """The options to give: none, the hook's, a CI's, and those of a project with a configuration of its own."""
    config = scratch("kiplint.toml")
    config.write_text('ignore = ["style/about-missing"]\n', encoding="utf-8")
    yield ()
    yield ("--only-failing",)
    yield "--output-format", "github", "--fail-on", "warning"
    yield "--config", str(config), "--select", "kip-1313,versions"


def first(lab: Lab) -> Iterator[Outcome]:
    """The first run on a machine, whose user has no cache yet, against the second."""
    words = lab.kiplint("check", lab.corpus.clients.name)
    cache = empty_scratch("cache")
    run = 'XDG_CACHE_HOME="$0" exec "$@"'
    once, again = (
        Command(("/bin/sh", "-c", f"{before}; {run}", cache, *words.arguments), words.cwd, words.expected)
        for before in ('rm -rf "$0"', 'test -d "$0"')
    )
    yield pair_row("first run / second run", compare(once, again, lab.plan.pairs), 1.15)


def diff(lab: Lab) -> Iterator[Outcome]:
    """Two versions of the set, against `buf breaking` over the same two structures."""
    lab.require_diff()
    peer = peers.buf()
    older, newer = lab.versions
    trees = []
    for directory in (older, newer):
        trees.append(scratch("proto", directory.name))
        protos.write_tree(schemas.read_set(directory), trees[-1])
    theirs = Command((peer.executable, "breaking", "--against", trees[0]), trees[1], BREAKS_FOUND)
    comparison = compare(lab.kiplint("diff", older, newer), theirs, lab.plan.pairs)
    yield pair_row(f"diff 2 x {len(lab.schemas)} files / buf breaking", comparison, 0.5)
    yield cost_of("kiplint diff", comparison.ours)
    yield cost_of("buf breaking", comparison.theirs)


def start(lab: Lab) -> Iterator[Outcome]:
    """What is there before any work, against importing the library that the command line is made with."""
    theirs = Command((sys.executable, "-c", "import typer"))
    for word in ("--version", "--help"):
        comparison = compare(lab.kiplint(word), theirs, lab.plan.pairs)
        yield pair_row(f"{word} / import typer", comparison, 1.6)
        yield cost_of(f"kiplint {word}", comparison.ours)


def single(lab: Lab) -> Iterator[Outcome]:
    """One file with its siblings beside it, as pre-commit runs it, against the least that decoding a file can cost."""
    rpcs = (schema for schema in lab.schemas if schema.body["type"] in ("request", "response"))
    by_size = sorted(rpcs, key=lambda schema: len(schema.text))
    file = by_size[len(by_size) // 2].path
    ours = lab.kiplint("check", file.name, cwd=file.parent)
    comparison = compare(ours, Command((sys.executable, "-c", "import msgspec")), lab.plan.pairs)
    yield pair_row(f"check {file.name} / import msgspec", comparison, 1.45)
    yield cost_of("kiplint check, one file", comparison.ours)


def check_jsonschema(lab: Lab) -> Iterator[Outcome]:
    """check-jsonschema over the same files, comments out, with the schema that kiplint publishes."""
    peer = peers.check_jsonschema()
    schema = scratch("message.schema.json")
    try:
        schema.write_text(output(lab.kiplint("schema", "message")), encoding="utf-8")
    except CommandError as error:
        raise SkipError("check-jsonschema: `kiplint schema message` is not in this version") from error
    files = _plain_copies(lab)
    theirs = Command((peer.executable, "--quiet", "--schemafile", schema, *files), None, FINDINGS_OR_NONE)
    comparison = compare(lab.kiplint("check", lab.corpus.clients.name), theirs, lab.plan.pairs)
    yield pair_row(f"check {len(files)} files / check-jsonschema", comparison, None)
    yield cost_of("check-jsonschema", comparison.theirs)


def _plain_copies(lab: Lab) -> list[Path]:
    """The files as plain JSON, which is all that check-jsonschema reads."""
    directory = empty_scratch("plain")
    copies = []
    for schema in lab.schemas:
        copies.append(directory / schema.path.name)
        copies[-1].write_text(schemas.without_comments(schema.text), encoding="utf-8")
    return copies
