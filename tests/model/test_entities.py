"""Entity types that Kafka does not know, in a set of Kafka's and in one that has words of its own."""

from __future__ import annotations

from collections import Counter

import pytest

from kiplint.engine.config import Config, RuleTable
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from kiplint.model.load import entity_problems
from tools import definition, field, message

RULE = "shape/unknown-enum-value"


@pytest.mark.parametrize(
    ("word", "kind", "detail"),
    [
        ("brokerID", "unknown-enum-value", '"brokerID" is not a value of "entityType"; did you mean brokerId?'),
        (
            "leaderEpoch",
            "unknown-enum-value",
            '"leaderEpoch" is not a value of "entityType"; it is one of unknown, transactionalId, producerId, groupId, '
            "topicName, brokerId",
        ),
        (" topicName ", "coerced-value", '" topicName " is read as "topicName"; write "topicName"'),
    ],
)
def test_words_that_are_not_kafka_s(word: str, kind: str, detail: str) -> None:
    (problem,) = entity_problems(message(field(entityType=word)))
    assert (problem.kind, problem.pointer, problem.detail) == (kind, "/fields/0/entityType", detail)


def severities(words: list[str], **params: object) -> Counter[str]:
    """The count of each severity in a set of a message for each word."""
    config = Config(select=[RULE], rules={RULE: RuleTable(params=params)})
    inputs = [
        Input(f"{n}.json", definition(field(entityType=word), name=f"X{n}Request")) for n, word in enumerate(words)
    ]
    return Counter(
        finding.severity for finding in check_set(inputs, make_ruleset(config, load_rules(config, ""))).findings
    )


def test_a_set_with_many_words_of_its_own_is_a_fork_s() -> None:
    assert severities(["nodeId", "brokerId"]) == {"error": 1}
    assert severities(["nodeId", "streamId", "streamId"]) == {"info": 3}
    assert severities(["nodeId", "streamId"], dialect=2) == {"info": 2}


def test_words_can_be_made_known() -> None:
    assert severities(["nodeId", "streamId"], entity_types=["nodeId"]) == {"error": 1}
