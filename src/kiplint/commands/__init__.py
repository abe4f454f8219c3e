"""The commands: each module or package here is a command of that name, with its options, run, result and output."""

COMMANDS = (
    "check",
    "review",
    "diff",
    "rollout",
    "migrate",
    "negotiate",
    "kip",
    "show",
    "decode",
    "explain",
    "rules",
    "schema",
    "lsp",
    "pipeline",
)
"""In the order of `kiplint --help`."""
HELP = "Find mistakes in Apache Kafka message schemas before review."
EPILOG = ""
