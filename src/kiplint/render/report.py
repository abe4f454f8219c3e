"""The results of runs, which every format writes, and the rules of their findings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeVar, get_args

import msgspec

from kiplint.compat.change import ChangeFinding
from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.engine.rule import Rule
from kiplint.render.formats import Writer
from kiplint.sources.built_in import find_release
from kiplint.sources.built_in import title as release_title
from kiplint.sources.disk import path_in_repository
from kiplint.text.show import printable
from kiplint.text.words import first_of, plural, tally

AnyFinding = TypeVar("AnyFinding", bound=Finding)
Status = Literal["ok", "findings", "error"]
"""How a run went."""

MOST_EXCEPTIONS: Final = 3


class Verdict(NamedTuple):
    """The conclusion of a run: a sentence, at most `MOST_EXCEPTIONS` exceptions with reasons, and what to do next."""

    sentence: str
    exceptions: tuple[str, ...] = ()
    step: str = ""

    @classmethod
    def of(cls, sentence: str, exceptions: Iterable[str] = (), step: str = "") -> Verdict:
        """A verdict with the first exceptions, and `and 2 more` in the place of the others."""
        texts = list(exceptions)
        if len(texts) > MOST_EXCEPTIONS:
            texts[MOST_EXCEPTIONS:] = [f"and {len(texts) - MOST_EXCEPTIONS} more"]
        return cls(sentence, tuple(texts), step)


def set_titles(*names: str) -> list[str]:
    """The sets as a title names them: without the directories that they share at the beginning and at the end.

    `kafka/4.0/message` and `kafka/4.1/message` are `4.0` and `4.1`; a revision such as `4.0.0:` loses its colon, and
    the release `4.0` is `Apache Kafka 4.0.2 (built in)` unless there is a file of that name.
    """
    releases = {name: find_release(name) for name in names if not os.path.lexists(name)}
    names = tuple(release_title(release) if (release := releases.get(name)) else name for name in names)
    names = tuple(os.path.abspath(name) if name in (".", "./") else name.removesuffix(":") for name in names)
    paths = [name.replace(os.sep, "/").split("/") for name in names]
    if len(set(names)) > 1:
        shared = _shared_items(paths)
        paths = [path[shared:] for path in paths]
        shared = _shared_items([path[::-1] for path in paths])
        paths = [path[: len(path) - shared] for path in paths]
    return [printable("/".join(path)) for path in paths]


def _shared_items(rows: Sequence[Sequence[str]]) -> int:
    """How many items all rows have in common at their start, without the last item of the shortest row."""
    most = min(len(row) for row in rows) - 1
    for index in range(most):
        if len({row[index] for row in rows}) > 1:
            return index
    return most


class FindingsSummary(msgspec.Struct, frozen=True):
    """The numbers of a report."""

    files: int
    messages: int
    errors: int
    warnings: int
    infos: int


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    status: Status = "ok"
    """`ok`, `findings`, or `error` if files could not be read. It decides the exit code of the command."""
    unparsable: tuple[str, ...] = ()
    """The paths of the files that could not be read."""
    notes: tuple[str, ...] = ()
    """Notes for people, such as a warning about a name that nothing matches."""

    command: ClassVar[str] = ""
    """The command that has such results; empty for results that are not about files."""

    list_attribute: ClassVar[str] = "findings"
    """The attribute of the `document` that is the list whose items JSON Lines writes, an item a line."""

    unparsable_are: ClassVar[str] = "skipped"
    """What the command does with a file that cannot be read."""

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The command's own writers, by format.

        All others are formats of findings, and JSON is the `document`.
        """
        return {}

    @property
    def document(self) -> Any:
        """The content of the JSON output, a frozen Struct."""
        raise NotImplementedError(type(self).__name__)


