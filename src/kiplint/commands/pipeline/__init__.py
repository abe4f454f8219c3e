"""`kiplint pipeline` and its commands. Spark is only imported when `run` runs."""

COMMANDS = {
    "run": "Read histories into a lake of tables, or bring one up to date.",
    "report": "Show what a lake holds: sources, findings in time, what broke, how far forks are.",
    "blame": "Show what happened to a message, or because of a rule, in order.",
    "forks": "Compare forks with upstream: where they left it, what they have alone or otherwise, what a merge breaks.",
    "matrix": "Show which releases interoperate as client and broker, or which version of each RPC a pair uses.",
    "query": "Query the tables and views of a lake in SQL, and nothing else.",
}

HELP = "Check whole histories and many forks, on Spark."
EPILOG = "Needs the extra: pip install 'kiplint[pipeline]'. Begin with `kiplint pipeline run --help`."
