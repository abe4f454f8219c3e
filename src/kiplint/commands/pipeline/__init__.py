"""`kiplint pipeline` and its commands. Spark is only imported when `run` runs."""

COMMANDS = {
    "run": "Read histories into a lake of tables, or update a lake.",
    "report": "Summarize a lake: sources, findings over time, breaking changes, and forks.",
    "blame": "Show the history of a message or a rule in order.",
    "forks": "Compare forks with upstream: their base, their own versions, collisions, and what a merge breaks.",
    "matrix": "Show which releases interoperate as client and broker, or which version of each RPC a pair uses.",
    "query": "Run a read-only SQL query over the tables and views of a lake.",
}

HELP = "Check whole histories and many forks on Spark."
EPILOG = "Requires the extra: pip install 'kiplint[pipeline]'. Start with `kiplint pipeline run --help`."
