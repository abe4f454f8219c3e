"""The record of each rule over real releases, from `docs/precision.json`, which `make precision` writes."""

from __future__ import annotations

import json
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from generator.markdown import page, place, prose, table

DATA = Path(__file__).resolve().parent.parent / "precision.json"
JUDGED = DATA.with_name("judged.json")
PULL_REQUESTS = DATA.with_name("pull_requests.json")

INTRODUCTION = """\
What each rule finds in {releases} releases of Kafka, from {first} to {last}, and at the heads of {count} forks
({forks}), and what the history shows. A finding counts once, however many releases contain it.
`make precision` measures it again. [By release](#by-release) has the number of findings in each: no release since
{without_errors} has an error.

- *severity*: that of the rule; it is milder in some cases, which count here too.
- *corrected*: the next release does not have the finding, because its message or field was changed. *gone*: the message
or field was removed or renamed. *stands*: {last} has the finding. *forks*: only a fork has the finding.
- *true* and *false*: the [verdicts](#judged) on findings that were not corrected. `make precision` fails if an error or
  a warning is true less than four times in five, if a finding of these severities is neither corrected nor judged, or
  if a release since {without_errors} has an error.

Rules that are not listed found nothing: no release has made the mistake.
"""


CHANGES = """\
`make precision` also reviews {commits} commits of Kafka's trunk as pull requests, each compared with the
one before, and the forks of {forks}, each as a whole compared with the release of Kafka that it is based on. The
releases before a commit decide what is released. {failing} of these changes have an error. `make precision` fails if an
error or a warning is not judged, if an error is false, or if more than one warning in twenty is false.

Each row counts the entries of `kiplint review`, one for each cause. Verdicts on single changes are below; all others
are those [above](#judged)."""


@cache
def data() -> dict[str, Any]:
    """The measured records."""
    document: dict[str, Any] = json.loads(DATA.read_text("utf-8"))
    return document


def make() -> str:
    """The page `reference/precision.md`."""
    rows = [
        [f"[{name}]({place(name)})", item["severity"], *(str(item[part]) for part in PARTS)]
        for name, item in sorted(data()["rules"].items())
        if item["findings"]
    ]
    forks = ", ".join(data()["forks"])
    first, *_, last = releases = data()["releases"]
    about = INTRODUCTION.format(
        releases=len(releases),
        first=first,
        last=last,
        without_errors=data()["without_errors_since"],
        count=len(data()["forks"]),
        forks=forks,
    )
    verdicts = json.loads(JUDGED.read_text("utf-8"))
    verdict_table = table(
        ["rule", "where", "", "reason"], [verdict(entry) for entry in verdicts if "commit" not in entry]
    )
    records = table(["rule", "severity", "findings", *COLUMNS], rows)
    sections = (
        f"## By release\n\n{_by_release(releases)}",
        f"## Judged\n\n{verdict_table}",
        f"## Pull requests\n\n{_pull_requests(verdicts)}",
    )
    return page("Precision", about, records, *sections)


def _by_release(releases: dict[str, dict[str, int]]) -> str:
    """How many findings each release has; releases in a row with the same numbers share a line."""
    rows = []
    for counts, group in groupby(releases.items(), key=itemgetter(1)):
        names = [name for name, _ in group]
        bounds = names if len(names) == 1 else (names[0], names[-1])
        rows.append([" to ".join(bounds), *(str(counts[severity]) for severity in ("error", "warning", "info"))])
    return table(["releases", "errors", "warnings", "infos"], rows)


def _pull_requests(verdicts: list[dict[str, Any]]) -> str:
    """What rules found in changes, and the verdicts on single changes."""
    record = json.loads(PULL_REQUESTS.read_text("utf-8"))
    forks = " and ".join(f"{fork} ({release})" for fork, release in record["forks"].items())
    about = CHANGES.format(commits=record["commits"], forks=forks, failing=record["failing"])
    counts = [
        [f"[{rule['rule']}]({place(rule['rule'])})", rule["severity"], str(rule["right"]), str(rule["wrong"])]
        for rule in record["rules"]
    ]
    rows = [[entry["commit"], *verdict(entry)] for entry in verdicts if "commit" in entry]
    totals, verdict_table = (
        table(["rule", "severity", "true", "false"], counts),
        table(["change", "rule", "where", "", "reason"], rows),
    )
    return f"{about}\n\n{totals}\n\n{verdict_table}"


def verdict(record: dict[str, Any]) -> list[str]:
    """The row of a finding that was judged."""
    where = f"{record['message']}: {record['place']}" if "place" in record else record.get("message", "all")
    return [record["rule"], prose(where), "true" if record["true"] else "false", prose(record["reason"])]


PARTS = ("findings", "corrected", "gone", "stand", "forks", "right", "wrong")
COLUMNS = ("corrected", "gone", "stands", "forks", "true", "false")


def record(rule: str) -> str:
    """One line about a rule, empty where it was not measured."""
    entry = data()["rules"].get(rule)
    if entry is None:
        return ""
    if not entry["findings"]:
        return f"Record: no finding in {len(data()['releases'])} releases and {len(data()['forks'])} forks"
    counts = ", ".join(f"{entry[part]} {word}" for part, word in zip(PARTS[1:], COLUMNS, strict=True) if entry[part])
    return f"[Record](../precision.md): {entry['findings']} findings in real releases: {counts}"
