"""`kiplint pipeline blame`."""

from typing import Annotated

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present
from kiplint.engine.config import RuleOptions, configure
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
    """Show the history of a message or a rule in order.

    Lists when findings were introduced and how they ended, and all changes, each with its commit and its first release.
    """
    answers = open_lake(lake)
    names = [name for (name,) in answers.rows("SELECT DISTINCT message_name FROM messages").values if name]
    column, values = find_subject(subject, names)
    return present(output_format, {"events": answers.rows(EVENTS.format(column), [values])}, {"events": subject})


def find_subject(subject: str, message_names: list[str]) -> tuple[str, list[str]]:
    """The column of `events` that a subject is about, and its values there: `("rule", ["tags/gap", ...])` for `tags`.

    Raises UsageError for an unknown subject.
    """
    rules = configure(options=RuleOptions(config={})).all_rules()
    matching_rules = [rule.id for rule in rules if matches(subject, rule) or subject == rule.spec.id]
    if matching_rules:
        return "rule", matching_rules
    spellings = {subject.lower() + suffix for suffix in ("", "request", "response", "key", "value")}
    matching_names = [name for name in message_names if name.lower() in spellings]
    if matching_names:
        return "message_name", matching_names
    hint = did_you_mean(subject, message_names) or did_you_mean(subject, (rule.id for rule in rules))
    raise UsageError(f"no message or rule is named {subject}{hint}")
