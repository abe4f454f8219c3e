"""Messages that a KIP does not write as whole definitions: parts of definitions, patches, and what stands for them.

Each becomes the text of a definition, with the position of each of its characters in the KIP.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple
from zlib import crc32

import msgspec

from kiplint.compat.tree import Tree
from kiplint.text.document import Block
from kiplint.text.edit import start_of
from kiplint.text.lines import decode_text
from kiplint.text.scan import scan
from kiplint.text.tree import Node

Kind = Literal["definition", "part", "patch", "table"]


class Piece(NamedTuple):
    """A text, and for each character its offset in the KIP; an added character has `~offset`, which is negative."""

    text: str
    places: Sequence[int]

    def cut(self, start: int, end: int) -> Piece:
        """A stretch of it."""
        return Piece(self.text[start:end], self.places[start:end])


def own_text(text: str, start: int) -> Piece:
    """A text that the KIP has at an offset."""
    return Piece(text, range(start, start + len(text)))


def supplied(text: str, place: int) -> Piece:
    """A text that the KIP does not have, in place of the text at an offset."""
    return Piece(text, array("q", [~place]) * len(text))


def join(pieces: Iterable[Piece], between: str = "") -> Piece:
    """Pieces, one after the other."""
    texts: list[str] = []
    places = array("q")
    for piece in pieces:
        if between and texts:
            texts.append(between)
            places.extend([places[-1] if places[-1] < 0 else ~places[-1]] * len(between) if places else [])
        texts.append(piece.text)
        places.extend(piece.places)
    return Piece("".join(texts), places)


class Original(NamedTuple):
    """A definition of the base: its text, the values in it, and its lines with single blanks between their words."""

    text: str
    root: Node | None
    lines: Sequence[str]
    words: Sequence[str]


class Originals:
    """A release that a KIP changes: its name, and its definitions by file, message, and line."""

    def __init__(self, tree: Tree) -> None:
        self.name = tree.name
        self.messages = {message.name: message for message in tree.messages}
        self._sources = tree.sources
        self._originals: dict[str, Original] = {}

    def original(self, file: str) -> Original:
        """The definition in a file."""
        if file not in self._originals:
            text = decode_text(self._sources[file])
            lines = text.splitlines(keepends=True)
            words = [" ".join(line.split()) for line in lines]
            self._originals[file] = Original(text, scan(text).root, lines, words)
        return self._originals[file]

    @cached_property
    def by_name(self) -> Mapping[str, set[str]]:
        """The files by their names without directories."""
        files: dict[str, set[str]] = {}
        for file in self._sources:
            files.setdefault(re.split(r"[/\\:]", file)[-1], set()).add(file)
        return files

    @cached_property
    def by_line(self) -> Mapping[str, set[str]]:
        """The files by the words of each line in them."""
        files: dict[str, set[str]] = {}
        for file in self._sources:
            for words in self.original(file).words:
                files.setdefault(words, set()).add(file)
        return files


class Unread(msgspec.Struct, frozen=True):
    """A message, or a piece of it, that cannot be read: its offset in the plain text, its name, and the reason."""

    start: int
    name: str
    reason: str


class Form(NamedTuple):
    """A message in the plain text of a KIP. `read` gives the text of its definition, with the help of the base."""

    start: int
    end: int
    kind: Kind
    read: Callable[[Originals | None], Piece | Unread]


_NAME: Final = re.compile(r'"name"\s*:\s*"(\w{1,200})"')


def name_in(text: str) -> str:
    """The first name in the text of a definition or a field, or empty."""
    match = _NAME.search(text)
    return match[1] if match else ""


# Parts of definitions

_LEFT_OUT: Final = re.compile(
    r"""(?ix) [\s/*<(]*+ (?: \.\.\. | …
      | (?:(?:the|all)\s)*+ (?:other|existing|remaining|previous|same|old|rest\sof(?:\sthe)?) \s
        (?:\w+\s)? (?:fields|members|properties) \b
      | (?:the\s)? (?:fields|properties) (?:\sare)? \s (?:unchanged|omitted|elided|as\sbefore|not\sshown|left\sout)
      | (?:unchanged|omitted|elided|snip(?:ped)?|no\schanges?) \W*+ \Z )"""
)
"""Comments that stand for what a KIP does not repeat."""

_GAP: Final = re.compile(
    r"""(?xs) "(?:[^"\\\r\n]++|\\.)*+" | (?P<comment>//[^\r\n]*+|/\*.*?\*/)
      | (?P<gap>(?:\.\.\.|…)[^"{}\[\]\r\n]*+|<[^<>"{}\r\n]++>,?+)"""
)


def read_block(block: Block) -> Form:
    """A definition; a part of it where it leaves something out, or has no versions."""
    gaps: list[int] = []

    def blank(match: re.Match[str]) -> str:
        if not (match["gap"] or (match["comment"] and _LEFT_OUT.match(match["comment"]))):
            return match.group()
        gaps.append(match.start())
        return re.sub(r"[^\r\n]", " ", match.group())

    text = _GAP.sub(blank, block.text)
    if not gaps and block.versioned:
        whole = _with_key(own_text(block.text, block.start))
        return Form(block.start, block.end, "definition", lambda base: whole)
    part = own_text(text, block.start)
    return Form(block.start, block.end, "part", lambda base: complete(part, gaps, base))


_NO_KEY: Final = re.compile(r'"apiKey"\s*:\s*("?(?:TB[ADC]|TODO|[?X]+)"?)(?=\s*[,}])')


def _with_key(whole: Piece) -> Piece:
    """A definition whose API key is still to be determined, with a key that no other message has."""
    match = _NO_KEY.search(whole.text)
    if not match:
        return whole
    key = supplied(_made_key(name_in(whole.text)), whole.places[match.start(1)])
    return join([whole.cut(0, match.start(1)), key, whole.cut(match.end(1), len(whole.text))])


def _made_key(name: str) -> str:
    """The key in place of a message's API key that is still to be determined; the same for both halves of an RPC."""
    return str(20_000 + crc32(name.removesuffix("Request").removesuffix("Response").encode()) % 10_000)


