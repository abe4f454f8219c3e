"""One SARIF log out of the logs of several commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def merged(logs: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """One SARIF log out of several, with one run for each command: code scanning takes no two of the same."""
    whole: dict[str, Any] | None = None
    by_command: dict[str, Any] = {}
    for log in logs:
        whole = whole or {**log, "runs": []}
        (run,) = log["runs"]
        known = by_command.setdefault(run["automationDetails"]["id"], run)
        if known is run:
            whole["runs"].append(run)
            continue
        rules = {rule["id"]: rule for part in (known, run) for rule in part["tool"]["driver"]["rules"]}
        known["tool"]["driver"]["rules"] = list(rules.values())
        known["invocations"] += run["invocations"]
        known["results"] += run["results"]
        places = {name: number for number, name in enumerate(rules)}
        for result in known["results"]:
            result["ruleIndex"] = places[result["ruleId"]]
    return whole
