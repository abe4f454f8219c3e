"""Comments that suppress findings.

`// kiplint: ignore[tags/gap, style] reason` applies to the code before it on its line, or else of the next line with
code; `// kiplint: ignore-file[style] reason`, before the definition begins, of the whole file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet, no_match, rule_ids_by_selector
from kiplint.limits import DEFINITION_GLOBS, SUGGESTIONS
from kiplint.text.decode import Comment, Problem, blank_comments, comments
from kiplint.text.lines import Lines
from kiplint.text.show import printable, quoted
from kiplint.text.words import comma_parts, is_glob

Target = int | None
"""The 1-based line that a comment applies to; None for the whole file."""


class Suppression(msgspec.Struct, frozen=True):
    """A comment that suppresses findings on its target.

    `selectors` are rules, packs or globs as they are written; `start` and `end` span the comment in characters.
    """

    selectors: tuple[str, ...]
    reason: str
    target: Target
    start: int
    end: int


def apply_ignores(text: str, findings: list[Finding], rules: RuleSet) -> tuple[list[Finding], list[Problem]]:
    """The findings of a file that none of the comments in its `text` ignores, and the problems of these comments."""
    suppressions, problems = parse_suppressions(text)
    if not suppressions:
        return findings, problems
    all_selectors = {selector for suppression in suppressions for selector in suppression.selectors}
    ids_by_selector = rule_ids_by_selector(all_selectors, rules.all_rules)
    ids_by_target: dict[Target, set[str]] = {}
    for suppression in suppressions:
        ids = ids_by_target.setdefault(suppression.target, set())
        for selector in suppression.selectors:
            ids |= ids_by_selector[selector]

    remaining_findings = []
    used_ignores: set[tuple[Target, str]] = set()
    for finding in findings:
        file_and_line = (None, finding.line)
        targets = [target for target in file_and_line if finding.rule in ids_by_target.get(target, ())]
        used_ignores.update((target, finding.rule) for target in targets)
        if not targets:
            remaining_findings.append(finding)
    unused = _unused(suppressions, ids_by_selector, used_ignores, rules)
    return remaining_findings, [*problems, *unused]


def _unused(
    suppressions: Iterable[Suppression],
    ids_by_selector: Mapping[str, frozenset[str]],
    used_ignores: set[tuple[Target, str]],
    rules: RuleSet,
) -> Iterator[Problem]:
    """A problem for each selector that means no rule, and for each suppression that ignores nothing its rules found.

    `used_ignores` has a pair of target and rule id for each finding that is ignored.
    """
    ids_that_run = {rule.id for rule in rules.rules}
    # A comment that may accept a change is for `diff` and `review` to judge.
    change_ids = {rule.id for rule in rules.all_rules if rule.each == "change"}
    told_count = 0
    for suppression in suppressions:
        ids = {rule_id for selector in suppression.selectors for rule_id in ids_by_selector[selector]}
        unknown_selectors = [selector for selector in suppression.selectors if not ids_by_selector[selector]]
        for selector in unknown_selectors:
            told_count += 1  # the search for near names takes long
            has_hint = told_count <= SUGGESTIONS
            detail = no_match(selector, rules.all_rules) if has_hint else f"no rule matches {printable(selector)}"
            yield Problem("unused-ignore", detail, "", suppression.start, suppression.end)
        is_used = any((suppression.target, rule_id) in used_ignores for rule_id in ids)
        is_judged = bool(ids & ids_that_run) and ids.isdisjoint(change_ids)
        if not is_used and not unknown_selectors and is_judged:
            detail = f"nothing here violates {', '.join(suppression.selectors)}; remove the comment"
            yield Problem("unused-ignore", detail, "", suppression.start, suppression.end, removable=True)


_MARK: Final = "kiplint:"
_DIRECTIVE: Final = re.compile(r"kiplint:[ \t]*+(?P<word>[^\s\[]*+)[ \t]*+(?P<rest>.*)", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"\[(?P<selectors>[^\]]*+)\](?P<reason>.*)", re.DOTALL)
_CODE_TO_LINE_END: Final = re.compile(r"[^\s\ufeff][^\r\n]*+")


class _MalformedError(Exception):
    """A comment that begins like an ignore comment but is not valid; the text says what is wrong with it."""


def parse_suppressions(text: str) -> tuple[list[Suppression], list[Problem]]:
    """The suppressions in the comments of a text (as `decode_text` gives it), and their `malformed-ignore` problems."""
    if _MARK not in text:
        return [], []
    lines = Lines(text)
    code = Lines(blank_comments(text.encode()).decode())  # with the same lines as `text`
    lines_with_code = [code.line_of(match.start()) for match in _CODE_TO_LINE_END.finditer(code.text)]
    suppressions: list[Suppression] = []
    problems: list[Problem] = []
    globs: set[str] = set()
    for comment in comments(text):
        if not comment.body.startswith(_MARK):
            continue
        try:
            suppression = _read_comment(comment, lines.line_of(comment.start), lines_with_code)
            globs.update(filter(is_glob, suppression.selectors))
            if len(globs) > DEFINITION_GLOBS:
                raise _MalformedError(
                    f"more than {DEFINITION_GLOBS:,} selectors with wildcards in one file; name the rules"
                )
            suppressions.append(suppression)
        except _MalformedError as error:
            problems.append(Problem("malformed-ignore", str(error), "", comment.start, comment.end))
    return suppressions, problems


def _read_comment(comment: Comment, line: int, lines_with_code: Sequence[int]) -> Suppression:
    """The suppression in a comment on the 1-based `line`; `lines_with_code` are sorted. Raises _MalformedError."""
    directive = _DIRECTIVE.fullmatch(comment.body)
    word = directive["word"] if directive else ""
    if directive is None or word not in ("ignore", "ignore-file"):
        what = f"unknown word {quoted(word, single=True)}" if word else "nothing"
        raise _MalformedError(f"{what} after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]")
    if comment.block:
        raise _MalformedError(f"{word} in a block comment; write it after //")
    arguments = _ARGUMENTS.fullmatch(directive["rest"])
    selectors = tuple(comma_parts([arguments["selectors"]])) if arguments else ()
    if arguments is None or not selectors:
        raise _MalformedError(f"{word} names no rule; write {word}[RULE] and a reason")
    reason = arguments["reason"].strip().strip("-:, \t")
    if not reason:
        raise _MalformedError(f"{word} of {quoted(', '.join(selectors))} gives no reason; add one after the brackets")
    if word == "ignore-file":
        if lines_with_code and lines_with_code[0] <= line:
            raise _MalformedError("ignore-file after the start of the definition; move it to the top")
        return Suppression(selectors, reason, None, comment.start, comment.end)
    next_index = bisect_left(lines_with_code, line)
    if next_index == len(lines_with_code):
        raise _MalformedError("ignore at the end of the file, where nothing follows it")
    return Suppression(selectors, reason, lines_with_code[next_index], comment.start, comment.end)
