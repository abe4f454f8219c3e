"""The rollout of a new request header: one row for each RPC (KIP-1313, Kafka Protocol Changes).

An RPC is done only if `check` has no error about its headers, so the rules of `check` come first: whatever they say
about a pair, its versions or its headers makes it wrong. What is left is decided here, from the header of each version.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.compat.change import Both
from kiplint.compat.fields import compare_headers
from kiplint.compat.released import Releases, VersionStatuses, released_versions
from kiplint.compat.tree import Tree, pair_sets
from kiplint.engine.config import Config, Configurations, load_rules, make_ruleset
from kiplint.engine.finding import Location, Violation, location_of, message_of
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import file_violations, set_violations
from kiplint.model.definition import Definition
from kiplint.model.headers import HEADER_WITH_ID, header_map, header_of
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message, rpc_of
from kiplint.model.schemas import Rpc, SchemaSet, are_related
from kiplint.text.words import join_words

MESSAGES_WITH_ID: Final = frozenset(
    {"GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse", "PushTelemetryRequest"}
)
"""The messages with a client instance id of their own, until the header carries it."""
INSTANCE_ID: Final = "ClientInstanceId"

GATE_PACKS: Final = ("kip-1313", "kip-511", "rpc", "shape", "syntax", "versions")
"""The packs about headers, versions and RPCs, and about what Kafka cannot read: an RPC with such an error is wrong."""
GATE_PROPERTIES: Final = ("apiKey", "validVersions", "flexibleVersions", "headerVersions")
"""The properties of a message that decide its headers: an RPC with an error of any rule there is wrong."""
PAIR: Final = ("request", "response")

FROZEN: Final = "kip-1313/frozen-rpc"
MISSING: Final = "kip-1313/v3-missing"
HEADER_MISSING: Final = "kip-1313/header-missing"
DUPLICATE_KEY: Final = "rpc/api-key-duplicate"
REQUEST_MISSING: Final = "rpc/request-missing"
REMOVED: Final = "compat/message-removed"
API_VERSIONS_HEADER: Final = "kip-1313/api-versions-header"

Adoption = Literal["done", "unstable", "missing", "wrong", "new", "exempt", "dead"]
STATUSES: Final[tuple[Adoption, ...]] = get_args(Adoption)
FAILING: Final[tuple[Adoption, ...]] = ("unstable", "missing", "wrong")
"""The statuses that fail a rollout."""


class RolloutRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One RPC: its versions in the base and the head, its request headers, and its status: a line of jsonl."""

    name: str
    api_key: Annotated[int, Meta(description="-1 where it cannot be read.")]
    status: Annotated[
        Adoption,
        Meta(
            description="`done`: a version that brokers offer uses the header, and the response was bumped too; "
            "`unstable`: only an unstable version uses it; `missing`: none does; `wrong`: `check` has an error about "
            "its pair, versions, headers, properties or syntax, or a released version was moved to another header; "
            "`new`: not in the base; `exempt`: frozen; `dead`: no version."
        ),
    ]
    base_versions: Annotated[str, Meta(description="The versions of the request in the base; empty if there is none.")]
    versions: Annotated[str, Meta(description="The versions of the request; `none` for no version.")]
    header_versions: Annotated[dict[str, int], Meta(description="The request's header by range of its versions.")]
    message: Annotated[str, Meta(description="The reason for the status.")]
    rule: Annotated[str, Meta(description="The rule that decides the status; omitted if nothing has to be done.")] = ""
    path: Annotated[str, Meta(description="The file to look at, if a rule decides.")] = ""
    pointer: Annotated[str, Meta(description="The JSON pointer in that file; omitted for the whole file.")] = ""
    message_name: Annotated[str, Meta(description="The message of that file.")] = ""


def rollout_rules(header: int, config: Config | None = None, all_rules: Sequence[Rule] = ()) -> RuleSet:
    """The rules that decide a rollout: those that `check` runs, with the params of a configuration.

    `all_rules` are all rules as configured, by default those that are shipped; `header` is the header version that
    every request should have. What a configuration ignores, and severities below the rule's own, do not open the gate.
    """
    config = config or Config()
    all_rules = all_rules or make_ruleset(config, load_rules(config, "")).all_rules
    # In a rollout a mistake that several messages share is a mistake of each.
    rollout_params = {"header": header, "common": 1 << 30, "derived": True, "every": True}
    rules = []
    for rule in all_rules:
        severity = "error" if rule.severity == "error" else rule.spec.severity
        if rule.each in _ORDER and severity != "off" and rule.id != MISSING:
            params = {name: rollout_params.get(name, value) for name, value in rule.params.items()}
            rules.append(replace(rule, severity=severity, params=params))
    return RuleSet(rules, list(all_rules))


