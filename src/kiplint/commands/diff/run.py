"""Comparing two trees of sets."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar, Unpack

from msgspec.structs import replace

from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import BREAKS, GRAVE, Judged, judge
from kiplint.compat.tree import Tree, broken, load, load_base
from kiplint.engine.config import Config
from kiplint.engine.configure import Chosen, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.model.message import Message
from kiplint.render.report import Report, rule_infos
from kiplint.sources.open import STDIN
from kiplint.text.words import did_you_mean


class DiffResult(Report, frozen=True):
    """What `diff` found: the changes, and each as a finding too."""

    changes: tuple[Judged, ...] = ()

    command = "diff"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.diff.text",
        "json": "kiplint.commands.diff.result",
        "markdown": "kiplint.commands.diff.markdown",
        "html": "kiplint.commands.diff.page",
    }


def diff(
    old: Path,
    new: Path,
    *,
    also: Sequence[Path] = (),
    fail_on_breaks: Collection[str] = GRAVE,
    messages: Collection[str] = (),
    repository: Path | None = None,
    **chosen: Unpack[Chosen],
) -> DiffResult:
    """What changed from one set to another, and what that breaks; the tags of sets in `also` must not come back.

    With `messages`, globs of names of messages or RPCs, only what changed in these. Where one of the two is a single
    file, only what changed in its message.
    The status is `findings` when a change breaks one of `fail_on_breaks`, or is an error. Raises UsageError for
    mistakes in the arguments, the configuration or a pack, and SourceError for what cannot be opened.
    """
    for one in sorted({*fail_on_breaks} - {*BREAKS}):
        raise UsageError(
            f"--fail-on-breaks: nothing breaks {one}{did_you_mean(one, BREAKS) or ': ' + ', '.join(BREAKS)}"
        )
    configuration = configure(os.fspath(new), **chosen)
    rules = configuration.rules()
    names = (old, new, *also)
    before = load_base(old, repository, configuration.keeps)
    trees = [before, *(load(name, repository, configuration.keeps) for name in names[1:])]
    notes = configuration.misnamed(rules, {one.name for tree in trees for one in tree.messages})
    return replace(_compare(names, trees, rules, fail_on_breaks, messages), notes=notes)


def diff_all(old: Path, new: Path, *, messages: Collection[str] = (), repository: Path | None = None) -> DiffResult:
    """The same, whatever rules the configuration selects: everything that comes with kiplint."""
    keeps, plain = configure(os.fspath(new)).keeps, Config()
    rules = make_ruleset(plain, load_rules(plain, ""))
    return _compare((old, new), [load(name, repository, keeps) for name in (old, new)], rules, GRAVE, messages)


def _chosen(globs: Collection[str], before: Tree, after: Tree) -> Callable[[Message | None], bool]:
    """Which messages are meant; raises UsageError for a glob that fits none."""
    if not globs:
        return lambda message: True

    def fits(message: Message | None, glob: str) -> bool:
        return message is not None and any(fnmatchcase(name, glob) for name in (message.name, message.base_name))

    for glob in globs:
        if not any(fits(one, glob) for tree in (before, after) for one in tree.messages):
            known = {name for one in after.messages for name in (one.name, one.base_name)}
            raise UsageError(f"--message {glob}: neither of the two has such a message{did_you_mean(glob, known)}")
    return lambda message: any(fits(message, glob) for glob in globs)


def _lone(before: Tree, after: Tree) -> Tree | None:
    """The side that is a single file where the other one is more: that has the rest too, so nothing else is gone."""
    single = [tree for tree in (before, after) if tree.name == STDIN or tree.name.lower().endswith(".json")]
    return single[0] if len(single) == 1 else None


def _compare(
    names: Sequence[Path], trees: Sequence[Tree], rules: RuleSet, grave: Collection[str], globs: Collection[str]
) -> DiffResult:
    before, after, *older = trees
    chosen = _chosen(globs, before, after)
    lone = _lone(before, after)
    found = compare_trees(before, after, older)
    if globs:
        found = [one for one in found if any(map(chosen, one.messages))]
    if lone:
        own = {id(message) for message in lone.messages}
        found = [one for one in found if any(id(message) in own for message in one.messages)]
    known = dict(ChainMap(*(dict(one.sources) for one in (before, *older))))
    changes = judge(found, rules, known, after.sources)
    if spares := rules.spares:
        changes = [one for one in changes if not spares(one.path, one.rule)]
    failing = any(one.breaks in grave or one.severity == "error" for one in changes)
    unread = broken(before, after)
    findings = tuple(map(as_finding, changes))
    return DiffResult(
        findings=findings,
        files=len(after.sources),
        messages=sum(map(chosen, (lone or after).messages)),
        sources={**before.sources, **after.sources},
        status="error" if unread else "findings" if failing else "ok",
        sets=tuple(os.fspath(one) for one in names[:2]),
        rules=rule_infos([*rules.known, *rules.rules], findings, "To ignore it: `--ignore RULE`."),
        before=tuple((one.old_path, one.old_span) if one.old_path and one.old_span else None for one in changes),
        paths=tuple(after.sources),
        broken=unread,
        harmless=("info",),
        changes=tuple(changes),
    )


def as_finding(one: Judged) -> Finding:
    """A change as a finding, for those that know only findings."""
    identity = "\0".join((one.rule, one.message_name, one.field, one.versions, one.kind))
    return Finding(
        rule=one.rule,
        severity=one.severity,
        message=one.message,
        path=one.path,
        span=one.span,
        pointer="",
        message_name=one.message_name,
        source=f"breaks {one.breaks}" if one.breaks != "none" else one.source,
        identity=identity,
    )
