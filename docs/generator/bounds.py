"""The limits on untrusted input, as SECURITY.md lists them; the numbers come from the code."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from generator.markdown import table

ROWS: Final = (
    ("a definition", "text.decode:MAX_BYTES", "bytes", "a finding"),
    ("a definition", "text.decode:MAX_DEPTH", "levels of nesting", "a finding"),
    ("a definition", "text.decode:MAX_PROBLEMS", "problems of the text", "the others are not reported"),
    ("the layouts that are compared together", "model.layout:MOST_FIELDS", "fields, structs unfolded", "an error"),
    ("an archive", "sources.tree:MOST_ENTRIES", "entries", "an error"),
    ("an archive", "sources.tree:MOST_BYTES", "bytes, unpacked", "an error"),
    ("a git repository", "sources.git:MOST_ENTRIES", "entries of a tree", "an error"),
    ("a git repository", "sources.git:LARGEST_TREE", "bytes of a tree object", "an error"),
    ("a git repository", "sources.git:MOST_AT_ONCE", "bytes of the objects of a request", "an error"),
    ("a configuration", "engine.config:LONGEST", "files that each extend the next", "an error"),
    ("a rule pack", "engine.expression:MOST_CHARACTERS", "characters of an expression", "an error"),
    ("a rule pack", "engine.expression:MOST_OF_A_PACK", "parts of all expressions", "an error"),
    ("a rule pack", "engine.runtime:MOST_STEPS", "steps of a walk over a set", "an error that names the rule"),
    ("a baseline", "engine.baseline:MOST_BYTES", "bytes", "an error"),
    ("the text of a KIP", "commands.kip.drafts:LARGEST", "bytes", "an error"),
    ("bytes to decode", "commands.decode.inputs:MOST_INPUT", "bytes of input", "an error"),
    ("bytes to decode", "codec.wire:MOST_BYTES", "bytes of a frame", "a problem of the frame"),
    ("record batches", "codec.records:MOST_UNPACKED", "bytes of a batch, unpacked", "a problem of the batch"),
    ("record batches", "codec.records:MOST_GROWN", "bytes by which a run grows", "a problem of the batch"),
    ("record batches", "codec.records:MOST_RECORDS", "records of a run", "an error; `decode --limit N` changes it"),
    ("values to encode", "commands.encode.run:MOST_VALUES", "bytes", "an error"),
    ("the answer of a broker", "commands.probe.connection:MOST_ANSWER", "bytes", "an error of that broker"),
    ("the answer of a broker", "commands.probe.broker:MOST_ROWS", "rows of ApiVersions", "an error of that broker"),
    ("a message to the language server", "server.framing:MOST_BYTES", "bytes", "the server ends with an error"),
    ("a query to a lake", "pipeline.answers.query:LONGEST", "characters", "an error"),
    ("a query to a lake", "commands.pipeline.query:MEMORY", "bytes of memory", "an error"),
    ("a lake", "pipeline.lake.lake:MOST_VERSIONS", "versions in its log", "an error"),
)
"""The input, where its limit is in the package, the unit, and what happens beyond it."""


def make() -> str:
    """The table of SECURITY.md."""
    return table(["input", "limit", "beyond it"], (_row(*row) for row in ROWS))


def _row(what: str, where: str, unit: str, beyond: str) -> list[str]:
    module, _, name = where.partition(":")
    number = getattr(import_module(f"kiplint.{module}"), name)
    size = next(
        (f"{number >> bits} {prefix}" for bits, prefix in ((30, "GiB"), (20, "MiB")) if _is_whole(number, bits)), ""
    )
    return [what, f"{size}{unit[5:]}" if size and unit.startswith("bytes") else f"{number:,} {unit}", beyond]


def _is_whole(number: int, bits: int) -> bool:
    return number >= 1 << bits and not number & ((1 << bits) - 1)
