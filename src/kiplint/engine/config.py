"""The configuration: `kiplint.toml`, `.kiplint.toml` or `[tool.kiplint]` in pyproject.toml, found upwards."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.engine.packs import load_pack, shipped_rules
from kiplint.engine.rule import Level, Rule
from kiplint.engine.ruleset import (
    RuleSet,
    full_selector,
    rule_ids_by_selector,
    select,
    with_params,
    with_severities,
)
from kiplint.sources.repository import HERE, RevisionPath
from kiplint.text.files import DISK, Disk
from kiplint.text.words import comma_parts, did_you_mean

FILES = ("kiplint.toml", ".kiplint.toml", "pyproject.toml")

FailOn = Literal["error", "warning", "info", "never"]


class RuleTable(msgspec.Struct, forbid_unknown_fields=True):
    """The table of one rule in a configuration."""

    params: Annotated[dict[str, Any], Meta(description="Values for the rule's parameters.")] = {}


class Acceptance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A change that somebody accepts, with the reason."""

    rule: Annotated[str, Meta(min_length=1, description="The rule that the change violates, a pack, or a glob.")]
    message: Annotated[str, Meta(min_length=1, description="The name of the message, or of its RPC.")]
    field: Annotated[str, Meta(description="The path of the field, such as `Topics.Name`; omitted for any.")] = ""
    versions: Annotated[str, Meta(description="The versions of the change, such as `0-3`; omitted for any.")] = ""
    reason: Annotated[str, Meta(pattern=r"\S", description="Why it is accepted.")]


class Config(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a configuration file."""

    select: Annotated[list[str], Meta(description='The rules to run: "default", "all", packs, rules, globs.')] = (
        msgspec.field(default_factory=lambda: ["default"])
    )
    ignore: Annotated[list[str], Meta(description="Rules not to run, even if they are selected.")] = []
    fail_on: Annotated[FailOn, Meta(description="The lowest severity that makes the run fail.")] = "error"
    rule_packs: Annotated[list[str], Meta(description="Your own rule packs: files in JSON or JSON5.")] = []
    baseline: Annotated[str, Meta(description="A file of known findings, which a check does not report.")] = ""
    exclude: Annotated[list[str], Meta(description="Globs of files that are not reported, relative to this file.")] = []
    per_file_ignores: Annotated[
        dict[str, list[str]],
        Meta(description="Rules not to report in some files: by glob, name or directory, relative to this file."),
    ] = {}
    released: Annotated[
        list[str],
        Meta(
            description=(
                "The releases: globs of git tags, revisions or sets. Without any, the base counts as released."
            )
        ),
    ] = []
    accept: Annotated[
        list[Acceptance], Meta(description="Accepted changes, which `diff` and `review` report without failing.")
    ] = []
    severity: Annotated[dict[str, Level], Meta(description="Severity by rule, pack or glob.")] = {}
    rules: Annotated[dict[str, RuleTable], Meta(description="Parameters by rule.")] = {}


def toml(value: Any) -> str:
    """A value of a configuration as TOML: a table, a list, a number, or a string as in JSON."""
    if isinstance(value, dict):
        entries = ", ".join(f"{toml(str(name))} = {toml(item)}" for name, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return msgspec.json.encode(value).decode()


def config_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a configuration file."""
    schema = msgspec.json.schema(Config)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "kiplint configuration", **schema}


StrPath = str | os.PathLike[str]
"""A file, a directory or a set, as an argument."""


class RuleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that run and their severities: the options of all commands with findings."""

    select: Sequence[str] = ()
    """The rules to run, instead of those that the configuration selects.

    Each is a rule, a pack, a glob, or a list of them with commas.
    """
    ignore: Sequence[str] = ()
    """Rules not to run, in addition to those that the configuration ignores."""
    severity: Mapping[str, str] = MappingProxyType({})
    """Severities by rule, pack or glob, which override those of the configuration."""
    config: StrPath | Mapping[str, Any] | None = None
    """The path of a configuration, or a mapping with the keys of one; otherwise the nearest file upwards is read."""
    isolated: bool = False
    """Whether configuration files are ignored."""


DEFAULT_OPTIONS: Final = RuleOptions()


def configure(start: str = ".", options: RuleOptions = DEFAULT_OPTIONS, files: Disk = DISK) -> Configuration:
    """The configuration of a run on a path `start`, which is read from the `files`.

    Raises UsageError where the configuration cannot be read.
    """
    for name, selectors in (("select", options.select), ("ignore", options.ignore)):
        if isinstance(selectors, str):
            raise TypeError(f"{name}: expected a list of selectors, got str")
    select, ignore = comma_parts(options.select), comma_parts(options.ignore)
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    file = None
    values = Config()
    if isinstance(options.config, Mapping):
        try:
            values = msgspec.convert(options.config, Config)
        except msgspec.ValidationError as error:
            raise UsageError(f"the configuration: {error}") from None
    elif options.config:
        file = os.fspath(options.config)
    elif not options.isolated:
        file = find_config(folder, files)
    if file:
        values = read_config(file, files)
    for glob in (*values.exclude, *values.per_file_ignores):
        if "\\" in glob:
            raise UsageError(
                f"{file or 'the configuration'}: {glob} has a backslash; separate directories with a slash"
            )
    values.select = select or comma_parts(values.select)
    values.ignore = [*comma_parts(values.ignore), *ignore]
    values.severity = {**values.severity, **options.severity}  # type: ignore[dict-item]
    base = os.path.dirname(files.real_path(file)) if file else os.getcwd()
    selectors_of_arguments = frozenset((*select, *ignore, *options.severity))
    return Configuration(values, base, file, selectors_of_arguments, files, entity_types_of_tree(folder, files))


class Configuration(msgspec.Struct, frozen=True, dict=True):
    """A configuration with the arguments applied; its paths are relative to the directory `base`.

    All selectors but the `selectors_of_arguments` come from `file`, the path of one of the `files`, or None.
    """

    config: Config
    base: str
    file: str | None
    selectors_of_arguments: frozenset[str]
    files: Disk = DISK
    entity_types: tuple[str, ...] = ()
    """The entity types that the generator of the checked tree has; empty where the tree has no generator."""

    def all_rules(self) -> list[Rule]:
        """All rules, whether they run or not, with the entity types of the checked tree."""
        rules = load_rules(self.config, self.base, self.files)
        for index, rule in enumerate(rules):
            if rule.id == "shape/unknown-enum-value" and self.entity_types:
                rules[index] = replace(rule, params={**rule.params, "entity_types": [*self.entity_types]})
        return rules

    def rules(self) -> RuleSet:
        """The rules that run. Raises UsageError, which has file and line for a wrong selector in the file."""
        return self._rules

    @cached_property
    def _rules(self) -> RuleSet:
        try:
            return make_ruleset(self.config, self.all_rules(), self.base)
        except UsageError as error:
            if not self.file or not error.word or error.word in self.selectors_of_arguments:
                raise
            line = _line_of_word(self.files.read_text(self.file), error.word)
            raise UsageError(f"{self.file}:{line}: {error}") from None

    def default_and_selected_rules(self) -> RuleSet:
        """The rules that run by default and those that are selected, without those that are ignored."""
        selectors = list(dict.fromkeys(("default", *self.config.select)))
        return replace(self, config=replace(self.config, select=selectors)).rules()

    @cached_property
    def other_rules(self) -> RuleSet:
        """The default rules that are not selected: no fix may break them either."""
        running_ids = {rule.id for rule in self.rules().rules}
        default_rules = self.default_and_selected_rules().rules
        return RuleSet([rule for rule in default_rules if rule.id not in running_ids], self.rules().all_rules)

    def keeps(self, path: str) -> bool:
        """Whether a path is not excluded. Globs are relative to the configuration, or absolute.

        A path below the configuration matches with a slash before it too, so that `*/test/*` matches `test/X.json`.
        """
        if not self.config.exclude:
            return True
        full_path, relative_path = _paths(path, self.base)
        for glob in self.config.exclude:
            if any(fnmatchcase(name, glob) for name in (relative_path, f"/{relative_path}")):
                return False
            if os.path.isabs(glob) and fnmatchcase(full_path, glob):
                return False
        return True


class Configurations:
    """The configurations of a run: for each set that of the nearest file upwards. The options override all of them.

    `main` is that of the path `start`, such as the first set; what a run has once, such as its baseline, is its.
    """

    def __init__(
        self,
        start: str = ".",
        options: RuleOptions = DEFAULT_OPTIONS,
        files: Disk = DISK,
        replacements: Configurations | None = None,
    ) -> None:
        """Where a file cannot be read, that of the `replacements` counts; without any, UsageError is raised."""
        self._options, self._files, self._replacements = options, files, replacements
        self.main = self._configure(start)
        self._by_source = {(self.main.file, self.main.entity_types): self.main}
        self._by_directory: dict[str, Configuration] = {}

    def of(self, directory: str) -> Configuration:
        """The configuration of the set in a directory. Raises UsageError where it cannot be read."""
        if directory not in self._by_directory:
            path = _path_on_disk(directory)
            found = self._configure(os.path.join(path, ""))
            if path != directory and not found.file:  # the work tree has none for the revision
                found = self.main
            self._by_directory[directory] = self._by_source.setdefault((found.file, found.entity_types), found)
        return self._by_directory[directory]

    def rules_of(self, directory: str) -> RuleSet:
        """The rules by which the set in a directory is judged."""
        return self.of(directory).rules()

    def _configure(self, start: str) -> Configuration:
        try:
            return configure(start, self._options, self._files)
        except UsageError:
            if self._replacements is None:
                raise
            return self._replacements._configure(start)

    def keeps(self, path: str) -> bool:
        """Whether a path is not excluded."""
        return self.of(os.path.dirname(path)).keeps(path)

    @property
    def rules_by_id(self) -> dict[str, Rule]:
        """All rules of all configurations by id, as in `RuleSet.by_id`."""
        return {rule_id: rule for item in self._by_source.values() for rule_id, rule in item.rules().by_id.items()}


def load_rules(config: Config, base: str, files: Disk = DISK) -> list[Rule]:
    """All rules: those that are shipped, and those of the configuration's packs, whose paths are relative to `base`."""
    rules = shipped_rules()
    for path in config.rule_packs:
        file = os.path.join(base, path)
        pack_names = {rule.pack for rule in rules}
        pack_rules = load_pack(file, files)
        if pack_rules and pack_rules[0].pack in pack_names:
            raise UsageError(f"{file}: there is already a pack {pack_rules[0].pack}; give yours another name")
        rules += pack_rules
    return rules


