"""What the commands do that read a lake without Spark: they open it, ask, and write the answer."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from kiplint.cli.pipeline.running import need_spark
from kiplint.cli.process import CLEAN
from kiplint.cli.terminal import use_color
from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import load_rules
from kiplint.report.lake.grids import write_markdown, write_text

if TYPE_CHECKING:
    from kiplint.pipeline.grid import Answer
    from kiplint.pipeline.reader import Reader


def write_report(lake: str, severity: str, form: str, color: str) -> int:
    """Write the report on a lake."""
    reader = _open(lake)
    from kiplint.pipeline.answers.report import report

    return write_answer(report(reader, severity), form, color)


def write_blame(lake: str, wanted: str, form: str, color: str) -> int:
    """Write the history of a message or a rule."""
    reader = _open(lake)
    from kiplint.pipeline.answers.blame import blame

    rules = [rule.id for rule in load_rules(Config(), os.getcwd())]
    return write_answer(blame(reader, wanted, rules), form, color)


def write_matrix(lake: str, client: str | None, broker: str | None, form: str, color: str) -> int:
    """Write which releases interoperate, or what one pair of them agrees on."""
    if client and not broker:
        raise UsageError(f"matrix takes no release, or two: the client {client} and a broker")
    reader = _open(lake)
    from kiplint.pipeline.answers.matrix import matrix, pair_matrix

    return write_answer(pair_matrix(reader, client, broker) if client and broker else matrix(reader), form, color)


def write_rollout(lake: str, header: int, form: str, color: str) -> int:
    """Write how far a header version has come."""
    reader = _open(lake)
    from kiplint.pipeline.answers.rollout import rollout

    return write_answer(rollout(reader, header), form, color)


def write_answer(found: Answer, form: str, color: str) -> int:
    """Write an answer as text, json or markdown."""
    if form == "json":
        json.dump(found.document, sys.stdout, indent=2)
        sys.stdout.write("\n")
    elif form == "markdown":
        write_markdown(found.grids, sys.stdout)
    else:
        write_text(found.grids, sys.stdout, color=use_color(color, sys.stdout))
    return CLEAN


def _open(lake: str) -> Reader:
    need_spark()
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.reader import Reader

    return Reader(Lake(lake))
