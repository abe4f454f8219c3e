"""The version ranges of a message that cannot be read, as problems with their places."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.model.field import Field
from kiplint.model.message import Message
from kiplint.text.problem import Problem
from kiplint.text.show import printable

KIND = "invalid-range"


def range_problems(message: Message) -> Iterator[Problem]:
    """A problem for each range that Kafka's notation does not allow; those of headerVersions have their own rules."""
    if message.valid_problem:
        yield _problem(message.spec.valid_versions, message.valid_problem, "/validVersions")
    if message.flexible_problem:
        yield _problem(message.spec.flexible_versions, message.flexible_problem, "/flexibleVersions")
    for struct in message.common_structs:
        if struct.versions_problem:
            yield _problem(struct.spec.versions, struct.versions_problem, f"{struct.pointer}/versions")
    for field in message.all_fields:
        yield from _of_field(field)


def _of_field(field: Field) -> Iterator[Problem]:
    spec = field.spec
    if field.versions_problem:
        yield _problem(spec.versions, field.versions_problem, f"{field.pointer}/versions")
    if field.tagged_problem:
        yield _problem(spec.tagged_versions, field.tagged_problem, f"{field.pointer}/taggedVersions")
    if field.nullable_problem:
        yield _problem(spec.nullable_versions, field.nullable_problem, f"{field.pointer}/nullableVersions")
    if field.flexible_problem:
        yield _problem(spec.flexible_versions, field.flexible_problem, f"{field.pointer}/flexibleVersions")


def _problem(text: object, problem: str, pointer: str) -> Problem:
    return Problem(KIND, f'"{printable(str(text)[:40])}" {problem}', pointer)