def undetermined(text: str, name: str) -> str:
    """The text of a finding about a message, with TBD in place of the key from `_with_key`."""
    return re.sub(rf"(?i)\b(api ?key ){_made_key(name)}\b", r"\1TBD", text)


def complete(part: Piece, gaps: Sequence[int], base: Originals | None) -> Piece | Unread:
    """A part of a definition, with what the base has in its gaps; `gaps` are offsets in the part."""
    place = part.places[0]
    name = name_in(part.text)
    if base is None:
        return Unread(place, name, "leaves out what only a release has: name the release with --base")
    original = base.original(base.messages[name].file) if name in base.messages else None
    new = scan(part.text).root
    if new is None or original is None or original.root is None:
        return Unread(place, name, f"leaves out what only a release has, and {base.name} has no such message")
    return _Merge(part, supplied(original.text, place), gaps).message(new, original.root)


_LISTS: Final = ("fields", "commonStructs")


class _Merge(NamedTuple):
    """A part of a definition, the whole definition, and the offsets in the part where it leaves something out."""

    part: Piece
    whole: Piece
    gaps: Sequence[int]

    def message(self, new: Node, old: Node) -> Piece:
        """The definition: what the part has, and what the whole has besides."""
        return join([self.whole.cut(0, old.start), self._object(new, old, keep=True)])

    def _object(self, new: Node, old: Node, *, keep: bool) -> Piece:
        news = dict(zip((child.key for child in new.children), _items(self.part, new), strict=True))
        olds = dict(zip((child.key for child in old.children), _items(self.whole, old), strict=True))
        lists = {child.key: child for child in new.children if child.key in _LISTS}
        keep = keep or self._has_gap(new)
        pieces: list[Piece] = []
        for key in sorted({**olds, **news}, key=lambda key: key in _LISTS):
            before, item = news.get(key) or olds[key]
            if key not in news and not keep and key != "fields":
                continue
            if key in news and key in olds:
                before = before if "//" in before.text else olds[key][0]
                if key in lists:
                    child = next(child for child in old.children if child.key == key)
                    item = join([item.cut(0, lists[key].start - start_of(lists[key])), self._list(lists[key], child)])
            pieces.append(join([before, item]))
        return self._bracket("{}", pieces, new)

    def _list(self, new: Node, old: Node) -> Piece:
        """The elements of the part in their order; elements of the whole stay where the part has a gap."""
        olds = {_name_of(self.whole, child): n for n, child in enumerate(old.children)}
        result = list(enumerate(map(join, _items(self.whole, old)))) if self._has_gap(new) else []
        at = 0
        end = new.start
        pieces = list(map(join, _items(self.part, new)))
        places_in_whole = [olds.get(_name_of(self.part, child), -1) for child in new.children]
        for n, child in enumerate(new.children):
            if any(end <= gap < child.start for gap in self.gaps):
                following = places_in_whole[n + 1] if n + 1 < len(places_in_whole) else -1
                gap_follows = (
                    any(child.end <= gap < new.children[n + 1].start for gap in self.gaps) if following >= 0 else True
                )
                at = len(result) if gap_follows else next(i for i, (m, _) in enumerate(result) if m == following)
            end = child.end
            piece = pieces[n]
            if places_in_whole[n] >= 0 and child.kind == "object":
                former = old.children[places_in_whole[n]]
                if any(child.start <= gap < child.end for gap in self.gaps) or _lacks_fields(child, former):
                    piece = self._object(child, former, keep=False)
            place = next((i for i, (m, _) in enumerate(result) if m == places_in_whole[n] >= 0), -1)
            if place >= 0:
                result[place] = (places_in_whole[n], piece)
                at = place + 1
            else:
                result.insert(at, (places_in_whole[n], piece))
                at += 1
        return self._bracket("[]", [piece for _, piece in result], new)

    def _has_gap(self, node: Node) -> bool:
        """Whether the part leaves something out in an object or a list itself."""
        return any(
            node.start <= gap < node.end and not any(child.start <= gap < child.end for child in node.children)
            for gap in self.gaps
        )

    def _bracket(self, brackets: str, pieces: list[Piece], node: Node) -> Piece:
        place = self.part.places[node.start]
        opening, closing = (supplied(bracket, place if place >= 0 else ~place) for bracket in brackets)
        return join([opening, join(pieces, ","), closing])