_ORDER: Final = ("problem", "rpc", "change", "header_range", "message", "field", "struct")
"""The kinds of elements of the rules about headers; the first error in this order is the message of a row."""


def is_about_headers(violation: Violation) -> bool:
    """Whether a violation is an error that keeps an RPC from being done: of its versions, its headers or its pair.

    In a header message that is any error, and in any file one of its syntax or its properties.
    """
    if violation.severity != "error":
        return False
    element, location = violation.element, violation.location
    message = message_of(element)
    if message and message.type == "header":
        return True
    name, *below = f"{location.pointer}/{location.key}".strip("/").split("/")
    if isinstance(element, ProblemElement) and not below:
        name = element.problem.intended_property or name  # such as `headerVersion`
    return violation.rule.pack in GATE_PACKS or name in GATE_PROPERTIES


def rollout_of_trees(
    head: Tree, base: Tree | None, header: int, configurations: Configurations, releases: Releases | None
) -> list[RolloutRow]:
    """The rows of all RPCs of all sets of a tree, by name; sets are paired with those of the base by directory.

    An RPC that moved to another directory is compared with itself, and is not gone from the one that it left. `header`
    is the header version that every request should have. Each set is judged by its configuration. Files that this
    excludes count too, because what it ignores opens no gate.
    """
    rules_by_configuration: dict[int, RuleSet] = {}

    def rules_of(directory: str) -> RuleSet:
        configuration = configurations.of(os.path.join(head.root, directory))
        key = id(configuration)
        if key not in rules_by_configuration:
            all_rules = configuration.rules().all_rules
            rules_by_configuration[key] = rollout_rules(header, configuration.config, all_rules)
        return rules_by_configuration[key]

    rows: list[RolloutRow] = []
    if base is None:
        for directory, schemas in head.sets.items():
            rows += rollout(schemas, None, header, rules_of(directory))
        return sorted(rows, key=lambda row: row.name)
    head_keys = {_key(message) for message in head.messages if message.is_rpc}
    base_definitions = {
        _key(definition): definition
        for schemas in base.sets.values()
        for definition in schemas.definitions
        if definition.is_rpc
    }
    for base_set, head_set in pair_sets(base, head):
        set_keys = {_key(message) for message in head_set.messages if message.is_rpc}
        keys_elsewhere = head_keys - set_keys
        remaining = [definition for definition in base_set.definitions if _key(definition) not in keys_elsewhere]
        added_keys = set_keys - {_key(definition) for definition in remaining}  # of RPCs that moved here or are new
        moved = [base_definitions[key] for key in added_keys if key in base_definitions]
        rules = rules_of(head_set.directory or base_set.directory)
        rows += rollout(head_set, SchemaSet((*remaining, *moved), base_set.directory), header, rules, releases)
    return sorted(rows, key=lambda row: row.name)


def _key(definition: Definition) -> tuple[str, int | None]:
    """What a request or response is found by in another set, whatever its name."""
    return definition.type, definition.api_key


def rollout(
    head: SchemaSet,
    base: SchemaSet | None = None,
    header: int = 3,
    rules: RuleSet | None = None,
    releases: Releases | None = None,
) -> list[RolloutRow]:
    """The rows of all RPCs of the head, and of the RPCs that it lacks from the base, by name.

    `header` is the header version that every request should have. `rules` decide what is wrong, by default those of
    `rollout_rules` as they are shipped. A version is released when one of the `releases` contains it; if `releases` is
    None, if the base contains it.
    """
    head = SchemaSet(head.definitions, head.directory, head.is_single_file, head.selected, base)
    view = _Rollout(head, base, header, rules or rollout_rules(header), releases)
    return sorted(view.rows(), key=lambda row: row.name)


