"""The hooks for pre-commit: one catalogue, out of which come `.pre-commit-hooks.yaml` and the guide's table."""

from __future__ import annotations

from typing import NamedTuple

from generator.markdown import code, prose, table

FOLDERS = {
    "resources/common/message": "Kafka's clients, raft, streams and coordinators, and their forks (AutoMQ, LinkedIn)",
    "resources/common/metadata": "Kafka's metadata",
    "resources/message": "Kafka's storage",
    "protocol/schemata": "Redpanda",
}
"""Where definitions lie: the ends of their directories' paths, and whose they are."""

PATTERN = rf"(^|/)({'|'.join(FOLDERS)})/[^/]+\.json$"
"""The files that are given to the check."""


class Hook(NamedTuple):
    """A hook. Without `args` it is given the definitions that a commit changes."""

    id: str
    description: str
    entry: str
    args: tuple[str, ...] = ()


HOOKS = (
    Hook(
        "kiplint-review",
        "Review the effects of a commit on Kafka message schemas, with new findings and breaks.",
        "kiplint review",
        ("--base", "HEAD"),
    ),
    Hook(
        "kiplint-check",
        "Check the Kafka message schemas that a commit changes, each together with its siblings.",
        "kiplint check",
    ),
    Hook(
        "kiplint-fix",
        "Apply safe fixes to what a commit changes in Kafka message schemas; every comment stays.",
        "kiplint check --fix",
    ),
)


def make() -> str:
    """The file `.pre-commit-hooks.yaml`."""
    notice = "# Written by `make docs` out of docs/generator/hooks.py: change that, not this file.\n"
    return notice + "\n".join(map(_hook, HOOKS))


def overview() -> str:
    """The hooks as the guide lists them."""
    rows = ([code(hook.id), prose(hook.description), code(" ".join((hook.entry, *hook.args)))] for hook in HOOKS)
    return table(["hook", "what it does", "what it runs"], rows)


def folders() -> str:
    """The directories as the guide lists them."""
    return table(["directory", "whose"], ([code(f"{folder}/"), prose(whose)] for folder, whose in FOLDERS.items()))


def _hook(hook: Hook) -> str:
    lines = [
        f"- id: {hook.id}",
        f"  name: {hook.id.replace('-', ' ')}",
        f"  description: {hook.description}",
        f"  entry: {hook.entry}",
        "  language: python",
    ]
    if hook.args:
        words = ", ".join(f'"{word}"' for word in hook.args)
        lines += [f"  args: [{words}]", "  pass_filenames: false", "  always_run: true"]
    else:
        lines += [f"  files: {PATTERN}", "  types: [file]"]
    return "\n".join([*lines, "  require_serial: true"]) + "\n"
