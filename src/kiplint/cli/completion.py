"""What a shell offers after Tab for rules and formats; typer completes commands, options and choices."""

from __future__ import annotations

from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import shipped_rules
from kiplint.render.formats import FORMATS, PAGE


def rules(incomplete: str) -> list[str]:
    """The values of `--select` and `--ignore`, with the rules of the user's packs; a list may have commas."""
    ids = [rule for rule, _ in rule_ids()]
    packs = dict.fromkeys(rule.partition("/")[0] for rule in ids)
    before, comma, _ = incomplete.rpartition(",")
    return [f"{before}{comma}{word}" for word in ("default", "all", *packs, *ids)]


def rule_ids() -> list[tuple[str, str]]:
    """The ids of all rules, each with its title."""
    try:
        rules = configure().all_rules()
    except UsageError:  # the next run reports it
        rules = list(shipped_rules())
    return [(rule.id, rule.title) for rule in rules]


def formats() -> list[tuple[str, str]]:
    """The formats of `--output-format`, each with its description."""
    return [(name, form.about) for name, form in FORMATS.items()]


def page_formats() -> list[tuple[str, str]]:
    """The formats of a report that has a page."""
    return [*formats(), (PAGE, "A page to look at and share, in one file that needs no network.")]
