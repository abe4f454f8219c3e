"""What `kiplint negotiate` does, apart from reading its arguments."""

from __future__ import annotations

import sys

import msgspec

from kiplint.cli.process import CLEAN, FINDINGS, USAGE
from kiplint.cli.terminal import use_color
from kiplint.cli.trees import open_tree, warn_of_broken
from kiplint.compat.negotiation.features import read_features
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.tree import Tree
from kiplint.engine.errors import UsageError
from kiplint.report.negotiation import json as negotiation_json
from kiplint.report.negotiation import text as negotiation_text
from kiplint.sources.disk import read


class NegotiateOptions(msgspec.Struct, frozen=True):
    """The arguments, as they were given; empty means not given."""

    client: str
    brokers: list[str]
    feature: str = ""
    repository: str | None = None
    unstable: bool = False
    output_format: str = "text"
    color: str = "auto"


def run_negotiate(options: NegotiateOptions) -> int:
    """Negotiate, write the result, and say how it went as an exit code."""
    features = read_features(options.feature, read(options.feature)) if options.feature else {}
    trees = [rpc_tree(name, options.repository) for name in (options.client, *options.brokers)]
    client, *brokers = ((tree.name, tree.main) for tree in trees)
    found = negotiate(client, brokers, features, unstable=options.unstable)
    if options.output_format == "json":
        negotiation_json.write(found, sys.stdout)
    else:
        negotiation_text.write(found, sys.stdout, color=use_color(options.color, sys.stdout))
    if warn_of_broken(*trees):
        return USAGE
    return FINDINGS if found.in_trouble else CLEAN


def rpc_tree(name: str, repository: str | None) -> Tree:
    """The tree that a name stands for; raises UsageError when there is no RPC in it."""
    tree = open_tree(name, repository)
    if all(rpc.is_coordinator for rpc in tree.main.rpcs):
        raise UsageError(f"{name} has no RPC: name the directory with the requests and responses")
    return tree
