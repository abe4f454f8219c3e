"""The limits on untrusted input, and the counter of what a run has left.

SECURITY.md lists them in this order. No option changes them, except where the remedy names it.
"""

from __future__ import annotations


class Limit(int):
    """A maximum for an input, in a unit; what happens beyond it, and how to read a larger input."""

    input: str
    unit: str
    beyond: str
    remedy: str

    def __new__(cls, most: int, unit: str, of: str, remedy: str = "", *, beyond: str = "an error") -> Limit:
        """The limit on an input."""
        limit = super().__new__(cls, most)
        limit.input, limit.unit, limit.remedy, limit.beyond = of, unit, remedy, beyond
        return limit

    @property
    def figure(self) -> str:
        """The number with its unit: `1 MiB`, `100,000 entries`."""
        for bits, prefix in ((30, "GiB"), (20, "MiB")):
            if self.unit.startswith("bytes") and self >> bits and not self & ((1 << bits) - 1):
                return f"{self >> bits} {prefix}{self.unit[5:]}"
        return f"{self:,} {self.unit}"

    def times(self, factor: float) -> Limit:
        """The limit, or a higher one for an option that raises it."""
        return Limit(max(self, int(self * factor)), self.unit, self.input, self.remedy, beyond=self.beyond)

    def exceeded(self, name: str) -> str:
        """The line about an input that has more: the limit, its figure, and the remedy."""
        return f"{name} has more than {self.figure}" + (f"; {self.remedy}" if self.remedy else "")


class Counter:
    """The remaining amount of something that a run may use: `most` at first; `left` is negative once it used more."""

    __slots__ = ("left", "most")

    def __init__(self, most: int) -> None:
        self.left: int = most
        self.most: int = most

    def take(self, count: int) -> bool:
        """Subtract a count, and return whether it was still available."""
        self.left -= count
        return self.left >= 0

    def refill(self, most: int) -> None:
        """Begin again, with another amount."""
        self.left = self.most = most


