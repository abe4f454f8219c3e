"""`kiplint negotiate`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.classes import Argument, ColorOption, Command, FormOption, Option, RepositoryOption


class NegotiateCommand(Command, frozen=True):
    """The options of `kiplint negotiate`."""

    EPILOG = (
        "Examples:  kiplint negotiate 2.8.0: 3.9.0: --repo kafka   |   kiplint negotiate client/ broker1/ broker2/   "
        "|   kafka-broker-api-versions.sh --bootstrap-server b1:9092 | kiplint negotiate client/ -.  Exit codes: 0 all "
        "can be used, 1 an RPC of both sides has no common version or would be refused, 2 something could not be read "
        "or understood."
    )

    client: Annotated[
        str,
        Argument(
            "The client's schema set: a directory, an archive, REV: or REV:path.", "CLIENT", complete=completion.sets
        ),
    ]
    brokers: Annotated[
        tuple[str, ...],
        Argument(
            "The schema set of each broker, or the saved output of kafka-broker-api-versions.sh, - for standard input.",
            "BROKER...",
            complete=completion.sets,
        ),
    ]
    repository: RepositoryOption = None
    unstable: Annotated[bool, Option("Client and brokers use unstable versions too.")] = False
    output_format: FormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Report which versions a client and its brokers agree on.

        First the ApiVersions exchange that begins a connection (KIP-35, KIP-511, KIP-1242), then for each RPC the
        versions that client and all brokers share in the same bytes, the version chosen, and the headers. Reports which
        RPCs a KIP-1313 broker would refuse, and which side makes the client instance id.

        A broker in KRaft mode offers the RPCs whose listeners name broker, one in ZooKeeper mode those that name
        zkBroker; and those without listeners, as before 2.8, as far as the release enables them. The mode of a set with
        both listeners is KRaft from 3.3 on, else ZooKeeper. RPCs between brokers and controllers are listed apart.
        Brokers of kafka-broker-api-versions.sh are assumed to have the client's layouts.
        """
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.run import negotiate

        result = negotiate(self.client, *self.brokers, unstable=self.unstable, repository=self.repository)
        return present(result, self.output_format, self.color)
