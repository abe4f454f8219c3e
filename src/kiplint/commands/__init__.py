"""The commands: each module or package here is a command of that name, with its options, run, result and output."""

HELP = "Find mistakes in Apache Kafka message schemas before review: where, why, and how to fix them."
EPILOG = (
    "`kiplint COMMAND --help` explains a command, `kiplint explain RULE` a rule. "
    "Exit codes: 0 clean, 1 findings, 2 something could not be read or understood."
)
