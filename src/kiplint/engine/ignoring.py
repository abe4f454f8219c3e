"""Which findings of a file its ignore comments speak of, and which comments speak of none.

Every selector is looked up once, and every finding once, however many comments there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kiplint.engine.finding import Finding
from kiplint.engine.selection import matching
from kiplint.text.problem import Problem
from kiplint.text.show import printable
from kiplint.text.suppress import Suppression

Target = int | None
"""The line that a comment speaks of; None for the whole file."""


class Ignores:
    """The ignore comments of one file; `known` are the ids of all rules, `running` those of the rules that run."""

    def __init__(self, comments: Iterable[Suppression], known: Iterable[str], running: Iterable[str]) -> None:
        self._comments = tuple(comments)
        selectors = {selector for one in self._comments for selector in one.selectors}
        self._rules = matching(selectors, known) if selectors else {}
        self._running = frozenset(running if selectors else ())
        self._ignored: dict[Target, set[str]] = {}
        for one in self._comments:
            self._ignored.setdefault(one.target, set()).update(*(self._rules[name] for name in one.selectors))
        self._hit: set[tuple[Target, str]] = set()

    def cover(self, finding: Finding) -> bool:
        """Whether a comment speaks of the finding; remembers that it did."""
        targets = [one for one in (None, finding.span.line) if finding.rule in self._ignored.get(one, ())]
        self._hit.update((one, finding.rule) for one in targets)
        return bool(targets)

    def useless(self) -> Iterator[Problem]:
        """The comments that covered nothing; one whose rules do not run now may still cover something when they do."""
        for one in self._comments:
            rules = [self._rules[name] for name in one.selectors]
            if any((one.target, rule) in self._hit for group in rules for rule in group):
                continue
            unknown = next((name for name, group in zip(one.selectors, rules, strict=True) if not group), None)
            if unknown is not None:
                yield _unused(one, f"no rule matches {printable(unknown)}")
            elif any(not self._running.isdisjoint(group) for group in rules):
                told = f"nothing here breaks {', '.join(one.selectors)}; drop the comment"
                yield _unused(one, told, spare=True)


def _unused(comment: Suppression, detail: str, *, spare: bool = False) -> Problem:
    return Problem("unused-ignore", detail, "", comment.start, comment.end, spare=spare)