def summary(rows: Sequence[RolloutRow]) -> dict[Adoption, int]:
    """The number of RPCs by status."""
    counts = Counter(row.status for row in rows)
    return {status: counts[status] for status in STATUSES}


class _Rollout:
    """The input of the rows: the RPCs of the head and the base by API key, and the errors about headers by message."""

    def __init__(
        self, head: SchemaSet, base: SchemaSet | None, header: int, rules: RuleSet, releases: Releases | None
    ) -> None:
        """`header` is the header version that every request should have; the rules are those of `rollout_rules`."""
        self.head, self.base, self.header, self.rules, self.releases = head, base, header, rules, releases
        self.frozen: Mapping[str, str] = rules.by_id[FROZEN].params["frozen"]
        self.exempt: Sequence[str] = rules.by_id[MISSING].params["exempt"]
        self.rpcs = _rpcs(head)
        self.base_rpcs = {rpc.api_key: rpc for rpc in base.rpcs if not rpc.is_coordinator} if base else {}
        for rpc, _ in self.rpcs:
            base_rpc = self.base_rpcs.get(rpc.api_key)
            if base_rpc and base_rpc.request and rpc.request and not are_related(base_rpc.request, rpc.request):
                del self.base_rpcs[rpc.api_key]  # another RPC, whose key this one took
        unreadable = (definition for definition in head.definitions if not definition.is_readable)
        self.unreadable = {name: error for file in unreadable for name, error in self._reading_errors(file)}
        self.errors: defaultdict[Message, list[Violation]] = defaultdict(list)
        self.notes: dict[Message, str] = {}
        self.duplicate_keys: dict[tuple[str, int | None], Violation] = {}
        for violation in self._violations():
            if not is_about_headers(violation):
                if violation.rule.id == API_VERSIONS_HEADER:
                    self.notes[violation.element.message] = violation.message
                continue
            for message in filter(None, _messages_of(violation)):
                if violation.rule.id == DUPLICATE_KEY:
                    self.duplicate_keys.setdefault(_key(message), violation)
                else:
                    self.errors[message].append(violation)

    def _reading_errors(self, file: Definition) -> Iterator[tuple[str, Violation]]:
        """The first error of a definition that cannot be read, by each name that its message may have."""
        problems = [ProblemElement(problem, file.file) for problem in file.problems]
        for violation in self.rules.violations("problem", problems)[:1]:
            text = f"{file.file_name} cannot be read: {violation.message}"
            for name in file.likely_names:
                yield name, replace(violation, message=text)

    def _violations(self) -> Iterator[Violation]:
        """The violations of the requests, responses and headers of the head."""
        messages = [message for message in self.head.messages if message.is_rpc or message.type == "header"]
        files = {message.file for message in messages}
        yield from self._header_changes(messages)
        yield from file_violations(self.head, files, self.rules)
        yield from set_violations(self.head, self.rules, files)

    def _header_changes(self, messages: Iterable[Message]) -> Iterator[Violation]:
        """The violations of changes to the headers of released versions, at the message's new headers."""
        for message in messages:
            base = self.base.key_owners.get((message.type, message.api_key or 0)) if self.base else None
            if base is None:
                continue
            for status, released_message, versions, _ in VersionStatuses.of(base, message, self.releases).groups:
                if status == "released":
                    changes = compare_headers(Both(released_message, message), versions, derived=True)
                    for violation in self.rules.violations("change", changes):
                        yield replace(violation, element=message, location=location_of(message, "headerVersions"))

    def rows(self) -> Iterator[RolloutRow]:
        """The rows of the RPCs of the head, of those that only the base has, and of those that cannot be read."""
        names = set()
        for rpc, messages in self.rpcs:
            names.add(rpc.name)
            yield self.row(rpc, messages)
        head_keys = {rpc.api_key for rpc, _ in self.rpcs}
        for api_key, rpc in self.base_rpcs.items():
            if api_key not in head_keys:
                names.add(rpc.name)
                yield self.removed_row(rpc)
        for message_name, error in self.unreadable.items():
            name = rpc_of(message_name)
            if name not in (message_name, *names):
                names.add(name)
                values: dict[str, Any] = {"base_versions": "", "versions": "", "header_versions": {}, "message": ""}
                yield _wrong(RolloutRow(name=name, api_key=-1, status="wrong", **values), error)

    def row(self, rpc: Rpc, messages: Sequence[Message]) -> RolloutRow:
        """The row of an RPC of the head. Errors decide first, then that it is frozen, then the header that is used."""
        row, errors = self._undecided_row(rpc), self._errors_of(rpc, messages)
        if errors:
            location = errors[0].location
            is_twin = errors[0].rule.id == DUPLICATE_KEY and location.file not in {item.file for item in messages}
            return _wrong(row, errors[0], f"{location.message_name}: " if is_twin else "")
        frozen_versions = self.frozen.get(rpc.rpc_name)
        if frozen_versions is not None:
            text = f"frozen at versions {frozen_versions}: it never carries the client instance id"
            return replace(row, status="exempt", message=text)
        if rpc.is_dead:
            return replace(row, status="dead", message="no valid version is left")
        if rpc.rpc_name in self.exempt:
            return replace(row, status="exempt", message="exempt")
        if rpc.request is None:
            return _failing(row, "wrong", f"{rpc.name} has no request", REQUEST_MISSING, location_of(rpc, "apiKey"))
        return self._adoption(row, rpc, rpc.request)

    def _errors_of(self, rpc: Rpc, messages: Sequence[Message]) -> list[Violation]:
        """The errors about the headers of an RPC with these messages, the one that decides first.

        An RPC without any header map is not wrong for that: it still has to get its version with the header.
        """
        names = (rpc.name + suffix for suffix in ("Request", "Response"))
        errors = [self.duplicate_keys[key] for key in map(_key, messages) if key in self.duplicate_keys]
        errors += [error for message in messages for error in self.errors[message]]
        if not any(message.declares_headers for message in messages):
            errors = [error for error in errors if error.rule.id != HEADER_MISSING]
        unreadable = [self.unreadable[name] for name in names if name in self.unreadable]
        return sorted([*unreadable, *errors], key=_rank)

    @cached_property
    def _header_error(self) -> Violation | None:
        """The first error of the messages RequestHeader and ResponseHeader, which concerns every RPC that uses them."""
        for name in ("RequestHeader", "ResponseHeader"):
            if name in self.unreadable:
                return self.unreadable[name]
            errors = [error for message in self.head.messages if message.name == name for error in self.errors[message]]
            if errors:
                return min(errors, key=_rank)
        return None

    def _adoption(self, row: RolloutRow, rpc: Rpc, request: Message) -> RolloutRow:
        """The row of an RPC without errors: whether its latest version, or a new one's first, has the header."""
        base_rpc = self.base_rpcs.get(rpc.api_key)
        base_request = base_rpc.request if base_rpc else None
        latest, first = request.valid.highest, request.valid.lowest
        is_new = self.base is not None and base_rpc is None
        header, offered_versions = header_of(request, first if is_new else latest), released_versions(request)

        def missing(text: str, key: str = "headerVersions", status: Adoption = "missing") -> RolloutRow:
            return _failing(row, status, text, MISSING, location_of(request, key))

        if header < self.header and is_new:
            return missing(
                f"{rpc.name} is new, but version {first} uses header {header}; start with header {self.header}"
            )
        if header < self.header:
            highest_in_base = released_versions(base_request).highest if base_request else -1
            bump = f"bump it to {max(highest_in_base, latest) + 1} with header {self.header}"
            key = "headerVersions" if request.declares_headers else "validVersions"
            return missing(f"the latest version of {rpc.name} ({latest}) uses header {header}; {bump}", key)
        if self._header_error:
            return _wrong(row, self._header_error, f"it uses header {header}, but ")
        if header >= HEADER_WITH_ID and not self.head.request_header:
            return missing(f"it uses header {header}, but the set has no RequestHeader: add one with {INSTANCE_ID}")
        if not offered_versions or header_of(request, offered_versions.highest) < self.header:
            text = f"version {latest} of {rpc.name} uses header {header}, but is unstable: no broker offers it yet"
            return missing(text, "latestVersionUnstable", "unstable")
        status: Adoption = "new" if is_new else "done"
        text = f"new, with header {header} from version {first}" if is_new else f"version {latest} uses header {header}"
        note = self.notes.get(request)
        return replace(row, status=status, message=f"{text}; {note}" if note else text)

    def removed_row(self, rpc: Rpc) -> RolloutRow:
        """The row of an RPC that only the base has. A retired RPC should keep its files, without valid versions."""
        row = self._undecided_row(rpc, is_removed=True)
        for error in self._errors_of(rpc, ()):
            return _wrong(row, error)  # its definitions are there, and cannot be read
        if rpc.is_dead:
            return replace(row, status="dead", message="it had no valid version, and its file was removed")
        text, location = "is in the base, but not in the head", location_of(rpc, "name")
        frozen_versions = self.frozen.get(rpc.rpc_name)
        if frozen_versions is not None:
            text += f"; it is frozen at versions {frozen_versions} and must stay"
            return _failing(row, "wrong", text, FROZEN, location)
        text += '; to retire it, keep its files with "validVersions": "none"'
        return _failing(row, "wrong", text, REMOVED, location)

    def _undecided_row(self, rpc: Rpc, *, is_removed: bool = False) -> RolloutRow:
        """The row of an RPC before its status and message are decided."""
        request = None if is_removed else rpc.request
        base_rpc = self.base_rpcs.get(rpc.api_key)
        base_request = base_rpc.request if base_rpc else None
        return RolloutRow(
            name=rpc.name,
            api_key=rpc.api_key,
            status="wrong",
            base_versions=str(base_request.valid) if base_request else "",
            versions=str(request.valid) if request else "none",
            header_versions={str(versions): header for versions, header in header_map(request)} if request else {},
            message="",
        )


