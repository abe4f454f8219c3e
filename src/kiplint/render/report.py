"""Where a rule is documented."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, Final, Literal, get_args

import msgspec

from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Severity, Span
from kiplint.engine.rule import Rule
from kiplint.text.show import printable
from kiplint.text.words import plural, tally

RULES_PAGE: Final = "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules.md"


def url_of(rule: Rule) -> str:
    """The address of what is written about a rule; empty for one that does not come with kiplint."""
    return f"{RULES_PAGE}#{re.sub(r'[^a-z0-9-]', '', rule.id)}" if rule.stamp else ""


Status = Literal["ok", "findings", "error"]
"""How a run went."""

OldPlace = tuple[str, Span]
"""Where something stood before a change: the file, as it is shown, and the place in it."""


class RuleInfo(msgspec.Struct, frozen=True):
    """What there is to say of a rule: `help` tells in Markdown what to do about its findings, `url` where more is."""

    title: str
    why: str
    source: str
    severity: Severity
    help: str
    url: str = ""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a run comes to. The status is `error` where files could not be read: `broken` are these.

    `notes` are lines for people about what else was done.
    """

    status: Status = "ok"
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    command: ClassVar[str] = ""
    """The command that has such results; empty for those that say nothing of files."""

    renderers: ClassVar[Mapping[str, str]] = {}
    """The formats that the command's room writes itself: the format, and `module:function`.

    All others are those of findings, and JSON is the `document`.
    """

    listing: ClassVar[str] = "findings"
    """The attribute of the document whose items JSON Lines has, an item a line."""

    unread: ClassVar[str] = "left out"
    """What the command does with a file that cannot be read."""

    @property
    def document(self) -> Any:
        """The result as a frozen Struct, which is what JSON has."""
        return import_module(self.renderers["json"]).document(self)


class Report(RunResult, frozen=True):
    """The findings of a run, in the order to show them, and what they were found in. Every format takes it.

    `sources` holds the bytes of every file that has findings; `files` and `messages` are how many were looked at, and
    `paths` which, where that is known. `sets` are the names that the run was given. `rules` describes the rules of the
    findings. `before` has for each finding the old place of what changed, or is empty. `harmless` are the severities
    that no one has to act on. `left_out` are JSON files beside definitions that are none, `older` how
    many findings were there before the change that the run is about.
    """

    findings: tuple[Finding, ...]
    files: int = 0
    messages: int = 0
    sources: Mapping[str, bytes] = {}
    sets: tuple[str, ...] = ()
    rules: Mapping[str, RuleInfo] = {}
    before: tuple[OldPlace | None, ...] = ()
    paths: tuple[str, ...] = ()
    harmless: tuple[Severity, ...] = ()
    left_out: tuple[str, ...] = ()
    older: int = 0

    unread = "not compared"

    tells_nothing: ClassVar[bool] = True
    """Whether a job summary has a section for it also where nothing was found."""

    @property
    def counts(self) -> Counter[str]:
        """How many findings there are of each severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def summary(self) -> dict[str, int]:
        """The numbers of the run, as the JSON output names them."""
        counts = self.counts
        return {
            "files": self.files,
            "messages": self.messages,
            "errors": counts["error"],
            "warnings": counts["warning"],
            "infos": counts["info"],
            **({"left_out": len(self.left_out)} if self.left_out else {}),
            **({"older": self.older} if self.older else {}),
        }

    @property
    def others(self) -> str:
        """What is not shown, in words that go behind the number of files; empty when nothing was left out."""
        older = f"; {plural(self.older, 'older finding')} not shown" if self.older else ""
        if not self.left_out:
            return older
        names = ", ".join(printable(one) for one in self.left_out[:3])
        more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
        verb = "is no definition" if len(self.left_out) == 1 else "are no definitions"
        return f"; {plural(len(self.left_out), 'file')} that {verb}: {names}{more}{older}"

    @property
    def told(self) -> str:
        """The numbers in words: `1 error and 2 warnings in 3 files`, or `nothing found in 3 files`."""
        return f"{tally(self.counts) or 'nothing found'} in {plural(self.files, 'file')}{self.others}"

    def in_repository(self, path: str) -> str:
        """The path of a file as platforms know it: relative to the top of the repository, if it is below that."""
        from kiplint.sources.tree import in_repository

        return in_repository(path, self.sets)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.told}>"

    def __str__(self) -> str:
        lines = (
            f"{printable(one.path)}:{one.span.line}:{one.span.column}: {one.severity} {one.rule} {one.message}"
            for one in self.findings
        )
        return "\n".join((*lines, self.told))


IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."
"""How to ignore the findings of a rule, for `rule_infos`."""


def rule_infos(rules: Iterable[Rule], findings: Iterable[Finding], ignore: str) -> dict[str, RuleInfo]:
    """What there is to say of the rules of the findings; where a rule is there twice, the last counts.

    `ignore` tells how to be rid of them, with RULE for the rule.
    """
    wanted = {one.rule for one in findings}
    return {rule.id: _info(rule, ignore.replace("RULE", rule.id)) for rule in rules if rule.id in wanted}


def _info(rule: Rule, ignore: str) -> RuleInfo:
    level = rule.severity if rule.severity != "off" else rule.spec.on
    return RuleInfo(
        title=rule.title,
        why=rule.spec.why,
        source=rule.source,
        severity=level if level != "off" else "info",
        help=f"`kiplint explain {rule.id}` shows it broken and kept. {ignore}".rstrip(),
        url=url_of(rule),
    )


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """The fingerprint of each finding; the second that has one in common with an earlier gets `:2` after it."""
    seen: Counter[str] = Counter()
    for one in findings:
        found = one.fingerprint
        seen[found] += 1
        yield found if seen[found] == 1 else f"{found}:{seen[found]}"


def at_least(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are at least as severe as `fail_on`; none for `never`. Raises UsageError for another level."""
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on: {printable(fail_on)} is not one of {', '.join(get_args(FailOn))}")
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(finding for finding in findings if finding.severity in grave)