def _path_on_disk(path: str) -> str:
    """The path in the work tree of `REV:path`; any other path as it is."""
    place = RevisionPath.of(path)
    if place is None:
        return path
    start = os.curdir if place.path.startswith(("./", "../")) else HERE.top
    return os.path.join(start, place.path.lstrip("/"))


def _paths(path: str, base: str) -> tuple[str, str]:
    """A path in full, and relative to the directory `base` if it is below that; with slashes."""
    full_path = os.path.realpath(_path_on_disk(path)).replace(os.sep, "/")
    return full_path, full_path.removeprefix(os.path.join(base, "").replace(os.sep, "/"))


def make_ruleset(config: Config, rules: list[Rule], base: str = "") -> RuleSet:
    """The rules that a configuration selects from `rules`, with the severities and parameters that it gives them.

    `base` is the directory to which its globs of files are relative.
    """
    params = {rule_id: table.params for rule_id, table in config.rules.items()}
    all_rules = with_severities(with_params(rules, params), config.severity)
    for entry in config.accept:
        full_selector(entry.rule, all_rules)
    ignores: list[tuple[str, frozenset[str]]] = []
    for glob, selectors in config.per_file_ignores.items():
        full_selectors = [full_selector(selector, all_rules) for selector in comma_parts(selectors)]
        ids_by_selector = rule_ids_by_selector(full_selectors, all_rules)
        ignores.append((glob, frozenset().union(*ids_by_selector.values())))

    def ignored_in(path: str) -> frozenset[str]:
        """The ids of the rules that are not reported in a file, whose path is as users see it."""
        return frozenset().union(*(ids for glob, ids in ignores if _is_file_of(glob, path, base)))

    return RuleSet(select(all_rules, config.select, config.ignore), all_rules, ignored_in)


