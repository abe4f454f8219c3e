"""The configuration: `kiplint.toml`, `.kiplint.toml` or `[tool.kiplint]` in pyproject.toml, found upwards."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.engine.errors import UsageError, wrong_choice
from kiplint.engine.params import misnamed
from kiplint.engine.rule import Level, Rule
from kiplint.engine.ruleset import Ignores, RuleSet, check_selector, load_rules, make_ruleset, matches
from kiplint.limits import CONFIGURATIONS, DEFINITION_LEVELS
from kiplint.text.files import DISK, Disk, fits
from kiplint.text.show import printable
from kiplint.text.words import comma_parts, did_you_mean

FILES = ("kiplint.toml", ".kiplint.toml", "pyproject.toml")

Values = dict[str, Any]
"""The keys of a configuration file, and what they are set to."""

TESTS = "/src/test/resources/"
"""The directories of the messages that test Kafka's own generator."""

FailOn = Literal["error", "warning", "info", "never"]


class RuleTable(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one rule in a configuration."""

    params: Annotated[dict[str, Any], Meta(description="Values for the rule's parameters.")] = {}


class Config(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a configuration file."""

    extend: Annotated[
        str, Meta(description="Another configuration file, whose keys apply unless this file has them.")
    ] = ""
    select: Annotated[list[str], Meta(description='The rules to run: "default", "all", packs, rules, globs.')] = (
        msgspec.field(default_factory=lambda: ["default"])
    )
    ignore: Annotated[list[str], Meta(description="Rules not to run, whatever is selected.")] = []
    fail_on: Annotated[FailOn, Meta(description="The lowest severity that makes the run fail.")] = "error"
    rule_packs: Annotated[list[str], Meta(description="Your own rule packs: files in JSON or JSON5.")] = []
    baseline: Annotated[str, Meta(description="A file of known findings, which a check does not report.")] = ""
    exclude: Annotated[list[str], Meta(description="Globs of files to skip, relative to this file.")] = []
    released: Annotated[
        list[str],
        Meta(description="The releases: globs of tags, revisions or sets. Without any, the base is released."),
    ] = []
    per_file_ignores: Annotated[
        dict[str, list[str]],
        Meta(description="By glob of files, relative to this file: the rules not to run on them."),
    ] = {}
    severity: Annotated[dict[str, Level], Meta(description="Severity by rule, pack or glob.")] = {}
    rules: Annotated[dict[str, RuleTable], Meta(description="Parameters by rule.")] = {}


def config_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a configuration file."""
    schema = msgspec.json.schema(Config)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kiplint configuration", **schema}


Path = str | os.PathLike[str]
"""A file, a directory or a set, as an argument."""


def configure(
    start: str = ".",
    files: Disk = DISK,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    config: Path | Mapping[str, Any] | None = None,
    isolated: bool = False,
) -> Configuration:
    """The configuration of a run that looks at `start`, a path, as the `files` have it.

    `select` and `ignore` are selectors: rules, packs, globs, or lists of them with commas; `severity` is by selector.
    They go over `config`: the path of a configuration, or what would stand in one. Without it the configuration that is
    found upwards from `start` counts, unless the run is `isolated`. Raises UsageError where it cannot be read.
    """
    for name, selectors in (("select", select), ("ignore", ignore)):
        if isinstance(selectors, str):
            raise TypeError(f"{name}: expected a list of selectors, got str")
    select, ignore = comma_parts(select), comma_parts(ignore)
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    file = None
    if isinstance(config, Mapping):
        values = _convert(config, files)
    else:
        file = os.fspath(config) if config else None if isolated else find_config(folder, files)
        values = read_config(file, files) if file else Config()
    values.select = select or values.select
    values.ignore = [*values.ignore, *ignore]
    values.severity = {**values.severity, **severity}  # type: ignore[dict-item]
    base = os.path.dirname(files.real(file)) if file else os.getcwd()
    explicit = frozenset((*select, *ignore, *severity))
    return Configuration(values, base, file, explicit, files, entity_types_of_tree(folder, files))


def _convert(values: Mapping[str, Any], files: Disk) -> Config:
    try:
        msgspec.convert(values, Config)
        return make_config(values, files)
    except msgspec.ValidationError as error:
        raise UsageError(f"the configuration: {error}") from None


class Configuration(msgspec.Struct, frozen=True):
    """A configuration with the arguments applied; its paths are relative to `base`.

    `explicit` are the selectors of the arguments; all others come from `file`, one of the `files`.
    """

    config: Config
    base: str
    file: str | None
    explicit: frozenset[str]
    files: Disk = DISK
    entity_types: tuple[str, ...] = ()
    """The entity types that the generator of the checked tree has; empty where the tree has no generator."""

    def all_rules(self) -> list[Rule]:
        """All rules there are."""
        rules = load_rules(self.config, self.base, self.files)
        if not self.entity_types:
            return rules
        params = {"entity_types": [*self.entity_types]}
        return [
            replace(rule, params={**rule.params, **params}) if rule.id == "shape/unknown-enum-value" else rule
            for rule in rules
        ]

    def rules(self) -> RuleSet:
        """The rules that run. Raises UsageError; for a wrong selector of the file with its line there."""
        known_rules = self.all_rules()
        ignores = self.config.per_file_ignores
        try:
            for selector in dict.fromkeys(selector for selectors in ignores.values() for selector in selectors):
                check_selector(selector, known_rules)
            ruleset = make_ruleset(self.config, known_rules)
            quiet = frozenset(rule.id for rule in ruleset.rules if rule.spec.quiet)
            return RuleSet(ruleset.rules, ruleset.all_rules, self._ignores(quiet)) if ignores or quiet else ruleset
        except UsageError as error:
            if not self.file or not error.word or error.word in self.explicit:
                raise
            raise UsageError(f"{self._place(error.word)}{error}") from None

    def misnamed(self, rules: RuleSet, names: Collection[str]) -> tuple[str, ...]:
        """A line for each RPC or message that a parameter of a rule names, and that none of these messages is."""
        if not self.config.rules:
            return ()
        return tuple(
            printable(f"warning: {self._place(name.word)}the parameter {name.param} of {name.rule}: {name.detail}")
            for name in misnamed(rules.all_rules, names)
        )

    def _place(self, word: str) -> str:
        return f"{place_of(word, self.file, self.files)}: " if self.file else ""

    def keeps(self, path: str) -> bool:
        """Whether a path is not excluded."""
        globs = self.config.exclude
        return not (globs and any(_fits(self._names(path), glob) for glob in globs))

    def _ignores(self, quiet: Collection[str]) -> Ignores:
        """The test whether a file ignores a rule, as messages of tests ignore `quiet` ones; results are cached."""
        ignores = self.config.per_file_ignores

        @cache
        def selectors_of(path: str) -> frozenset[str]:
            names = self._names(path)
            selectors = {selector for glob, some in ignores.items() if _fits(names, glob) for selector in some}
            is_test = any(TESTS in f"/{name}" for name in (path, *names))
            return frozenset(selectors.union(quiet if is_test else ()))

        return cache(lambda path, rule: any(matches(selector, rule) for selector in selectors_of(path)))

    def _names(self, path: str) -> tuple[str, str]:
        """A path as globs may mean it: relative to the configuration, if it is below that, and in full."""
        full = os.path.realpath(path.replace("\0", "\N{REPLACEMENT CHARACTER}"))  # the name of a message may hold it
        inner = os.path.relpath(full, self.base) if full.startswith(os.path.join(self.base, "")) else full
        return inner.replace(os.sep, "/"), full.replace(os.sep, "/")


def _fits(names: tuple[str, str], glob: str) -> bool:
    inner, full = names
    return fits(inner, glob) or fits(f"/{inner}", glob) or (os.path.isabs(glob) and fits(full, glob))


def find_config(start: str, files: Disk = DISK) -> str | None:
    """The configuration file nearest above `start`, or None."""
    folder = files.real(start)
    while True:
        for name in FILES:
            file = os.path.join(folder, name)
            if files.is_file(file) and (name != "pyproject.toml" or b"[tool.kiplint" in files.read(file, cut=True)):
                return file
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


ENTITY_TYPES = "generator/src/main/java/org/apache/kafka/message/EntityType.java"
"""Where a checkout of Kafka or of a fork states the entity types that its generator knows."""


def entity_types_of_tree(start: str, files: Disk = DISK) -> tuple[str, ...]:
    """The entity types of the generator in the nearest directory above `start` that has one."""
    folder, above = "", files.real(start)
    while folder != above:
        folder, above = above, os.path.dirname(above)
        if files.is_file(file := os.path.join(folder, ENTITY_TYPES)):
            return tuple(re.findall(r'@JsonProperty\("(\w+)"\)', files.read(file, cut=True).decode(errors="replace")))
    return ()


def read_config(file: str, files: Disk = DISK) -> Config:
    """The configuration of a file, what it extends included; raises UsageError with file, line and what to write."""
    return msgspec.convert(_with_bases(own_values(file, files), file, files), Config)


def make_config(values: Mapping[str, Any], files: Disk = DISK) -> Config:
    """The configuration of a mapping, merged with the files it extends; paths are relative to the working directory."""
    return msgspec.convert(_with_bases(dict(values), os.path.join(os.getcwd(), FILES[0]), files), Config)


def _with_bases(values: Values, file: str, files: Disk) -> Values:
    """The values of a file merged over those of the file that it extends, of the one that this extends, and so on.

    The paths of the bases become relative to the file. Raises UsageError for a cycle, and for a chain that is too long.
    """
    merged_values = values
    here = os.path.dirname(files.real(file))
    chain: list[str] = []
    while base := values.get("extend"):
        extended_file = os.path.join(os.path.dirname(file), base)
        problem = ""
        if files.real(file) in chain:
            problem = f"{printable(file)} extends itself, by way of {len(chain)} files"
        elif len(chain) >= CONFIGURATIONS:
            problem = CONFIGURATIONS.exceeded(f"the chain that ends with {printable(file)}")
        elif not files.exists(extended_file):
            problem = f"there is no file {printable(extended_file)}"
        if problem:
            place = f"{file}:{_line(files.read_text(file), 'extend')}" if files.exists(file) else "the configuration"
            raise UsageError(f"{place}: extend: {problem}")
        chain.append(files.real(file))
        file = extended_file
        values = own_values(file, files)
        merged_values = _merge(_rebase_paths(values, os.path.dirname(files.real(file)), here), merged_values)
    return merged_values


def own_values(file: str, files: Disk) -> Values:
    """The values that a file itself gives, each as it should be."""
    import tomllib

    try:
        text = files.read_text(file)
        values = tomllib.loads(text)
        if _is_deep(values):
            raise RecursionError
    except RecursionError:
        raise UsageError(f"{file}: not TOML: values are nested too deeply") from None
    except ValueError as error:  # tomllib's own, and int's for a number of thousands of digits
        raise UsageError(f"{file}: not TOML: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot read the configuration {file}: {error.strerror}") from None
    if os.path.basename(file) == "pyproject.toml":
        tool = values.get("tool")
        values = tool.get("kiplint", {}) if isinstance(tool, dict) else {}
    try:
        config = msgspec.convert(values, Config)
    except RecursionError:
        raise UsageError(f"{file}: values are nested too deeply") from None
    except msgspec.ValidationError as error:
        raise UsageError(_explain(file, text, str(error))) from None
    paths_by_key = {"baseline": [config.baseline], "extend": [config.extend], "rule-packs": config.rule_packs}
    for name, paths in {
        **paths_by_key,
        "exclude": config.exclude,
        "per-file-ignores": [*config.per_file_ignores],
    }.items():
        if any("\0" in path for path in paths):
            raise UsageError(f"{file}:{_line(text, name)}: {name}: a path cannot contain a NUL character")
    return dict(values)


def _is_deep(value: object) -> bool:
    """Whether values are nested deeper than `DEFINITION_LEVELS`."""
    row = [value]
    for _ in range(DEFINITION_LEVELS):
        parts = (part.values() if isinstance(part, dict) else part for part in row if isinstance(part, (dict, list)))
        row = [part for several in parts for part in several]
    return bool(row)


def _explain(file: str, text: str, error: str) -> str:
    unknown = re.search(r"unknown field `([^`]*)`", error)
    if not unknown:
        place = re.search(r"at `\$\.?([^`]*)`", error)
        name = re.split(r"[.\[]", place[1])[0] if place else ""
        choices = get_args({"fail-on": FailOn, "severity": Level}.get(name))
        reason = wrong_choice(error, choices) or error.partition(" - at ")[0].replace("`", "")
        return f"{file}:{_line(text, name)}: {name}: {reason[:1].lower()}{reason[1:]}"
    table = RuleTable if ".rules" in error.rpartition(" - at ")[2] else Config
    keys = list(table.__struct_encode_fields__)
    hint = did_you_mean(unknown[1], keys) or f"; there are {', '.join(keys)}"
    return f"{file}:{_line(text, unknown[1])}: {unknown[1]} is not a key of the configuration{hint}"


def _search(text: str, word: str) -> re.Match[str] | None:
    """Where a configuration first has a word: in quotes, as a key, or in the name of a table."""
    pattern = re.escape(word)
    places = rf"[\"']{pattern}[\"']|(?:^|[{{,])[ \t]*{pattern}[ \t]*=|^[ \t]*\[[^\]\n]*\b{pattern}\b"
    return re.search(places, text, re.MULTILINE) if word else None


def _line(text: str, word: str) -> int:
    """The line of a word in a configuration; 1 if it is nowhere."""
    match = _search(text, word)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def place_of(word: str, file: str, files: Disk = DISK) -> str:
    """The `file:line` of a word in a configuration, or in the files it extends; line 1 if it is nowhere."""
    text = files.read_text(file)
    if not _search(text, word) and (base := own_values(file, files).get("extend")):
        return place_of(word, os.path.join(os.path.dirname(file), base), files)
    return f"{file}:{_line(text, word)}"


LISTS: Final = ("rule-packs", "exclude")
"""The keys whose values are lists of paths or globs."""


def _merge(base: Values, values: Values) -> Values:
    """One table merged over another, recursively; the entries of the base come first."""
    deeper = {
        name: _merge(base[name], value)
        for name, value in values.items()
        if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**{name: value for name, value in base.items() if name not in values}, **values, **deeper}


def _rebase_paths(values: Values, folder: str, here: str) -> Values:
    new_values = dict(values)
    for name in LISTS:
        if name in new_values:
            new_values[name] = [_path(path, folder, here) for path in new_values[name]]
    if new_values.get("baseline"):
        new_values["baseline"] = _path(new_values["baseline"], folder, here)
    if "per-file-ignores" in new_values:
        new_values["per-file-ignores"] = {
            _path(path, folder, here): names for path, names in new_values["per-file-ignores"].items()
        }
    return new_values


def _path(path: str, folder: str, here: str) -> str:
    """A path or glob relative to `folder`, made relative to `here`; one that begins with a star stays as it is."""
    if path.startswith("*") or os.path.isabs(path):
        return path
    whole = os.path.normpath(os.path.join(folder, path))
    inside = os.path.relpath(whole, here).replace(os.sep, "/")
    return whole if inside.startswith("../") else inside
