"""`kiplint upgrade-path`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import Argument, ColorOption, FormOption, Group, Option, call

EPILOG = (
    "Examples:  kiplint upgrade-path 2.4.0 4.1.0 --tags --repo kafka   |   kiplint upgrade-path a/ c/ --over b/   |   "
    "kiplint upgrade-path 2.4.0 4.1.0 --tags --clients librdkafka@1.3.0,sarama@1.42.1.  "
    "Exit codes: 0 there is a path, 1 there is none, or a client is left behind, 2 something could not be read or "
    "understood."
)
SECTION = "Compare and plan"


class Options(Group, frozen=True):
    """The options of `kiplint upgrade-path`."""

    source: Annotated[
        str,
        Argument(
            "The release to start from: a schema set, or a tag with --tags.", "FROM", complete=completion.revisions
        ),
    ]
    target: Annotated[str, Argument("The release to reach, in the same form.", "TO", complete=completion.revisions)]
    over: Annotated[
        tuple[str, ...],
        Option("A release that the path may go over. Repeatable, oldest first.", "SET", complete=completion.sets),
    ] = ()
    tags: Annotated[bool, Option("The path may go over all tags, in version order.")] = False
    mode: Annotated[
        Literal["zookeeper", "kraft"] | None,
        Option("The mode of the cluster at first, where FROM supports both.", usual="either"),
    ] = None
    clients: Annotated[
        str | None,
        Option(
            "Report from which step on these released clients are left behind: all, or CLIENT@VERSION,...", "RELEASES"
        ),
    ] = None
    repo: Annotated[str | None, Option("The repository of tags and REV:, a directory or a bundle.", "REPO")] = None
    output_format: FormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Find the shortest rolling upgrade from one release to another.

    On each step old and new brokers run in one cluster, so the two must interoperate: in a mode that both can run in
    (ZooKeeper or KRaft), the newer one still serves every RPC that the older one serves, in a version that both have;
    unstable versions do not count. zkBroker listeners are ZooKeeper mode, broker and controller listeners are KRaft
    mode; a set without listeners (before 2.8) is in ZooKeeper mode as a whole. A set with both modes can be migrated
    from ZooKeeper to KRaft where BrokerRegistration knows IsMigratingZkBroker (KIP-866).

    Each step lists what it changes for clients: listeners that came or went in its mode, and versions that became
    deprecated. A listener that no longer serves an RPC is a warning while another of the mode does, else an obstacle.
    A client of --clients is left behind by the first step after which it loses RPCs that it could use before (KIP-896).

    Only RPCs count: records on disk and a release's own advice are not considered.
    """
    from kiplint.cli.output import present
    from kiplint.commands.upgrade_path.run import upgrade_path

    return present(call(upgrade_path, options), options.output_format, options.color)