_COMMA: Final = re.compile(r"\s*+,")


def _items(piece: Piece, node: Node) -> Iterator[tuple[Piece, Piece]]:
    """The properties or elements of a node, each behind the comments and blanks before it."""
    end = node.start + 1
    for child in node.children:
        start = start_of(child)
        comma = _COMMA.match(piece.text, end, start)
        yield piece.cut(comma.end() if comma else end, start), piece.cut(start, child.end)
        end = child.end


def _name_of(piece: Piece, node: Node) -> str | None:
    return next((child.string(piece.text) for child in node.children if child.key == "name"), None)


def _lacks_fields(new: Node, old: Node) -> bool:
    return any(child.key == "fields" for child in old.children) > any(child.key == "fields" for child in new.children)


# Patches: ```` ```diff ```` blocks, and what `git diff` writes

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
        pieces = [piece for path in sorted(files) if (piece := self._patch(base.original(path)))]
        if len(pieces) == 1:
            return pieces[0]
        return Unread(self.start, name, f"is a patch that applies to {len(pieces) or 'no'} files of {base.name}")

    def _patch(self, original: Original) -> Piece | None:
        """A definition with the patch applied, or None where it does not apply. Blanks do not count."""
        _, _, lines, words = original
        pieces: list[Piece] = []
        next_line = 0
        for hunk in self.hunks:
            at = _find(hunk, words, next_line)
            if at is None:
                return None
            place = hunk[0].start
            pieces.append(supplied("".join(lines[next_line:at]), place))
            next_line = at
            for line in hunk:
                if line.sign == "+":
                    pieces += [own_text(line.text, line.start), supplied("\n", line.start)]
                elif line.words:
                    same = words.index(line.words, next_line)
                    pieces.append(supplied("".join(lines[next_line : same + (line.sign == " ")]), place))
                    next_line = same + 1
        pieces.append(supplied("".join(lines[next_line:]), self.start))
        return join(pieces)


