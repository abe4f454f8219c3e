"""Patches in KIPs: ```` ```diff ```` blocks, and what `git diff` writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kiplint.commands.kip.forms import Form, Original, Originals, Piece, Unread, join, name_in, supplied, written
from kiplint.text.document import Block

_FENCE: Final = re.compile(r"[ \t]*(?P<fence>```+|~~~+)[ \t]*(?P<language>\w*)")
_HUNK: Final = re.compile(r"@@+ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
_FILE: Final = re.compile(r"(?:\+\+\+ (?:b/)?|diff --git a/\S+ b/)(?P<path>[^\t\r\n]+)")
_HEADER: Final = re.compile(
    r"diff --git |index [0-9a-f]|--- |\+\+\+ |@@|(?:new|deleted) file mode |\\ No newline|similarity |rename "
)
_DOTS: Final = re.compile(r"[ +]?\s*(?://\s*)?(?:\.\.\.|…)\W*\Z")


class _Line(NamedTuple):
    """A line of a hunk: its sign, its text, and the offset of the text in the KIP."""

    sign: str
    text: str
    start: int

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


class Patch(NamedTuple):
    """A patch of one file: its place in the KIP, the file's path as far as it is named, and its hunks."""

    start: int
    end: int
    path: str
    hunks: tuple[tuple[_Line, ...], ...]

    @property
    def form(self) -> Form:
        """The message that the patch gives when it is applied to the base."""
        return Form(self.start, self.end, "patch", self._apply)

    def _apply(self, base: Originals | None) -> Piece | Unread:
        file = self.path.rpartition("/")[2]
        name = file.removesuffix(".json") or name_in("".join(line.text for hunk in self.hunks for line in hunk))
        if base is None:
            return Unread(self.start, name, "is a patch: name the release that it applies to with --base")
        old = [line.words for hunk in self.hunks for line in hunk if line.sign != "+" and line.words]
        files = base.by_name.get(file) or _common([base.by_line.get(words, set()) for words in old])
        patched = [piece for path in sorted(files) if (piece := self._patched(base.original(path)))]
        if len(patched) == 1:
            return patched[0]
        return Unread(self.start, name, f"is a patch that applies to {len(patched) or 'no'} files of {base.name}")

    def _patched(self, original: Original) -> Piece | None:
        """A definition with the patch applied, or None where it does not apply. Blanks do not count."""
        _, _, lines, words = original
        pieces: list[Piece] = []
        done = 0
        for hunk in self.hunks:
            at = _find(hunk, words, done)
            if at is None:
                return None
            place = hunk[0].start
            pieces.append(supplied("".join(lines[done:at]), place))
            done = at
            for line in hunk:
                if line.sign == "+":
                    pieces += [written(line.text, line.start), supplied("\n", line.start)]
                elif line.words:
                    following = words.index(line.words, done)
                    pieces.append(supplied("".join(lines[done : following + (line.sign == " ")]), place))
                    done = following + 1
        pieces.append(supplied("".join(lines[done:]), self.start))
        return join(pieces)


def _common(sets: Sequence[set[str]]) -> set[str]:
    return set.intersection(*sorted(sets, key=len)) if sets else set()


def _find(hunk: Sequence[_Line], words: Sequence[str], start: int) -> int | None:
    """Where the old side of a hunk stands, from a line on; None where it does not."""
    old = [line.words for line in hunk if line.sign != "+" and line.words]
    present = [number for number in range(start, len(words)) if words[number]]
    for first in range(len(present) - len(old) + 1 if old else 0):
        if all(words[present[first + n]] == expected for n, expected in enumerate(old)):
            return present[first]
    return None


def find_patches(plain: str) -> list[Patch]:
    """The patches in a text, in their order."""
    return [patch for start, end in _stretches(plain) for patch in _patches(plain, start, end)]


def new_side(plain: str, patches: Sequence[Patch]) -> str:
    """The text, as long as before, with the new side of each patch in its place."""
    parts: list[str] = []
    done = 0
    for patch in patches:
        parts.append(plain[done : patch.start])
        kept = {line.start: line for hunk in patch.hunks for line in hunk if line.sign != "-"}
        at = patch.start
        for text in plain[patch.start : patch.end].splitlines(keepends=True):
            body = text.rstrip("\r\n")
            shown = next((kept[start].text for start in (at, at + 1) if start in kept), "")
            parts.append(" " * (len(body) - len(shown)) + shown + text[len(body) :])
            at += len(text)
        done = patch.end
    return "".join([*parts, plain[done:]])


_SIGNED: Final = re.compile(r"""^(?:(-)|\+)(?=[ \t]*(?:["{}\[\]]|//|\.\.\.))([^\r\n]*)""", re.MULTILINE)


def unsigned(plain: str, blocks: Iterable[Block]) -> str:
    """The text, as long as before, with the new side of definitions whose changed lines begin with a sign."""
    parts: list[str] = []
    done = 0
    for block in blocks:
        body = plain[block.start : block.end]
        new = _SIGNED.sub(lambda match: " " * len(match.group()) if match[1] else " " + match[2], body)
        parts += [plain[done : block.start], new]
        done = block.end
    return "".join([*parts, plain[done:]])


def _stretches(plain: str) -> Iterator[tuple[int, int]]:
    """Where patches stand: fences of the language diff, and hunks with what stands before them."""
    at = 0
    start = -1
    fence = ""
    left = [0, 0]
    for text in plain.splitlines(keepends=True):
        line = text.rstrip("\r\n")
        opening = _FENCE.match(line)
        if fence or (start >= 0 and opening):
            if opening and opening["fence"].startswith(fence) and not opening["language"]:
                yield start, at
                start, fence = -1, ""
        elif opening and opening["language"] in ("diff", "patch"):
            start, fence = at + len(text), opening["fence"]
        elif hunk := _HUNK.match(line):
            start = at if start < 0 else start
            left = [int(hunk["old"] or 1), int(hunk["new"] or 1)]
        elif start >= 0 and max(left) > 0 and not line.startswith("diff --git "):
            left = [left[0] - (line[:1] not in ("+", "\\")), left[1] - (line[:1] not in ("-", "\\"))]
        elif _HEADER.match(line):
            start = at if start < 0 and line.startswith(("diff --git ", "--- ")) else start
        elif start >= 0:
            yield start, at
            start, left = -1, [0, 0]
        at += len(text)
    if start >= 0:
        yield start, at


def _patches(plain: str, start: int, end: int) -> Iterator[Patch]:
    """The patches of single files in a stretch."""
    hunks: list[list[_Line]] = [[]]
    path, first, at = "", start, start
    for text in plain[start:end].splitlines(keepends=True):
        line = text.rstrip("\r\n")
        if line.startswith(("diff --git ", "--- ")) and any(hunks):
            yield Patch(first, at, path, tuple(tuple(hunk) for hunk in hunks if hunk))
            hunks, path, first = [[]], "", at
        if named := _FILE.match(line):
            path = named["path"].strip()
        if _HEADER.match(line) or _DOTS.match(line):
            hunks.append([])
        else:
            sign = line[:1] if line[:1] in ("+", "-") else " "
            skip = 1 if line[:1] in ("+", "-", " ") else 0
            hunks[-1].append(_Line(sign, line[skip:], at + skip))
        at += len(text)
    if any(line.sign != " " for hunk in hunks for line in hunk):
        yield Patch(first, end, path, tuple(tuple(hunk) for hunk in hunks if any(line.sign != " " for line in hunk)))