def _rpcs(schemas: SchemaSet) -> list[tuple[Rpc, list[Message]]]:
    """Each RPC of a set with its messages, also one whose API key is another's, missing, or of the wrong type."""
    rpcs = [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]
    paired = {message for rpc in rpcs for message in (rpc.request, rpc.response)}
    others: defaultdict[str, list[Message]] = defaultdict(list)
    for message in schemas.messages:
        if message.is_rpc and message not in paired:
            others[rpc_of(message.name)].append(message)
    entries = []
    for rpc in rpcs:
        messages = [message for message in (rpc.request, rpc.response) if message]
        entries.append((rpc, messages if rpc.is_pair else [*messages, *others.pop(rpc.name, ())]))
    for messages in others.values():
        request, response = (next((item for item in messages if item.type == kind), None) for kind in PAIR)
        api_key = next((message.api_key for message in messages if message.api_key is not None), -1)
        entries.append((Rpc(api_key, request, response, may_be_partial=True), messages))
    return entries


def _messages_of(violation: Violation) -> Iterable[Message | None]:
    """The messages that a violation concerns: both of an RPC."""
    element = violation.element
    return (element.request, element.response) if isinstance(element, Rpc) else (message_of(element),)


def _rank(violation: Violation) -> int:
    """The rank of a violation among those of an RPC: the first one is the message of its row."""
    return -1 if violation.rule.id == FROZEN else _ORDER.index(violation.rule.each)


