"""The commands, one module each, in the order of the help; a package of more commands has such a list of its own."""

COMMANDS = (
    "check",
    "diff",
    "rollout",
    "migrate",
    "new",
    "negotiate",
    "upgrade-path",
    "show",
    "changelog",
    "decode",
    "encode",
    "vectors",
    "probe",
    "kip",
    "readers",
    "pipeline",
    "rules",
    "explain",
    "schema",
    "lsp",
)

HELP = "Find mistakes in Apache Kafka message schemas before review: where, why, and how to fix them."
EPILOG = (
    "`kiplint COMMAND --help` explains a command, `kiplint explain RULE` a rule. "
    "Exit codes: 0 clean, 1 findings, 2 something could not be read or understood."
)
