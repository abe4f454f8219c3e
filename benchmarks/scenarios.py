"""The comparisons: kiplint against a peer, or against the least that a Python command can cost."""

import sys
from collections.abc import Iterator

from benchmarks import peers, protos, schemas
from benchmarks.lab import Lab
from benchmarks.outcome import Outcome, cost_of, pair_row
from benchmarks.timing import Command, compare
from benchmarks.workspace import scratch

BREAKS_FOUND = frozenset({100})


def check(lab: Lab) -> Iterator[Outcome]:
    """All default rules over the whole set, against `buf lint`."""
    peer = peers.buf()
    lab.findings(lab.corpus.clients)
    tree = scratch("proto", "lint")
    protos.write_tree(lab.schemas, tree)
    theirs = Command((peer.executable, "lint"), tree)
    comparison = compare(lab.kiplint("check", lab.corpus.clients.name), theirs, lab.plan.pairs)
    yield pair_row(f"check {len(lab.schemas)} files / buf lint", comparison, 0.9)
    yield cost_of("kiplint check", comparison.ours)
    yield cost_of("buf lint", comparison.theirs)


def diff(lab: Lab) -> Iterator[Outcome]:
    """Two versions of the set, against `buf breaking` over the same two structures."""
    peer = peers.buf()
    older, newer = lab.versions
    trees = []
    for directory in (older, newer):
        trees.append(scratch("proto", directory.name))
        protos.write_tree(schemas.read_set(directory), trees[-1])
    theirs = Command((peer.executable, "breaking", "--against", trees[0]), trees[1], BREAKS_FOUND)
    comparison = compare(lab.kiplint("diff", older, newer), theirs, lab.plan.pairs)
    yield pair_row(f"diff 2 x {len(lab.schemas)} files / buf breaking", comparison, 0.6)
    yield cost_of("kiplint diff", comparison.ours)
    yield cost_of("buf breaking", comparison.theirs)


def single(lab: Lab) -> Iterator[Outcome]:
    """One file with its siblings beside it, as pre-commit runs it, against the import of typer."""
    rpcs = (schema for schema in lab.schemas if schema.body["type"] in ("request", "response"))
    by_size = sorted(rpcs, key=lambda schema: len(schema.text))
    file = by_size[len(by_size) // 2].path
    theirs = Command((sys.executable, "-c", "import typer"))
    comparison = compare(lab.kiplint("check", file.name, cwd=file.parent), theirs, lab.plan.pairs)
    yield pair_row(f"check {file.name} / import typer", comparison, 2.5)
    yield cost_of("kiplint check, one file", comparison.ours)