def _wrong(row: RolloutRow, violation: Violation, introduction: str = "") -> RolloutRow:
    """The row of an RPC that is wrong, with the message of a violation after an introduction."""
    return _failing(row, "wrong", introduction + violation.message, violation.rule.id, violation.location)


def _failing(row: RolloutRow, status: Adoption, text: str, rule: str, location: Location) -> RolloutRow:
    """The row with the id of the rule that decides, and where it is violated."""
    return replace(
        row,
        status=status,
        message=text,
        rule=rule,
        path=location.file,
        pointer=f"{location.pointer}/{location.key}" if location.key else location.pointer,
        message_name=location.message_name,
    )


def header_text(headers: Mapping[str, int]) -> str:
    """The headers by range of versions as text: `0: 2, 1: none, 2+: 3`, where version 1 has no header."""
    return ", ".join(f"{versions}: {'none' if header < 0 else header}" for versions, header in headers.items())


def in_words(rows: Sequence[RolloutRow], header: int) -> str:
    """How many RPCs have each status: `Request header 3: 70 done, 2 missing and 1 exempt.`"""
    counts = summary(rows)
    parts = [f"{counts[status]} {status}" for status in STATUSES if counts[status]]
    return f"Request header {header}: {join_words(parts) if parts else 'no RPCs'}."
