"""`kiplint pipeline blame`."""

from itertools import groupby
from typing import Annotated, Any

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.cli.process import CLEAN
from kiplint.commands.pipeline.text import open_lake, write_json, write_table
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matches
from kiplint.text.words import did_you_mean

EVENTS = """
SELECT *, coalesce(release, if(before_first_release, 'before the first', if(source IN (SELECT source FROM releases),
  'never', ''))) AS shipped FROM events WHERE list_contains($1, {})
ORDER BY source, lineage, position, event <> 'fixed', rule, message_name, path, field, message
"""
COLUMNS = ("when", "commit", "by", "release", "what", "rule", "message", "")
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

    Findings that were introduced and fixed, and changes, each with its commit and the first release that has it.
    """
    tables = open_lake(lake)
    column, names = subjects(tables, subject)
    events = tables.rows(EVENTS.format(column), [names]).records
    if output_format == "json":
        write_json({"events": events})
        return CLEAN
    for line, some in groupby(events, key=lambda event: (event["source"], event["lineage"])):
        write_table(" ".join(filter(None, line)), COLUMNS, map(_cells, some))
    if not events:
        write_table(subject, COLUMNS, (), "no findings and no changes")
    return CLEAN


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


def _cells(event: dict[str, Any]) -> list[Any]:
    about = [event[name] for name in ("time", "commit", "by", "shipped", "event", "rule")]
    return [*about, event["message_name"] or event["path"], "" if event["event"] == "fixed" else event["message"]]
