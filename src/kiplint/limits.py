"""The limits on untrusted input.

SECURITY.md lists them in this order. No option changes them, except where the remedy names it.
"""

from __future__ import annotations

from typing import NamedTuple


class Limit(int):
    """The maximum number of a `unit`, such as bytes, that an `input` may have.

    `beyond` is what happens to a larger input, and `remedy` what a user can do to get it read, empty if nothing.
    """

    input: str
    unit: str
    beyond: str
    remedy: str

    def __new__(cls, most: int, unit: str, input_: str, remedy: str = "", *, beyond: str = "an error") -> Limit:
        """A limit of `most` units on an input, such as `a definition`."""
        limit = super().__new__(cls, most)
        limit.input, limit.unit, limit.remedy, limit.beyond = input_, unit, remedy, beyond
        return limit

    @property
    def figure(self) -> str:
        """The number with its unit: `1 MiB`, `100,000 entries`."""
        mebibytes, rest = divmod(self, 1 << 20)
        if self.unit.startswith("bytes") and mebibytes and not rest:
            return f"{mebibytes} MiB{self.unit.removeprefix('bytes')}"
        return f"{self:,} {self.unit}"

    def exceeded(self, name: str) -> str:
        """The message about an input that exceeds the limit: `x.zip has more than 100,000 entries; unpack it`."""
        return f"{name} has more than {self.figure}" + (f"; {self.remedy}" if self.remedy else "")


FINDING = "a finding"
DEFINITION_BYTES = Limit(1 << 20, "bytes", "a definition", "no real definition is this long", beyond=FINDING)
DEFINITION_LEVELS = Limit(64, "levels of nesting", "a definition", "structs need not be nested", beyond=FINDING)
DEFINITION_PROBLEMS = Limit(100, "problems in the text", "a definition", beyond="the others are not reported")
FIXED_PROBLEMS = Limit(100_000, "problems in the text", "a definition that is fixed", beyond="fixed in a later pass")
SUGGESTIONS = Limit(20, "suggestions", "a definition", beyond="the others are omitted")
DEFINITION_GLOBS = Limit(1_000, "ignored selectors with wildcards", "a definition", "name the rules", beyond=FINDING)
UNFOLDED_FIELDS = Limit(100_000, "fields, with structs expanded", "layouts that are compared", beyond=FINDING)
LAYOUTS = Limit(64, "versions with a layout of their own", "layouts that are compared", beyond=FINDING)
UNFOLDED_LEVELS = Limit(64, "levels of structs", "layouts that are compared", beyond=FINDING)
ARCHIVE_ENTRIES = Limit(100_000, "entries", "an archive", "unpack it, and name the directory of the definitions")
ARCHIVE_BYTES = Limit(256 << 20, "bytes, unpacked", "an archive", ARCHIVE_ENTRIES.remedy)
_FOLDER = "name the folder of the definitions, as in REV:path"
GIT_LISTING = Limit(64 << 20, "bytes in its list of files", "a git repository", _FOLDER)
GIT_OBJECTS = Limit(256 << 20, "bytes of objects in one request", "a git repository", _FOLDER)
TEXT_BYTES = Limit(1 << 20, "bytes", "a configuration, a rule pack or saved broker versions", "split it")
BASELINE_BYTES = Limit(64 << 20, "bytes", "a baseline", "record one for each set")
KIP_BYTES = Limit(4 << 20, "bytes", "the text of a KIP", "save only the section with the definitions")
INPUT_BYTES = Limit(128 << 20, "bytes of input", "bytes to decode", "split it")
EDITOR_BYTES = Limit(128 << 20, "bytes", "a message of an editor", beyond="it is skipped")
EMPTY_ELEMENTS = Limit(64, "elements without bytes", "a message to decode", beyond="a problem of the message")

LIMITS = tuple(limit for limit in globals().values() if isinstance(limit, Limit))


class ProblemLimits(NamedTuple):
    """How many problems are noted in a definition, and how many of them get a suggestion, which is slow to find."""

    problems: int
    suggestions: int


REPORTED_PROBLEMS = ProblemLimits(DEFINITION_PROBLEMS, SUGGESTIONS)
ALL_PROBLEMS = ProblemLimits(FIXED_PROBLEMS, FIXED_PROBLEMS)
"""The limits for fixes, which would otherwise need a pass for every hundred problems."""