def _is_file_of(glob: str, path: str, base: str) -> bool:
    """Whether a file, or a directory that it is in, has a path relative to `base` or a name that fits a glob."""
    full_path, relative_path = _paths(path, base)
    glob = glob.rstrip("/")
    names = (relative_path, f"/{relative_path}", full_path, re.split("[/:]", path)[-1])
    return any(fnmatchcase(name, glob) or fnmatchcase(name, f"{glob}/*") for name in names)


def find_config(start: str, files: Disk = DISK) -> str | None:
    """The configuration file in the directory `start` or in the nearest directory above it that has one, or None."""
    for folder in _folder_and_parents(start, files):
        for name in FILES:
            file = os.path.join(folder, name)
            if files.is_file(file) and (name != "pyproject.toml" or b"[tool.kiplint" in files.read(file, cut=True)):
                return file
    return None


def _folder_and_parents(start: str, files: Disk) -> Iterator[str]:
    """A directory and all directories above it, the nearest first."""
    folder = files.real_path(start)
    yield folder
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        yield folder


ENTITY_TYPES = "generator/src/main/java/org/apache/kafka/message/EntityType.java"
"""The file in which a checkout of Kafka or of a fork lists the entity types of its generator."""


def entity_types_of_tree(start: str, files: Disk = DISK) -> tuple[str, ...]:
    """The entity types that the generator knows in the checkout around `start`; empty if it has no generator."""
    for folder in _folder_and_parents(start, files):
        file = os.path.join(folder, ENTITY_TYPES)
        if files.is_file(file):
            source = files.read(file, cut=True).decode(errors="replace")  # only the beginning of a long file
            return tuple(re.findall(r'@JsonProperty\("(\w+)"\)', source))
    return ()


def read_config(file: str, files: Disk = DISK) -> Config:
    """The configuration of a file; raises UsageError with file, line and what to write."""
    try:
        text = files.read_text(file)
        values = tomllib.loads(text)
        if os.path.basename(file) == "pyproject.toml":
            tool = values.get("tool")
            values = tool.get("kiplint", {}) if isinstance(tool, dict) else {}
        return msgspec.convert(values, Config)
    except msgspec.ValidationError as error:
        raise UsageError(_error_text(file, text, str(error))) from None
    except RecursionError:
        raise UsageError(f"{file}: not TOML: values are nested too deeply") from None
    except ValueError as error:  # tomllib's own, and int's for a number of thousands of digits
        raise UsageError(f"{file}: not TOML: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot read the configuration {file}: {error.strerror}") from None


def _error_text(file: str, text: str, error: str) -> str:
    """A validation error of msgspec, with its line and what to write.

    `error` may end in the path of the wrong value: "Expected `object`, got `int` - at `$.rules[...].params`".
    """
    reason, _, path = error.replace("`", "").partition(" - at $")
    top_key = re.split(r"[.\[]", path.lstrip("."))[0]
    unknown_key = re.search(r"unknown field `([^`]*)`", error)
    if unknown_key:
        key = unknown_key[1]
        valid_keys = (RuleTable if top_key == "rules" else Config).__struct_encode_fields__
        hint = did_you_mean(key, valid_keys) or f"; there are {', '.join(valid_keys)}"
        return f"{file}:{_line_of_word(text, key)}: {key} is not a key of the configuration{hint}"
    reason = f"{reason[:1].lower()}{reason[1:]}; see `kiplint schema config`"
    return f"{file}:{_line_of_word(text, top_key)}: {top_key}: {reason}"


def _line_of_word(text: str, word: str) -> int:
    """The first line of a configuration that has a word; 1 if none has."""
    match = re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", text)
    return text.count("\n", 0, match.start()) + 1 if match else 1
