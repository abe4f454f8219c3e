"""What migrations read from schema sets: messages, RPCs, and the parameters of rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kiplint.engine.config import configure
from kiplint.model.load import Definition, load
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFiles


def load_set(files: SchemaFiles) -> tuple[SchemaSet, list[Definition]]:
    """The schema set of some files, and the definitions that could not be read."""
    definitions = [load(file.path, file.data) for file in files.files]
    messages = tuple(definition.message for definition in definitions if definition.message)
    return SchemaSet(messages, files.directory), [definition for definition in definitions if not definition.message]


def client_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set without the coordinators' pairs of key and value."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def rule_parameter(start: str, rule_id: str, name: str) -> Mapping[str, Any] | Collection[str]:
    """A parameter of a rule, as the configuration for the path `start` states it; empty without the rule."""
    rules = configure(start).known()
    value: Mapping[str, Any] | Collection[str] = next((r.params.get(name, {}) for r in rules if r.id == rule_id), {})
    return value
