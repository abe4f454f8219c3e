"""Which RPCs of Kafka 2.4 a broker of a later release does not serve, by mode.

Written by hand, from what those releases say of themselves, not from the listeners that kiplint reads:
- ZooKeeper mode up to 3.9 serves all of them; so does 2.7, which has no other mode.
- KRaft mode never serves what a ZooKeeper controller sends to brokers, nor ControlledShutdown (KIP-500, KIP-631).
- The preview in 2.8 came without transactions, access control lists, delegation tokens, partition reassignment, adding
  partitions, electing leaders, and AlterConfigs (its notes on KRaft list what is missing).
- All but delegation tokens had been added by 3.5; these came with 3.6.
- Kafka 4 removed the RPCs of ZooKeeper mode (KIP-896 and the removal of ZooKeeper), and kept every other one.
"""

from __future__ import annotations

from typing import Final

OF_ZOOKEEPER: Final = {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}
TRANSACTIONS: Final = {"InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "TxnOffsetCommit"}
ACCESS: Final = {"DescribeAcls", "CreateAcls", "DeleteAcls"}
TOKENS: Final = {
    "CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken",
}  # fmt: skip
PARTITIONS: Final = {
    "CreatePartitions", "ElectLeaders", "AlterPartitionReassignments", "ListPartitionReassignments",
}  # fmt: skip

NOT_SERVED: Final = {
    ("2.7.0", "zookeeper"): set[str](),
    ("2.8.0", "zookeeper"): set[str](),
    ("2.8.0", "kraft"): OF_ZOOKEEPER | TRANSACTIONS | ACCESS | TOKENS | PARTITIONS | {"AlterConfigs"},
    ("3.5.0", "zookeeper"): set[str](),
    ("3.5.0", "kraft"): OF_ZOOKEEPER | TOKENS,
    ("confluent-8.1.0", "kraft"): OF_ZOOKEEPER,
}
