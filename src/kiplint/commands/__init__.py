"""The commands: each module or package is a command of the same name, with its options, run, result and output."""

COMMANDS = {
    "check": "Check message definitions.",
    "review": "Review a change: what it adds, what it breaks, and for whom.",
    "diff": "Report the changes between two releases, and what they break.",
    "rollout": "Report which RPCs use the new request header (KIP-1313).",
    "migrate": "Add new versions to the definitions of RPCs.",
    "negotiate": "Report which versions a client and its brokers agree on.",
    "kip": "Check the schemas in the text of a KIP.",
    "show": "Show the layout of a message on the wire.",
    "decode": "Decode the bytes of a message, and report what is wrong with them.",
    "explain": "Explain a rule: what it requires and why, with examples.",
    "rules": "List the rules, or test those of a pack.",
    "schema": "Print the JSON Schema of a definition or an output.",
    "lsp": "Run the language server for editors.",
    "pipeline": "Check whole histories and many forks on Spark.",
}
"""The first line of the help of each command, in the order of `kiplint --help`, which imports no command."""
HELP = "Find mistakes in Apache Kafka message schemas before review."
EPILOG = ""