class Report(RunResult, frozen=True):
    """The result of a run that reports findings. Every format of findings can write it."""

    findings: tuple[Finding, ...]
    """The findings, in the order to show them."""
    files: int = 0
    """The number of files that were checked."""
    messages: int = 0
    """The number of messages that were checked."""
    sources: Mapping[str, bytes] = {}
    """The bytes of every file that has findings, by path."""
    sets: tuple[str, ...] = ()
    """The names of the sets, as the caller wrote them."""
    rules: Mapping[str, Rule] = {}
    """The rules by id, those of the findings among them."""
    paths: tuple[str, ...] = ()
    """The paths of the checked files, where they are known."""
    harmless: tuple[Severity, ...] = ()
    """The severities that need no action."""
    left_out: tuple[str, ...] = ()
    """JSON files next to the definitions that are not definitions."""
    whole: bool = False
    """Whether text also lists infos and, on a terminal, shows every error with its line."""
    accepted: tuple[ChangeFinding, ...] = ()
    """The changes that somebody accepted with a reason, which fail nothing and are not among the findings."""
    older: int = 0
    """How many findings are not shown, because they were there before the change that is checked."""

    unparsable_are = "not compared"

    always_has_verdict: ClassVar[bool] = False
    """Whether the Markdown begins with the verdict also when there are no findings."""

    @property
    def counts(self) -> Counter[str]:
        """How many findings there are of each severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that every summary has, as the JSON output names them."""
        counts = {f"{severity}s": self.counts[severity] for severity in SEVERITIES}
        return {"files": self.files, "messages": self.messages, **counts}

    @property
    def summary(self) -> dict[str, int]:
        """The `numbers`, and how many files are `left_out` and how many findings are `older`, if it is not 0."""
        optional_numbers = {"left_out": len(self.left_out), "older": self.older}
        return self.numbers | {name: number for name, number in optional_numbers.items() if number}

    @property
    def omissions(self) -> str:
        """`; 2 files that are not definitions: a.json, b.json; 3 older findings not shown`, as far as there are any."""
        older = f"; {plural(self.older, 'older finding')} not shown" if self.older else ""
        if not self.left_out:
            return older
        names = first_of([*map(printable, self.left_out)], 3)
        verb = "is not a definition" if len(self.left_out) == 1 else "are not definitions"
        return f"; {plural(len(self.left_out), 'file')} that {verb}: {names}{older}"

    @property
    def accepted_in_words(self) -> str:
        """`; 2 accepted`; empty if there are none."""
        return f"; {len(self.accepted):,} accepted" if self.accepted else ""

    @property
    def closing(self) -> str:
        """The last line of a run without findings; empty in subclasses whose output says that there are none."""
        if not self.files:
            return "nothing was checked: there is no definition, or the configuration excludes all"
        return f"{plural(self.files, 'file')} checked, no findings"

    @property
    def headline(self) -> str:
        """The numbers in words: `1 error and 2 warnings in 3 files`, or `nothing found in 3 files`."""
        return f"{tally(self.counts) or 'nothing found'} in {plural(self.files, 'file')}{self.omissions}"

    @property
    def verdict(self) -> Verdict:
        """The conclusion of the run, for every format that people read."""
        return Verdict.of(f"{self.headline[:1].upper()}{self.headline[1:]}.", step=self.fix_hint)

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The command that applies the safe fixes, and the one that applies the others too."""
        return "`kiplint check --fix`", "`kiplint check --fix --unsafe-fixes`"

    @property
    def fix_hint(self) -> str:
        """The sentence `2 fixable with ..., 1 more to fix and review with ...`; empty if no finding has a fix."""
        return f"{', '.join(self.fix_hints.values())}." if self.fix_hints else ""

    @property
    def fix_hints(self) -> dict[Literal["safe", "unsafe"], str]:
        """For each applicability of the fixes: how many findings have one, and the command: `2 fixable with ...`."""
        counts = Counter(finding.fix.applicability for finding in self.findings if finding.fix)
        command_for_safe, command_for_all = self.fix_commands
        parts: dict[Literal["safe", "unsafe"], str] = {}
        if counts["safe"]:
            parts["safe"] = f"{counts['safe']:,} fixable with {command_for_safe}"
        if counts["unsafe"]:
            more = "more " if parts else ""
            parts["unsafe"] = f"{counts['unsafe']:,} {more}fixable with {command_for_all} (review the result)"
        return parts

    @property
    def unlisted_hint(self) -> str:
        """`; --all lists the infos`, if there are infos that text only counts; empty if text lists every finding."""
        return "" if all(map(self.is_listed, self.findings)) else "; --all lists the infos"

    def is_listed(self, finding: Finding) -> bool:
        """Whether text lists a finding, rather than counting it."""
        return self.whole or finding.severity != "info"

    def path_in_repository(self, path: str) -> str:
        """The path of a file relative to the top of its repository, as GitHub and GitLab expect it, or the path."""
        return path_in_repository(path, self.sets)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def __str__(self) -> str:
        lines = (
            f"{printable(finding.path)}:{finding.line}:{finding.column}: "
            f"{finding.severity} {finding.rule} {finding.message}"
            for finding in self.findings
        )
        return "\n".join((*lines, self.headline))


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """The fingerprint of each finding; a second finding with the same one gets `:2` after it."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.fingerprint] += 1
        count = counts[finding.fingerprint]
        yield finding.fingerprint if count == 1 else f"{finding.fingerprint}:{count}"


def rank(findings: Iterable[AnyFinding]) -> list[AnyFinding]:
    """Findings in the order in which people read them: by severity, then by location."""
    return sorted(findings, key=lambda item: (SEVERITIES.index(item.severity), item.path, item.line, item.column))


def at_least(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are at least as severe as `fail_on`; none for `never`. Raises UsageError for any other word."""
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on: {printable(fail_on)} is not one of {', '.join(get_args(FailOn))}")
    failing_severities = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(finding for finding in findings if finding.severity in failing_severities)
