"""Comments that suppress findings.

`// kiplint: ignore[tags/gap, style] reason` applies to the code before it on its line, or else of the next line with
code; `// kiplint: ignore-file[style] reason`, before the definition begins, of the whole file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

import msgspec

from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet, matching
from kiplint.limits import DEFINITION_GLOBS
from kiplint.text.decode import Comment, Problem, blank_comments, comments
from kiplint.text.lines import Lines
from kiplint.text.show import printable, show, show_raw
from kiplint.text.words import comma_parts, is_glob

Target = int | None
"""The line that a comment applies to; None for the whole file."""


def apply_ignores(
    suppressions: Suppressions, findings: Iterable[Finding], rules: RuleSet
) -> tuple[list[Finding], list[Problem]]:
    """The findings of a file that no comment ignores, and the problems of the comments.

    Useless are those that matched no finding, except those whose rules do not run now.
    """
    selectors = {selector for comment in suppressions.items for selector in comment.selectors}
    if not selectors:
        return list(findings), [*suppressions.problems]
    rules_by_selector = matching(selectors, (rule.id for rule in rules.all_rules))
    ids_by_target: dict[Target, set[str]] = {}
    for comment in suppressions.items:
        ids = ids_by_target.setdefault(comment.target, set())
        ids.update(*(rules_by_selector[selector] for selector in comment.selectors))
    remaining_findings: list[Finding] = []
    ignored_rules: set[tuple[Target, str]] = set()
    for finding in findings:
        targets = [line for line in (None, finding.line) if finding.rule in ids_by_target.get(line, ())]
        ignored_rules.update((line, finding.rule) for line in targets)
        remaining_findings += [] if targets else [finding]
    problems = [*suppressions.problems]
    running = frozenset(rule.id for rule in rules.rules)
    for comment in suppressions.items:
        groups = [rules_by_selector[selector] for selector in comment.selectors]
        if any((comment.target, rule) in ignored_rules for group in groups for rule in group):
            continue
        if not all(groups):
            unknown = next(selector for selector in comment.selectors if not rules_by_selector[selector])
            problems.append(_unused_ignore(comment, f"no rule matches {printable(unknown)}"))
        elif not running.isdisjoint(rule for group in groups for rule in group):
            detail = f"nothing here breaks {', '.join(comment.selectors)}; drop the comment"
            problems.append(_unused_ignore(comment, detail, removable=True))
    return remaining_findings, problems


def _unused_ignore(comment: Suppression, detail: str, *, removable: bool = False) -> Problem:
    return Problem("unused-ignore", detail, "", comment.start, comment.end, removable=removable)


_MARK: Final = "kiplint:"
_DIRECTIVE: Final = re.compile(r"kiplint:[ \t]*+(?P<word>[^\s\[]*+)[ \t]*+(?P<rest>.*)", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"\[(?P<selectors>[^\]]*+)\](?P<reason>.*)", re.DOTALL)
_CODE: Final = re.compile(r"[^\s\ufeff][^\r\n]*+")
"""Code, up to the end of its line."""


class Suppression(msgspec.Struct, frozen=True):
    """One request not to show findings.

    `selectors` are as written (rules, packs or globs); `target` is the 1-based line that it applies to, None for the
    whole file; `start` and `end` span the comment in characters.
    """

    selectors: tuple[str, ...]
    reason: str
    target: Target
    start: int
    end: int


class Suppressions(msgspec.Struct, frozen=True):
    """The suppressions of a file in text order, and its `malformed-ignore` problems."""

    items: tuple[Suppression, ...] = ()
    problems: tuple[Problem, ...] = ()


def parse_suppressions(text: str) -> Suppressions:
    """What the comments of a text (as `decode_text` gives it) suppress. Costs nothing when none of them tries to."""
    if _MARK not in text:
        return Suppressions()
    lines = Lines(text)
    code = Lines(blank_comments(text.encode()).decode())
    code_lines = [code.line_of(match.start()) for match in _CODE.finditer(code.text)]
    items: list[Suppression] = []
    problems: list[Problem] = []
    patterns: set[str] = set()
    for comment in comments(text):
        if not comment.body(text).startswith(_MARK):
            continue
        line = lines.line_of(comment.start)
        item = _suppression(comment, text, line, code_lines)
        if isinstance(item, Suppression):
            patterns.update(filter(is_glob, item.selectors))
            if len(patterns) > DEFINITION_GLOBS:
                item = f"over {DEFINITION_GLOBS:,} selectors with wildcards in one file; name the rules"
        if isinstance(item, Suppression):
            items.append(item)
        else:
            problems.append(Problem("malformed-ignore", item, "", comment.start, comment.end))
    return Suppressions(tuple(items), tuple(problems))


def _suppression(comment: Comment, text: str, line: int, code_lines: list[int]) -> Suppression | str:
    """What a comment on a line suppresses, or what is wrong with it; `code_lines` are the lines with code."""
    directive = _DIRECTIVE.fullmatch(comment.body(text))
    word = directive["word"] if directive else ""
    if directive is None or word not in ("ignore", "ignore-file"):
        what = f"unknown word {show_raw(word)}" if word else "nothing"
        return f"{what} after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]"
    if comment.block:
        return f"{word} in a block comment; write it after //"
    arguments = _ARGUMENTS.fullmatch(directive["rest"])
    selectors = tuple(comma_parts([arguments["selectors"]])) if arguments else ()
    if arguments is None or not selectors:
        return f"{word} names no rule; write {word}[RULE] and a reason"
    reason = arguments["reason"].strip().lstrip("-:, \t")
    if not reason:
        return f"{word} of {show(', '.join(selectors))} gives no reason; write one after the brackets"
    if word == "ignore-file":
        if code_lines and code_lines[0] <= line:
            return "ignore-file after the definition begins; write it at the top"
        return Suppression(selectors, reason, None, comment.start, comment.end)
    following = bisect_left(code_lines, line)
    if following == len(code_lines):
        return "ignore at the end of the file, where nothing follows it"
    return Suppression(selectors, reason, code_lines[following], comment.start, comment.end)
