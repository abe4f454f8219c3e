"""`kiplint new` and its commands."""

COMMANDS = ("rpc", "record", "coordinator", "from-kip")
ALIASES = {"--from-kip": "from-kip"}

HELP = "Write new definitions."
EPILOG = "Begin with `kiplint new rpc NAME --dry-run`."
SECTION = "Write"
