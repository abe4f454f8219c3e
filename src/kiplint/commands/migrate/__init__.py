"""`kiplint migrate` and its commands."""

COMMANDS = {
    "kip-1313": "Migrate RPCs to header versions and request header 3 (KIP-1313).",
    "bump": "Give RPCs a new version, request and response together.",
}

HELP = "Write new versions of RPCs into their definitions."
EPILOG = "Begin with `kiplint migrate kip-1313 --dry-run PATH`, or `kiplint migrate bump RPC --dry-run`."