def _common(sets: Sequence[set[str]]) -> set[str]:
    return set.intersection(*sorted(sets, key=len)) if sets else set()


def _find(hunk: Sequence[_Line], words: Sequence[str], start: int) -> int | None:
    """Where the old side of a hunk stands, from a line on; None where it does not."""
    old = [line.words for line in hunk if line.sign != "+" and line.words]
    present = [number for number in range(start, len(words)) if words[number]]
    for first in range(len(present) - len(old) + 1 if old else 0):
        if all(words[present[first + n]] == line_words for n, line_words in enumerate(old)):
            return present[first]
    return None


def find_patches(plain: str) -> list[Patch]:
    """The patches in a text, in their order."""
    return [patch for start, end in _stretches(plain) for patch in _patches(plain, start, end)]


def new_side(plain: str, patches: Sequence[Patch]) -> str:
    """The text, as long as before, with the new side of each patch in its place."""
    parts: list[str] = []
    position = 0
    for patch in patches:
        parts.append(plain[position : patch.start])
        new_lines = {line.start: line for hunk in patch.hunks for line in hunk if line.sign != "-"}
        at = patch.start
        for text in plain[patch.start : patch.end].splitlines(keepends=True):
            body = text.rstrip("\r\n")
            new = next((new_lines[start].text for start in (at, at + 1) if start in new_lines), "")
            parts.append(" " * (len(body) - len(new)) + new + text[len(body) :])
            at += len(text)
        position = patch.end
    return "".join([*parts, plain[position:]])


_SIGNED_LINE: Final = re.compile(r"""^(?:(-)|\+)(?=[ \t]*(?:["{}\[\]]|//|\.\.\.))([^\r\n]*)""", re.MULTILINE)


def unsigned(plain: str, blocks: Iterable[Block]) -> str:
    """The text, as long as before, with the new side of definitions whose changed lines begin with a sign."""
    parts: list[str] = []
    position = 0
    for block in blocks:
        body = plain[block.start : block.end]
        new = _SIGNED_LINE.sub(lambda match: " " * len(match.group()) if match[1] else " " + match[2], body)
        parts += [plain[position : block.start], new]
        position = block.end
    return "".join([*parts, plain[position:]])


def _stretches(plain: str) -> Iterator[tuple[int, int]]:
    """The places of patches: fences of the language diff, and hunks with the lines before them."""
    at = 0
    start = -1
    fence = ""
    missing = [0, 0]  # how many lines of the hunk are still to come, on the old side and on the new one
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
            missing = [int(hunk["old"] or 1), int(hunk["new"] or 1)]
        elif start >= 0 and max(missing) > 0 and not line.startswith("diff --git "):
            missing = [missing[0] - (line[:1] not in ("+", "\\")), missing[1] - (line[:1] not in ("-", "\\"))]
        elif _HEADER.match(line):
            start = at if start < 0 and line.startswith(("diff --git ", "--- ")) else start
        elif start >= 0:
            yield start, at
            start, missing = -1, [0, 0]
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
        if file := _FILE.match(line):
            path = file["path"].strip()
        if _HEADER.match(line) or _DOTS.match(line):
            hunks.append([])
        else:
            sign = line[:1] if line[:1] in ("+", "-") else " "
            skip = 1 if line[:1] in ("+", "-", " ") else 0
            hunks[-1].append(_Line(sign, line[skip:], at + skip))
        at += len(text)
    if any(line.sign != " " for hunk in hunks for line in hunk):
        yield Patch(first, end, path, tuple(tuple(hunk) for hunk in hunks if any(line.sign != " " for line in hunk)))
