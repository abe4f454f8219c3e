"""`kiplint pipeline` and its commands. Spark is only imported when one of them runs."""

COMMANDS = ("run", "report", "query", "blame", "matrix", "rollout", "changes", "forks", "optimize", "verify")
MODULES = dict.fromkeys(COMMANDS[3:], "questions")
"""The modules of commands that have none of their own."""

HELP = "Check whole histories and many forks, on Spark."
EPILOG = "Needs the extra: pip install 'kiplint[pipeline]'. Begin with `kiplint pipeline run --help`."
