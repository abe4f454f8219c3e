"""`kiplint migrate` and its commands."""

COMMANDS = ("kip-1313", "bump")
MODULES = dict.fromkeys(COMMANDS, "options")

HELP = "Write new versions of RPCs into their definitions."
EPILOG = "Begin with `kiplint migrate kip-1313 --dry-run PATH`, or `kiplint migrate bump RPC --dry-run`."
