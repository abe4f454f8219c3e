"""`kiplint probe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli.groups import ColorOption, FormOption, RepositoryOption
from kiplint.cli.options import Argument, Group, Option

if TYPE_CHECKING:
    from kiplint.commands.probe.connection import Sasl


EPILOG = (
    "Examples:  kiplint probe localhost:9092 --client clients/   |   kiplint probe b1:9093 b2:9093 --client 4.1.0: "
    "--tls --sasl SCRAM-SHA-256 --user me.  The password is read from KIPLINT_SASL_PASSWORD. Exit codes: 0 all "
    "answered rightly, 1 one did not, 2 something could not be read or understood."
)
PASSWORD = "KIPLINT_SASL_PASSWORD"


class Options(Group, frozen=True):
    """What it takes."""

    brokers: Annotated[tuple[str, ...], Argument("The brokers, asked all at once.", "HOST:PORT...")]
    client: Annotated[str, Option("The schema set of the client that asks.", "SET")] = "."
    also: Annotated[tuple[str, ...], Option("Another set whose versions are known too. Repeatable.", "SET")] = ()
    repo: RepositoryOption = None
    timeout: Annotated[int, Option("How many seconds a broker has.", "SECONDS", least=1, most=600)] = 10
    tls: Annotated[bool, Option("Speak TLS.")] = False
    tls_ca: Annotated[str | None, Option("With --tls: the certificates to trust, else the system's.", "FILE")] = None
    tls_certificate: Annotated[str | None, Option("With --tls: the client's certificate.", "FILE")] = None
    tls_key: Annotated[str | None, Option("With --tls: the key of the client's certificate.", "FILE")] = None
    tls_insecure: Annotated[bool, Option("With --tls: trust any certificate.")] = False
    sasl: Annotated[
        Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None, Option("Authenticate with this mechanism.")
    ] = None
    user: Annotated[str | None, Option("With --sasl: the user.", "NAME")] = None
    expect_cluster: Annotated[str | None, Option("The id of the cluster that should answer.", "ID")] = None
    expect_node: Annotated[
        int | None,
        Option("With --expect-cluster: the node that should answer (KIP-1242).", "ID", least=0, most=2147483647),
    ] = None
    output_format: FormOption = "text"
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Ask live brokers which versions they offer, as a client with these schemas would.

    ApiVersions is asked at the highest version of the set, and again at the one that the broker names where it does
    not know that (KIP-511); then Metadata of no topic, for the cluster's id (KIP-78). Says for each RPC what the client
    would use, which offered versions no known set has, which RPCs a KIP-1313 broker would refuse, and what is wrong
    with the answers. The JSON output is a broker for `kiplint negotiate`.
    """
    from kiplint.cli.output import present
    from kiplint.commands.probe.connection import Tls
    from kiplint.commands.probe.run import probe

    tls = Tls(options.tls_ca, options.tls_certificate, options.tls_key, options.tls_insecure) if options.tls else None
    found = probe(
        *options.brokers,
        client=options.client,
        also=options.also,
        repository=options.repo,
        timeout=options.timeout,
        tls=tls,
        sasl=_sasl(options),
        expect_cluster=options.expect_cluster,
        expect_node=options.expect_node,
    )
    return present(found, options.output_format, options.color)


def _sasl(options: Options) -> Sasl | None:
    import os

    from kiplint.commands.probe.connection import Sasl
    from kiplint.engine.errors import UsageError

    if options.sasl is None:
        return None
    if not options.user or PASSWORD not in os.environ:
        raise UsageError(f"--sasl takes --user, and the password from the environment variable {PASSWORD}")
    return Sasl(options.sasl, options.user, os.environ[PASSWORD])
