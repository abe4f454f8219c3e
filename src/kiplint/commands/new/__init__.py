"""`kiplint new` and its commands."""

COMMANDS = ("rpc", "record", "coordinator", "from-kip")
MODULES = dict.fromkeys(COMMANDS, "options")
ALIASES = {"--from-kip": "from-kip"}

HELP = "Write new definitions."
EPILOG = "Begin with `kiplint new rpc NAME --dry-run`."
SECTION = "Write"
