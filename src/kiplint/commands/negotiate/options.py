"""`kiplint negotiate`."""

from typing import Annotated, Literal

from kiplint.cli import completion
from kiplint.cli.options import (
    Argument,
    ColorOption,
    Command,
    FormOption,
    Option,
    RepositoryOption,
)


class NegotiateCommand(Command, frozen=True):
    """The options of `kiplint negotiate`."""

    EPILOG = (
        "Examples:  kiplint negotiate 2.8.0: 3.9.0: --repo kafka   |   kiplint negotiate client/ broker1/ broker2/ "
        "--feature features.json   |   kiplint negotiate 2.4.0: 2.8.0: --mode zookeeper   |   "
        "kiplint probe b1:9092 --client client/ --output-format json | kiplint negotiate client/ -   |   "
        "kiplint negotiate --matrix 3.8.0: 3.9.0: 4.0.0: --repo kafka   |   "
        "kiplint negotiate librdkafka@1.3.0 4.0.0:   |   kiplint negotiate --clients all brokers.json.  "
        "Exit codes: 0 all can be used, 1 an RPC of both sides has no common version or would be "
        "refused, a client of --clients loses an RPC, 2 something could not be read or understood."
    )
    SECTION = "Compare and plan"

    client: Annotated[
        str | None,
        Argument(
            "The client's schema set: a directory, an archive, REV: or REV:path. Or a released client, such as "
            "librdkafka@2.8.0; a capture with its requests; or what `probe --output-format json` wrote.",
            "CLIENT",
            complete=completion.clients,
        ),
    ] = None
    brokers: Annotated[
        tuple[str, ...],
        Argument(
            "The schema set of each broker, or what `probe --output-format json` wrote.",
            "BROKER...",
            complete=completion.sets,
        ),
    ] = ()
    feature: Annotated[
        str | None,
        Option(
            'A JSON, JSON5 or TOML file that maps features to RPCs and versions, as in {"name": {"Fetch": "4-11"}}. '
            "The report states which features can be used.",
            "FILE",
        ),
    ] = None
    repository: RepositoryOption = None
    unstable: Annotated[bool, Option("The brokers offer unstable versions too.")] = False
    mode: Annotated[
        Literal["zookeeper", "kraft"] | None,
        Option("The mode of the brokers, where they support both.", usual="kraft from 3.3 on"),
    ] = None
    sasl: Annotated[bool, Option("The connection begins with SASL: the first ApiVersions has version 0.")] = False
    matrix: Annotated[
        bool, Option("Take every set as the client of every other: which releases can be used together.")
    ] = False
    clients: Annotated[
        str | None,
        Option(
            "Which releases of clients work with each broker: of all clients, or of CLIENT or CLIENT@VERSION,... "
            "Every argument is then a broker.",
            "RELEASES",
        ),
    ] = None
    list_clients: Annotated[bool, Option("List the released clients whose versions are known.")] = False
    output_format: FormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Report which versions a client and its brokers agree on.

        First the ApiVersions exchange that begins a connection (KIP-35, KIP-511, KIP-1242), then for each RPC the
        versions that client and all brokers share, the version chosen, and the headers. Reports which RPCs a KIP-1313
        broker would refuse, and which side makes the client instance id.

        A broker in KRaft mode offers the RPCs whose listeners name broker, one in ZooKeeper mode those that name
        zkBroker; where a set has no listeners, as before 2.8, all that the release enables. RPCs between brokers and
        controllers are listed apart. Probed brokers (a file, or - for standard input) are assumed to have the client's
        layouts. With --matrix every set is the client of every other.

        The versions of released clients come from their own sources, which --list-clients names. Reported are also
        versions that a client sends without negotiation, and what it does not do because a broker does not list a
        version. A capture shows only the versions that were used.
        """
        from kiplint.engine.errors import UsageError

        if self.list_clients or self.clients is not None:
            if self.matrix or self.feature or self.sasl:
                raise UsageError("--clients and --list-clients go with neither --matrix, --feature, --sasl nor a page")
            if self.clients is None:
                return self._list_clients()
            return self._negotiate_clients()
        if self.client is None:
            raise UsageError("Missing argument 'CLIENT'.")
        if not self.brokers:
            raise UsageError("Missing argument 'BROKER...'.")
        return self._negotiate_all() if self.matrix else self._negotiate()

    def _negotiate(self) -> int:
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.run import negotiate

        result = negotiate(
            *self._sets,
            feature=self.feature,
            unstable=self.unstable,
            mode=self.mode,
            sasl=self.sasl,
            repository=self.repository,
        )
        return present(result, self.output_format, self.color)

    def _negotiate_all(self) -> int:
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.matrix.run import negotiate_all
        from kiplint.engine.errors import UsageError

        if self.feature or self.sasl:
            raise UsageError("--matrix goes with neither --feature nor --sasl")
        matrix = negotiate_all(*self._sets, unstable=self.unstable, mode=self.mode, repository=self.repository)
        return present(matrix, self.output_format, self.color)

    def _negotiate_clients(self) -> int:
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.clients.run import negotiate_clients
        from kiplint.engine.errors import UsageError

        if self.list_clients:
            raise UsageError("--list-clients takes no arguments and no --clients")
        clients = negotiate_clients(
            *self._sets, clients=self.clients or "", unstable=self.unstable, mode=self.mode, repository=self.repository
        )
        return present(clients, self.output_format, self.color)

    def _list_clients(self) -> int:
        from kiplint.cli.output import present
        from kiplint.commands.negotiate.clients.run import known_clients
        from kiplint.engine.errors import UsageError

        if self._sets:
            raise UsageError("--list-clients takes no arguments and no --clients")
        return present(known_clients(), self.output_format, self.color)

    @property
    def _sets(self) -> tuple[str, ...]:
        """All arguments."""
        return (self.client, *self.brokers) if self.client is not None else ()
