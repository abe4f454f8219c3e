"""`kiplint pipeline blame`."""

from typing import Annotated, Any

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matches
from kiplint.text.words import did_you_mean

EVENTS = """
SELECT source, lineage, time, commit, "by", coalesce(release, if(before_first_release, 'before the first',
  if(source IN (SELECT source FROM revisions WHERE release IS NOT NULL), 'never', ''))) AS release, event, rule,
  coalesce(message_name, path) AS message_name, message
FROM events WHERE list_contains($1, {}) ORDER BY source, lineage, position, rule, message_name, event, field, message
"""
EPILOG = """\b
Examples:
  kiplint pipeline blame lake SaslHandshake
  kiplint pipeline blame lake compat/layout-changed"""


def command(
    lake: LakeArgument,
    subject: Annotated[
        str, typer.Argument(metavar="MESSAGE|RULE", help="A message, an RPC, a rule, a pack or a glob of rules.")
    ],
    output_format: FormOption = "text",
) -> int:
    """Show what happened to a message, or because of a rule, in order.

    Findings that came and how they ended, and changes, each with its commit and the first release that has it.
    """
    tables = open_lake(lake)
    column, names = subjects(tables, subject)
    events = tables.rows(EVENTS.format(column), [names])
    return present(output_format, {"events": events}, {"events": subject}, "no findings and no changes")


def subjects(lake: Any, subject: str) -> tuple[str, list[str]]:
    """The column of `events` that a subject is about, and what it means there. Raises UsageError for an unknown one."""
    rules = [rule.id for rule in configure(config={}).all_rules()]
    if rules_meant := [rule for rule in rules if matches(subject, rule)]:
        return "rule", rules_meant
    names = [name for (name,) in lake.rows("SELECT DISTINCT message_name FROM messages").values if name]
    ends = ("", "request", "response", "key", "value")
    if names_meant := [name for name in names if name.lower() in [subject.lower() + end for end in ends]]:
        return "message_name", names_meant
    hint = did_you_mean(subject, names) or did_you_mean(subject, rules)
    raise UsageError(f"no message and no rule is called {subject}{hint}")
