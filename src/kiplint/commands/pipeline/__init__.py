"""`kiplint pipeline` and its commands. Spark is only imported when `run` runs."""

COMMANDS = ("run", "report", "blame", "forks", "matrix", "query")

HELP = "Check whole histories and many forks, on Spark."
EPILOG = "Needs the extra: pip install 'kiplint[pipeline]'. Begin with `kiplint pipeline run --help`."
