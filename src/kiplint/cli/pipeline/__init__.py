"""`kiplint pipeline` and its commands, one module each. Spark is only imported when one of them runs."""

from __future__ import annotations

import typer

from kiplint.cli.pipeline import blame, matrix, query, report, rollout, run

app = typer.Typer(
    name="pipeline",
    help="Whole histories and many forks, on Spark: when each mistake came in, what each release changed, who "
    "interoperates.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Needs the extra: pip install 'kiplint[pipeline]'. Begin with `kiplint pipeline run --help`.",
)
app.command("run", epilog=run.EPILOG)(run.run)
app.command("report", epilog=report.EPILOG)(report.report)
app.command("query", epilog=query.EPILOG)(query.query)
app.command("blame", epilog=blame.EPILOG)(blame.blame)
app.command("matrix", epilog=matrix.EPILOG)(matrix.matrix)
app.command("rollout", epilog=rollout.EPILOG)(rollout.rollout)
