"""Where a rule is documented."""

from __future__ import annotations

import re
from typing import Final

from kiplint.engine.rule import Rule

RULES_PAGE: Final = "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules.md"


def url_of(rule: Rule) -> str:
    """The address of what is written about a rule; empty for one that does not come with kiplint."""
    return f"{RULES_PAGE}#{re.sub(r'[^a-z0-9-]', '', rule.id)}" if rule.stamp else ""
