"""Comments that suppress findings.

`// kiplint: ignore[tags/gap, style] reason` applies to the code before it on its line, or else of the next line with
code; `// kiplint: ignore-file[style] reason`, before the definition begins, of the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import matching
from kiplint.limits import DEFINITION_GLOBS
from kiplint.text.decode import Comment, Problem, blank_text, comments
from kiplint.text.lines import BOM, Lines
from kiplint.text.show import printable, show, show_raw

Target = int | None
"""The line that a comment applies to; None for the whole file."""


class Ignores:
    """The ignore comments of one file; `rule_ids` are those of all rules, `running` those of the rules that run."""

    def __init__(self, comments: Iterable[Suppression], rule_ids: Iterable[str], running: Iterable[str]) -> None:
        self._comments = tuple(comments)
        selectors = {selector for comment in self._comments for selector in comment.selectors}
        self._rules = matching(selectors, rule_ids) if selectors else {}
        self._running = frozenset(running if selectors else ())
        self._targets: dict[Target, set[str]] = {}
        for comment in self._comments:
            self._targets.setdefault(comment.target, set()).update(*(self._rules[name] for name in comment.selectors))
        self._hit: set[tuple[Target, str]] = set()

    def cover(self, finding: Finding) -> bool:
        """Whether a comment applies to the finding; remembers that it did."""
        targets = [line for line in (None, finding.line) if finding.rule in self._targets.get(line, ())]
        self._hit.update((line, finding.rule) for line in targets)
        return bool(targets)

    def useless(self) -> Iterator[Problem]:
        """The problems of comments that matched no finding, except those whose rules do not run now."""
        for comment in self._comments:
            rules = [self._rules[name] for name in comment.selectors]
            if any((comment.target, rule) in self._hit for group in rules for rule in group):
                continue
            unknown = next((name for name, group in zip(comment.selectors, rules, strict=True) if not group), None)
            if unknown is not None:
                yield _unused_ignore(comment, f"no rule matches {printable(unknown)}")
            elif any(not self._running.isdisjoint(group) for group in rules):
                detail = f"nothing here breaks {', '.join(comment.selectors)}; drop the comment"
                yield _unused_ignore(comment, detail, removable=True)


def _unused_ignore(comment: Suppression, detail: str, *, removable: bool = False) -> Problem:
    return Problem("unused-ignore", detail, "", comment.start, comment.end, removable=removable)


_MARK: Final = "kiplint:"
_DIRECTIVE: Final = re.compile(r"kiplint:[ \t]*+(?P<word>[^\s\[]*+)[ \t]*+(?P<rest>.*)", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"\[(?P<selectors>[^\]]*+)\](?P<reason>.*)", re.DOTALL)
_CODE: Final = re.compile(r"\S")
_WILDCARD: Final = re.compile(r"[*?\[]")


class Suppression(msgspec.Struct, frozen=True):
    """One request not to show findings.

    `selectors` are as written (rules, packs or globs); `line` is the comment's own 1-based line, `target` the line that
    it applies to, None for the whole file; `start` and `end` span the comment in characters.
    """

    selectors: tuple[str, ...]
    reason: str
    line: int
    target: int | None
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
    items = list(_limit_globs(_Reader(text).read()))
    return Suppressions(
        tuple(item for item in items if isinstance(item, Suppression)),
        tuple(item for item in items if isinstance(item, Problem)),
    )


def _limit_globs(items: Iterable[Suppression | Problem]) -> Iterator[Suppression | Problem]:
    """The same, but with a problem for each comment that has wildcards beyond `DEFINITION_GLOBS`."""
    patterns: set[str] = set()
    for item in items:
        if isinstance(item, Suppression):
            patterns.update(filter(_WILDCARD.search, item.selectors))
            if len(patterns) > DEFINITION_GLOBS:
                detail = f"over {DEFINITION_GLOBS:,} selectors with wildcards in one file; name the rules"
                yield Problem("malformed-ignore", detail, "", item.start, item.end)
                continue
        yield item


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._code = blank_text(text)
        self._lines = Lines(text)
        first = _CODE.search(self._code, 1 if text.startswith(BOM) else 0)
        self._begin = first.start() if first else len(text)

    def read(self) -> Iterator[Suppression | Problem]:
        following: int | None = None
        items: list[Suppression | Problem] = []
        upper = len(self._text)
        # From the last to the first: each comment then looks for code no further than to the next comment.
        for comment in reversed(list(comments(self._text))):
            code = _CODE.search(self._code, comment.end, upper)
            following = code.start() if code else following
            upper = comment.start
            if comment.body(self._text).startswith(_MARK):
                items.append(self._directive(comment, following))
        return reversed(items)

    def _directive(self, comment: Comment, following: int | None) -> Suppression | Problem:
        directive = _DIRECTIVE.fullmatch(comment.body(self._text))
        word = directive["word"] if directive else ""
        if directive is None or word not in {"ignore", "ignore-file"}:
            what = f"unknown word {show_raw(word)}" if word else "nothing"
            return self._problem(comment, f"{what} after 'kiplint:'; write ignore[RULE] or ignore-file[RULE]")
        if comment.block:
            return self._problem(comment, f"{word} in a block comment; write it after //")
        arguments = _ARGUMENTS.fullmatch(directive["rest"])
        parts = arguments["selectors"].split(",") if arguments else []
        selectors = tuple(part.strip() for part in parts if part.strip())
        if arguments is None or not selectors:
            return self._problem(comment, f"{word} names no rule; write {word}[RULE] and a reason")
        reason = arguments["reason"].strip().lstrip("-:, \t")
        if not reason:
            selector_text = show(", ".join(selectors))
            return self._problem(comment, f"{word} of {selector_text} gives no reason; write one after the brackets")
        return self._suppression(comment, word, selectors, reason, following)

    def _suppression(
        self, comment: Comment, word: str, selectors: tuple[str, ...], reason: str, following: int | None
    ) -> Suppression | Problem:
        line = self._lines.line_of(comment.start)
        target: int | None = None
        if word == "ignore-file":
            if comment.start > self._begin:
                return self._problem(comment, "ignore-file after the definition begins; write it at the top")
        elif self._code[self._lines.starts[line - 1] : comment.start].strip(" \t" + BOM):
            target = line
        elif following is None:
            return self._problem(comment, "ignore at the end of the file, where nothing follows it")
        else:
            target = self._lines.line_of(following)
        return Suppression(selectors, reason, line, target, comment.start, comment.end)

    def _problem(self, comment: Comment, detail: str) -> Problem:
        return Problem("malformed-ignore", detail, "", comment.start, comment.end)
