"""`kiplint new` and its commands."""

COMMANDS = ("rpc",)

HELP = "Write new definitions."
EPILOG = "Begin with `kiplint new rpc NAME --dry-run`."
SECTION = "Write"
