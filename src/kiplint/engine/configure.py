"""The configuration of a run: found upwards, read, and changed by what was asked for."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, TypedDict, Unpack

import msgspec

from kiplint.engine.config import Config, find_config, make_config, place_of, read_config
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet, Spares, check_selector, load_rules, make_ruleset, matches
from kiplint.text.files import fits
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean

Path = str | os.PathLike[str]
"""What may be given where a file, a directory or a set is named."""


class Chosen(TypedDict, total=False):
    """Which rules run, and how bad it is to break them.

    `select` and `ignore` are selectors: a rule, a pack, a glob; `severity` is by rule. They go over `config`: the path
    of a configuration, or what would stand in one; without it the one that is found upwards from the set counts.
    """

    select: Sequence[str]
    ignore: Sequence[str]
    severity: Mapping[str, str]
    config: Path | Mapping[str, Any] | None


class Configuration(msgspec.Struct, frozen=True):
    """A configuration, what was asked for applied; its paths are relative to `base`, and it may come from a `file`."""

    config: Config
    base: str
    file: str | None
    asked: frozenset[str]

    def known(self) -> list[Rule]:
        """All rules there are."""
        return load_rules(self.config, self.base)

    def rules(self) -> RuleSet:
        """The rules that run; what is wrong with a selector out of the configuration is told with its place there."""
        known = self.known()
        ignores = self.config.per_file_ignores
        try:
            for selector in dict.fromkeys(selector for selectors in ignores.values() for selector in selectors):
                check_selector(selector, known)
            made = make_ruleset(self.config, known)
            return RuleSet(made.rules, made.known, self._spared()) if ignores else made
        except UsageError as error:
            if not self.file or not error.word or error.word in self.asked:
                raise
            raise UsageError(f"{self._place(error.word)}{error}") from None

    def misnamed(self, rules: RuleSet, names: Collection[str]) -> tuple[str, ...]:
        """A line for each RPC or message that a parameter of a rule names, and that none of these messages is."""
        if not self.config.rules:
            return ()
        from kiplint.engine.config import misnamed

        return tuple(
            printable(f"warning: {self._place(name.word)}the parameter {name.param} of {name.rule}: {name.detail}")
            for name in misnamed(rules.known, names)
        )

    def _place(self, word: str) -> str:
        return f"{place_of(word, self.file)}: " if self.file else ""

    def keeps(self, path: str) -> bool:
        """Whether a path is not excluded."""
        globs = self.config.exclude
        return not (globs and any(_fits(self._names(path), glob) for glob in globs))

    def _spared(self) -> Spares:
        """Whether a file is spared a rule; every path and every rule is looked at once."""
        ignores = self.config.per_file_ignores

        @cache
        def names_for(path: str) -> frozenset[str]:
            known = self._names(path)
            return frozenset(name for glob, names in ignores.items() if _fits(known, glob) for name in names)

        @cache
        def fits_one(names: frozenset[str], rule: str) -> bool:
            return any(matches(name, rule) for name in names)

        return lambda path, rule: fits_one(names_for(path), rule)

    def _names(self, path: str) -> tuple[str, str]:
        """A path as globs may mean it: relative to the configuration, if it is below that, and in full."""
        full = os.path.realpath(path)
        inner = os.path.relpath(full, self.base) if full.startswith(os.path.join(self.base, "")) else full
        return inner.replace(os.sep, "/"), full.replace(os.sep, "/")


def _fits(names: tuple[str, str], glob: str) -> bool:
    inner, full = names
    return fits(inner, glob) or fits(f"/{inner}", glob) or (os.path.isabs(glob) and fits(full, glob))


def configure(start: str = ".", **chosen: Unpack[Chosen]) -> Configuration:
    """The configuration of a run that looks at `start`, a path. Raises UsageError where it cannot be read."""
    for name in chosen.keys() - Chosen.__annotations__.keys():
        raise TypeError(f"unexpected keyword argument {name!r}{did_you_mean(name, [*Chosen.__annotations__])}")
    for name in ("select", "ignore"):
        if isinstance(chosen.get(name), str):
            raise TypeError(f"{name}: expected a list of selectors, got str")
    values = chosen.get("config")
    file = None
    if isinstance(values, Mapping):
        config = _made(values)
    else:
        folder = start if os.path.isdir(start) else os.path.dirname(start)
        file = os.fspath(values) if values else find_config(folder)
        config = read_config(file) if file else Config()
    select, ignore, severity = chosen.get("select", ()), chosen.get("ignore", ()), chosen.get("severity", {})
    config.select = list(select) or config.select
    config.ignore = [*config.ignore, *ignore]
    config.severity = {**config.severity, **severity}  # type: ignore[dict-item]
    base = os.path.dirname(os.path.realpath(file)) if file else os.getcwd()
    return Configuration(config, base, file, frozenset((*select, *ignore, *severity)))


def _made(values: Mapping[str, Any]) -> Config:
    try:
        msgspec.convert(values, Config)
        return make_config(values)
    except msgspec.ValidationError as error:
        raise UsageError(f"the configuration: {error}") from None
