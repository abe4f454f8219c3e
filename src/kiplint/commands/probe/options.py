"""`kiplint probe`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli.options import Argument, ColorOption, Command, FormOption, Option, RepositoryOption

if TYPE_CHECKING:
    from kiplint.commands.probe.connection import Sasl


PASSWORD = "KIPLINT_SASL_PASSWORD"


class ProbeCommand(Command, frozen=True):
    """The options of `kiplint probe`."""

    EPILOG = (
        "Examples:  kiplint probe localhost:9092 --client clients/   |   kiplint probe b1:9093 b2:9093 --client 4.1.0: "
        "--tls --sasl SCRAM-SHA-256 --user me.  The password is read from KIPLINT_SASL_PASSWORD. Exit codes: 0 all "
        "answered rightly, 1 one did not, 2 something could not be read or understood."
    )
    SECTION = "Bytes and brokers"

    brokers: Annotated[tuple[str, ...], Argument("The brokers; all are queried at the same time.", "HOST:PORT...")]
    client: Annotated[str, Option("The schema set of the client.", "SET")] = "."
    also: Annotated[tuple[str, ...], Option("Another set whose versions are known too. Repeatable.", "SET")] = ()
    repo: RepositoryOption = None
    timeout: Annotated[int, Option("The seconds that each broker has.", "SECONDS", least=1, most=600)] = 10
    tls: Annotated[bool, Option("Use TLS.")] = False
    tls_ca: Annotated[str | None, Option("With --tls: trust these certificates, not the system's.", "FILE")] = None
    tls_certificate: Annotated[str | None, Option("With --tls: the client's certificate.", "FILE")] = None
    tls_key: Annotated[str | None, Option("With --tls: the key of the client's certificate.", "FILE")] = None
    tls_insecure: Annotated[bool, Option("With --tls: trust any certificate.")] = False
    sasl: Annotated[
        Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None, Option("Authenticate with this mechanism.")
    ] = None
    user: Annotated[str | None, Option("With --sasl: the user.", "NAME")] = None
    expect_cluster: Annotated[str | None, Option("The expected id of the cluster.", "ID")] = None
    expect_node: Annotated[
        int | None,
        Option("With --expect-cluster: the expected node (KIP-1242).", "ID", least=0, most=2147483647),
    ] = None
    output_format: FormOption = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Ask live brokers which versions they offer.

        As a client with these schemas would, sends ApiVersions in the highest version of the set, and again in the
        version that the broker names where it does not know the first (KIP-511); then Metadata of no topic, for the
        cluster's id (KIP-78). Reports for each RPC the version that the client would use, the offered versions that no
        known set has, whether a KIP-1313 broker would refuse it, and errors in the answers. `kiplint negotiate` takes
        the JSON output as brokers.
        """
        from kiplint.cli.output import present
        from kiplint.commands.probe.connection import Tls
        from kiplint.commands.probe.run import probe

        tls = Tls(self.tls_ca, self.tls_certificate, self.tls_key, self.tls_insecure) if self.tls else None
        result = probe(
            *self.brokers,
            client=self.client,
            also=self.also,
            repository=self.repo,
            timeout=self.timeout,
            tls=tls,
            sasl=_sasl(self),
            expect_cluster=self.expect_cluster,
            expect_node=self.expect_node,
        )
        return present(result, self.output_format, self.color)


def _sasl(options: ProbeCommand) -> Sasl | None:
    import os

    from kiplint.commands.probe.connection import Sasl
    from kiplint.engine.errors import UsageError

    if options.sasl is None:
        return None
    if not options.user or PASSWORD not in os.environ:
        raise UsageError(f"--sasl needs --user, and the password in the environment variable {PASSWORD}")
    return Sasl(options.sasl, options.user, os.environ[PASSWORD])
