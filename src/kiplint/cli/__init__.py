"""The command line: the only place that exits."""

from __future__ import annotations

import gc


def main() -> None:
    """Run `kiplint` with the process's arguments."""
    gc.set_threshold(100_000)  # nearly all objects live as long as the process: a check takes 8% less time
    from kiplint.cli.app import make_app
    from kiplint.cli.process import prepare_streams, run

    prepare_streams()
    run(lambda: make_app()(prog_name="kiplint"))