FINDING = "a finding"
DEFINITION_BYTES = Limit(1 << 20, "bytes", "a definition", "no definition is as long", beyond=FINDING)
DEFINITION_LEVELS = Limit(64, "levels of nesting", "a definition", "structs need not be nested", beyond=FINDING)
DEFINITION_PROBLEMS = Limit(100, "problems of the text", "a definition", beyond="the others are not reported")
DEFINITION_GLOBS = Limit(1_000, "ignored selectors with wildcards", "a definition", "name the rules", beyond=FINDING)
UNFOLDED_FIELDS = Limit(100_000, "fields, structs unfolded", "layouts that are compared", beyond=FINDING)
UNFOLDED_LEVELS = Limit(64, "levels of structs", "layouts that are compared", beyond=FINDING)
ARCHIVE_ENTRIES = Limit(100_000, "entries", "an archive", "unpack it, and name the directory of the definitions")
ARCHIVE_BYTES = Limit(256 << 20, "bytes, unpacked", "an archive", ARCHIVE_ENTRIES.remedy)
ARCHIVE_HEADER = Limit(32 << 20, "bytes in its directory", "an archive", ARCHIVE_ENTRIES.remedy)
_FOLDER = "name the folder of the definitions, as in REV:path"
GIT_ENTRIES = Limit(1_000_000, "entries in a tree", "a git repository", _FOLDER)
GIT_FOLDERS = Limit(100_000, "folders with definitions", "a git repository", _FOLDER)
GIT_LEVELS = Limit(200, "levels of folders", "a git repository", _FOLDER)
GIT_TREE = Limit(32 << 20, "bytes of a tree object", "a git repository", _FOLDER)
GIT_OBJECTS = Limit(256 << 20, "bytes of the objects of a request", "a git repository", _FOLDER)
TEXT_BYTES = Limit(1 << 20, "bytes", "a configuration, a rule pack or a profile", "divide it")
CONFIGURATIONS = Limit(20, "files that each extend the next", "a configuration", "join some of them")
EXPRESSION = Limit(1_000, "characters of an expression", "a rule pack", "name a part of it by `let`")
PACK_PARTS = Limit(200_000, "parts of all expressions", "a rule pack", "divide it")
_RULE = "an error that names the rule"
RULE_SECONDS = Limit(10, "seconds of CPU time, and 1 ms more for each element of a walk", "a rule pack", beyond=_RULE)
RULE_TEXT = Limit(16 << 20, "characters that a rule makes for an element", "a rule pack", beyond=_RULE)
RECHECKED_FILE = 2 << 10
"""The bytes added to the size of each file that is checked again: small files take time too."""
RECHECKED_BYTES = Limit(
    48 << 20,
    f"bytes checked again, {RECHECKED_FILE >> 10} KiB more for each file",
    "the fixes of a set",
    beyond="fixes are refused together where something gets worse",
)
SET_STEPS, BYTE_STEPS = 20_000, 8
STEPS = Limit(
    2_000_000,
    f"steps of suggestions; for a schema set {SET_STEPS:,}, and {BYTE_STEPS} more for each byte, if that is less",
    "a run",
    beyond="the suggestion is left out",
)
"""What may be spent on what is no part of a report. A step takes a tenth of a microsecond or more."""
BASELINE_BYTES = Limit(64 << 20, "bytes", "a baseline", "record one for each set")
KIP_BYTES = Limit(4 << 20, "bytes", "the text of a KIP", "save the section with the definitions alone")
INPUT_BYTES = Limit(128 << 20, "bytes of input", "bytes to decode", "divide it, or decode more by `--limit N`")
FRAME_BYTES = Limit(100 << 20, "bytes of a frame", "bytes to decode", beyond="a problem of the frame")
EMPTY_ELEMENTS = Limit(64, "elements without bytes in an array", "bytes to decode", beyond="a problem of the frame")
_BATCH = "a problem of the batch"
UNPACKED_BYTES = Limit(32 << 20, "bytes of a batch, unpacked", "record batches", beyond=_BATCH)
GROWN_BYTES = Limit(
    128 << 20, "bytes of growth beyond 16 times the packed bytes", "record batches of a run", beyond=_BATCH
)
BATCHES = Limit(100_000, "batches of a field", "record batches", beyond=_BATCH)
RECORDS = Limit(200_000, "records or frames of a run", "bytes to decode", "decode more by `--limit N`")
_REST = "what follows is not decoded"
END_PACKETS = 10
"""How many packets each end of a connection counts as, in addition to the packets that it sends."""
PACKETS = Limit(
    400_000, f"packets, and {END_PACKETS} for each end of a connection", "a capture", RECORDS.remedy, beyond=_REST
)
PAYLOAD = Limit(200 << 20, "bytes in packets", "a capture", RECORDS.remedy, beyond=_REST)
VECTOR_BYTES = Limit(4 << 20, "bytes of bodies", "the vectors of a message", beyond="a warning names what is left out")
VALUES_BYTES = Limit(32 << 20, "bytes", "values to encode", "divide them")
PROBE_BYTES = Limit(64 << 20, "bytes", "the output of probe", "probe fewer brokers at a time")
_BROKER = "an error of that broker"
ANSWER_BYTES = Limit(1 << 20, "bytes", "the answer of a broker", beyond=_BROKER)
ANSWER_ROWS = Limit(1_000, "rows in an array", "the answer of a broker", beyond=_BROKER)
QUERY_CHARACTERS = Limit(100_000, "characters", "a query to a lake", "shorten it")
QUERY_MEMORY = Limit(2 << 30, "bytes of memory", "a query to a lake", "choose fewer rows or columns")
LAKE_VERSIONS = Limit(1_000_000, "versions in its log", "a lake")

suggestion_steps = Counter(STEPS)


def steps_for(size: int) -> int:
    """The steps for a schema set of so many bytes."""
    return min(STEPS, SET_STEPS + BYTE_STEPS * size)


LIMITS = tuple(limit for limit in globals().values() if isinstance(limit, Limit))
