"""`kiplint formats`."""

from kiplint.cli.options import Group

EPILOG = "Example:  kiplint formats"


class Options(Group, frozen=True):
    """What it takes."""


def run(options: Options) -> int:
    """List the formats of reports."""
    from kiplint.cli.process import CLEAN
    from kiplint.report.findings.formats import FORMATS

    print("\n".join(f"{name:<10}{about}" for name, about in FORMATS.items()))
    return CLEAN
