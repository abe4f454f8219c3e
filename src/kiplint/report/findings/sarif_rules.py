"""How SARIF describes a rule."""

from __future__ import annotations

from typing import Any

from kiplint.engine.finding import Severity
from kiplint.report.kit.markdown import inline
from kiplint.runs.result import RuleInfo
from kiplint.text.show import printable

LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}
LONGEST = 1024


def descriptor(rule: str, info: RuleInfo | None, severity: Severity) -> dict[str, Any]:
    """The `reportingDescriptor` of a rule; of one that is not described, as good as its id and a finding allow."""
    pack, _, name = rule.partition("/")
    info = info or RuleInfo(name.replace("-", " ").capitalize(), "", "", severity, "")
    title = _lines(info.title) or rule
    why = _lines(info.why) or title
    source = [f"Source: {info.source}"] if info.source else []
    told = [why, *map(_lines, source)]
    marked = [f"**{_marked(title)}**", *map(_marked, (why, *source))]
    helped = [info.help] if info.help else []
    return {
        "id": rule,
        "shortDescription": {"text": _cut(title)},
        "fullDescription": {"text": _cut(why)},
        **({"helpUri": info.url} if info.url else {}),
        "help": {
            "text": "\n\n".join([*told, *(text.replace("`", "") for text in helped)]),
            "markdown": "\n\n".join([*marked, *helped]),
        },
        "defaultConfiguration": {"level": LEVELS[info.severity]},
        "properties": {
            "precision": "very-high" if info.severity == "error" else "high",
            "problem.severity": PROBLEMS[info.severity],
            "tags": [pack],
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.splitlines())).strip()


def _marked(text: str) -> str:
    return "\n".join(map(inline, text.splitlines())).strip()
