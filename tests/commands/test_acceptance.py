"""Accepting a break: by a comment, by the configuration; what is listed, and what accepts nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint import diff, review
from kiplint.engine.errors import UsageError
from render.findings import valid_run
from sources.support import git, make_repository, write
from tools import definition, field, kiplint

REQUEST, RESPONSE = "schemas/ThingRequest.json", "schemas/ThingResponse.json"
NOTE = b"// Version 1 is the same as version 0.\n"
LAYOUT = "compat/layout-changed"


def thing(suffix: str, *fields: dict[str, Any], comment: str = "", name: str = "", **others: Any) -> bytes:
    """A request or a response; `comment` is the text above the type of Size, `name` above the name of the message."""
    common: dict[str, Any] = {"apiKey": 1, "validVersions": "0-1", "flexibleVersions": "0+", "type": suffix.lower()}
    listeners = {"listeners": ["broker"] if suffix == "Request" else None}
    data = definition(*fields, name=f"Thing{suffix}", **{**common, **listeners, **others})
    lines = data.decode().splitlines()
    for mark, offset, text in (('"name": "Size"', 1, comment), (f'"name": "Thing{suffix}"', 0, name)):
        if text:
            (number,) = [number for number, line in enumerate(lines) if mark in line]
            lines.insert(number + offset, f"  // kiplint: ignore[{text}")
    return NOTE + "\n".join(lines).encode() + b"\n"


ID = field("Id", about="Which thing.")
SIZE = field("Size", "int64", about="How large.")
OTHERS = field("Size", "int32", about="How large.")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository whose one commit has a request with a size, and the same files in `old`."""
    files = {REQUEST: thing("Request", ID, SIZE), RESPONSE: thing("Response", ID)}
    make_repository(tmp_path / "work", files)
    monkeypatch.chdir(tmp_path / "work")
    write(tmp_path, {path.replace("schemas", "old"): data for path, data in files.items()})
    return tmp_path / "work"


def compare(request: bytes) -> tuple[str, list[str], list[tuple[str, str]], list[str]]:
    """The status, the changes, the accepted changes with their reasons, and the findings about comments of a diff."""
    write(Path(), {REQUEST: request})
    result = diff("../old", "schemas")
    return (
        result.status,
        [change.kind for change in result.changes],
        [(change.kind, change.accepted) for change in result.accepted],
        [finding.message for finding in result.comments],
    )


def test_a_comment_accepts_the_change_at_its_line(place: Path) -> None:
    for selector in (LAYOUT, "compat"):
        status, changes, accepted, comments = compare(
            thing("Request", ID, OTHERS, comment=f"{selector}] nobody sends it")
        )
        assert (status, changes, accepted, comments) == ("ok", [], [("type-changed", "nobody sends it")], [])
    assert compare(thing("Request", ID, OTHERS))[:2] == ("findings", ["type-changed"])


def test_a_comment_at_the_name_accepts_what_is_gone(place: Path) -> None:
    assert compare(thing("Request", ID, name=f"{LAYOUT}] nobody sends it")) == (
        "ok",
        [],
        [("field-removed", "nobody sends it")],
        [],
    )


def test_a_comment_at_the_name_accepts_no_change_that_has_its_own_line(place: Path) -> None:
    comment = "compat/deprecated] nobody sends it"
    status, changes, accepted, (text,) = compare(thing("Request", ID, SIZE, name=comment, deprecatedVersions="0"))
    assert (status, changes, accepted) == ("ok", ["deprecated"], [])
    assert text == "no change here violates compat/deprecated; remove the comment"


def test_a_comment_that_accepts_nothing_is_a_finding(place: Path) -> None:
    text = f"no change here violates {LAYOUT}; remove the comment"
    assert compare(thing("Request", ID, SIZE, comment=f"{LAYOUT}] nobody sends it")) == ("ok", [], [], [text])


def test_a_comment_of_the_base_accepts_nothing(place: Path) -> None:
    write(place.parent, {"old/ThingRequest.json": thing("Request", ID, SIZE, comment=f"{LAYOUT}] nobody sends it")})
    status, changes, accepted, (text,) = compare(thing("Request", ID, OTHERS, comment=f"{LAYOUT}] nobody sends it"))
    assert (status, changes, accepted) == ("findings", ["type-changed"], [])
    assert text.startswith("the base has this comment too, so it does not accept this change; ")
    assert compare(thing("Request", ID, SIZE, comment=f"{LAYOUT}] nobody sends it"))[3] == []
    spaced = thing("Request", ID, SIZE, comment=f"{LAYOUT}] nobody sends it").replace(b'"int64"', b' "int64"')
    assert compare(spaced) == ("ok", [], [], [text])


def test_check_leaves_comments_about_changes_alone(place: Path) -> None:
    write(place, {REQUEST: thing("Request", ID, OTHERS, comment=f"{LAYOUT}] nobody sends it")})
    before = Path(REQUEST).read_bytes()
    result = kiplint("check", "schemas", "--fix", "--unsafe-fixes", cwd=place)
    assert ("unused-ignore" in result.out, Path(REQUEST).read_bytes()) == (False, before)


@pytest.mark.parametrize(
    ("entry", "accepts"),
    [
        ('rule = "compat/layout-changed", message = "ThingRequest"', True),
        ('rule = "compat", message = "Thing", field = "Size", versions = "0-1"', True),
        ('rule = "layout-changed", message = "ThingRequest"', True),
        ('rule = "compat/layout-changed", message = "ThingRequest", versions = "1"', False),
        ('rule = "compat/layout-changed", message = "ThingRequest", field = "Id"', False),
        ('rule = "tags", message = "ThingRequest"', False),
    ],
)
def test_entries_of_the_configuration(place: Path, entry: str, accepts: bool) -> None:
    (place / "kiplint.toml").write_text(f'accept = [{{ {entry}, reason = "nobody sends it" }}]')
    write(place, {REQUEST: thing("Request", ID, OTHERS)})
    result = diff("../old", "schemas")
    assert [change.accepted for change in result.accepted] == (["nobody sends it"] if accepts else [])
    assert (result.status, bool(result.notes)) == (("ok", False) if accepts else ("findings", True))


def test_a_removed_file_is_accepted_in_the_configuration(place: Path) -> None:
    (place / "kiplint.toml").write_text(
        'accept = [{ rule = "compat/message-removed", message = "Thing", reason = "retired" }]'
    )
    for path in (REQUEST, RESPONSE):
        git(place, "rm", "-q", path)
    write(place, {"schemas/OtherData.json": definition(name="OtherData", type="data", apiKey=None)})
    result = diff("../old", "schemas")
    assert [(change.kind, change.message_name) for change in result.accepted] == [
        ("message-removed", "ThingRequest"),
        ("message-removed", "ThingResponse"),
    ]


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ('rule = "compat/layout-changd", message = "X", reason = "x"', "compat/layout-changd"),
        ('rule = "compat", message = "X", reason = " "', "accept"),
        ('rule = "compat", message = "X"', "reason"),
    ],
)
def test_mistakes_in_entries(place: Path, entry: str, error: str) -> None:
    (place / "kiplint.toml").write_text(f"accept = [{{ {entry} }}]")
    with pytest.raises(UsageError, match=error):
        diff("../old", "schemas")


def test_every_format_has_the_reason(place: Path) -> None:
    write(place, {REQUEST: thing("Request", ID, OTHERS, comment=f"{LAYOUT}] nobody sends it")})
    for name in ("text", "concise", "json", "jsonl", "github", "gitlab", "junit", "markdown", "sarif", "html"):
        result = kiplint("diff", "../old", "schemas", "--output-format", name, cwd=place)
        assert (name, result.code, "nobody sends it" in result.out) == (name, 0, True)
    document = json.loads(kiplint("diff", "../old", "schemas", "--output-format", "json", cwd=place).out)
    assert (document["changes"], document["summary"]["accepted"]) == ([], 1)
    assert [change["kind"] for change in document["accepted"]] == ["type-changed"]
    suppressions = [{"kind": "external", "justification": "nobody sends it"}]
    for words, results in ((("diff", "../old", "schemas"), [suppressions]), (("review",), [None, suppressions])):
        run = valid_run(json.loads(kiplint(*words, "--output-format", "sarif", cwd=place).out))
        assert [result.get("suppressions") for result in run["results"]] == results


# What a review shows of it


def reviewed(base: str | None = None) -> list[tuple[str, int, str]]:
    """The rules, lines and texts of the entries of a review about what the change suppresses."""
    entries = [entry for entry in review(base=base).findings if entry.rule == "review/suppression-added"]
    return [(entry.path, entry.line, entry.message) for entry in entries]


def test_a_review_lists_what_the_change_suppresses(place: Path) -> None:
    odd = field("Odd", "no type", about="A mistake.", versions="0+")
    write(
        place,
        {
            REQUEST: thing("Request", ID, OTHERS, comment=f"{LAYOUT}] nobody sends it"),
            RESPONSE: b"// kiplint: ignore-file[all] trust me\n" + thing("Response", ID, odd),
        },
    )
    (request_path, line, text), (response_path, response_line, response_text) = reviewed()
    assert (request_path, Path(REQUEST).read_text().splitlines()[line - 1].strip()) == (
        REQUEST,
        f"// kiplint: ignore[{LAYOUT}] nobody sends it",
    )
    assert text == f"the change ignores {LAYOUT} here, which hides {LAYOUT}; the reason: nobody sends it"
    assert (response_path, response_line) == (RESPONSE, 1)
    assert response_text.startswith("the change ignores all here, which hides ")
    assert "fields/unknown-type" in response_text and response_text.endswith("; the reason: trust me")
    notice = kiplint("review", "--output-format", "github", cwd=place).out
    assert f"::notice file={RESPONSE},line=1," in notice


def test_a_review_takes_entries_from_the_head_and_lists_them(place: Path) -> None:
    write(place, {REQUEST: thing("Request", ID, OTHERS)})
    (place / "kiplint.toml").write_text(
        f'accept = [{{ rule = "{LAYOUT}", message = "Thing", reason = "nobody sends it" }}]'
    )
    result = review()
    assert (result.status, [change.accepted for change in result.accepted]) == ("ok", ["nobody sends it"])
    text = f"the change accepts {LAYOUT} of Thing, which hides 1 change; the reason: nobody sends it"
    assert [(entry.rule, entry.message) for entry in result.findings] == [("review/suppression-added", text)]
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "accepted")
    assert review(base="HEAD").findings == ()


def test_an_entry_that_no_reviewed_path_needs_is_told_once(place: Path) -> None:
    write(place, {path.replace("schemas", "more"): Path(path).read_bytes() for path in (REQUEST, RESPONSE)})
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "more")
    write(place, {REQUEST: thing("Request", ID, OTHERS)})
    entries = [
        f'{{ rule = "{LAYOUT}", message = "{name}", reason = "nobody sends it" }}' for name in ("Thing", "Other")
    ]
    (place / "kiplint.toml").write_text(f"accept = [{', '.join(entries)}]")

    def told(*paths: str) -> list[str]:
        return [note for note in review(*paths, base="HEAD").notes if note.startswith("accept: ")]

    of_other = f"accept: no change violates {LAYOUT} of Other any more; remove the entry"
    assert told() == [of_other]
    assert told("schemas", "more") == []  # Other may be elsewhere
    assert [change.message_name for change in review("schemas", "more", base="HEAD").accepted] == ["ThingRequest"]
    (place / "kiplint.toml").write_text(f"accept = [{entries[0]}]")
    write(place, {REQUEST: thing("Request", ID, SIZE)})
    assert told("schemas", "more") == [of_other.replace("Other", "Thing")]


def test_comments_that_the_base_has_are_not_listed(place: Path) -> None:
    write(place, {REQUEST: thing("Request", ID, SIZE, comment="style/about-missing] the name says it")})
    git(place, "commit", "-q", "-a", "-m", "comment")
    write(place, {RESPONSE: thing("Response", ID, field("More", versions="1+", about="More."))})
    assert [entry for entry in review(base="HEAD").findings if entry.rule == "review/suppression-added"] == []


ODD = [field(name, "no type", about="A mistake.") for name in ("One", "Two")]
IGNORE = "// kiplint: ignore[fields/unknown-type] generated\n"


def ignoring(data: bytes, *fields: dict[str, Any]) -> bytes:
    """A definition with a comment above the name of each of some fields."""
    text = data.decode()
    for name in (f'"name": "{item["name"]}"' for item in fields):
        text = text.replace(name, f"\n{IGNORE}{name}")
    return text.encode()


@pytest.mark.parametrize(
    ("fields", "ignored", "lines"),
    [
        (ODD[:1], ODD[:1], 0),
        ([ODD[0] | {"about": "A changed line."}], ODD[:1], 0),
        (ODD, ODD, 1),  # a copy
        (ODD, ODD[1:], 1),  # moved
        (ODD[::-1], ODD, 1),
    ],
)
def test_a_comment_is_new_at_another_line(
    place: Path, fields: list[dict[str, Any]], ignored: list[dict[str, Any]], lines: int
) -> None:
    more = RESPONSE.replace("schemas", "more")
    write(place, {path: ignoring(thing("Response", ODD[0]), ODD[0]) for path in (RESPONSE, more)})
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "generated")
    write(place, {RESPONSE: ignoring(thing("Response", *fields), *ignored)})
    assert [path for path, _, _ in reviewed(base="HEAD")] == [RESPONSE] * lines


def test_a_comment_of_another_set_is_new(place: Path) -> None:
    more = RESPONSE.replace("schemas", "more")
    write(place, {more: ignoring(thing("Response", ODD[0]), ODD[0])})
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "generated")
    write(place, {RESPONSE: (place / more).read_bytes()})
    assert [path for path, _, _ in reviewed(base="HEAD")] == [RESPONSE]


def test_a_merge_does_not_list_what_a_side_suppresses(place: Path) -> None:
    git(place, "checkout", "-q", "-b", "topic")
    write(place, {REQUEST: thing("Request", ID, OTHERS, comment=f"{LAYOUT}] nobody sends it")})
    (place / "kiplint.toml").write_text(
        f'accept = [{{ rule = "{LAYOUT}", message = "Other", reason = "nobody sends it" }}]'
    )
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "accepted")
    assert len(reviewed()) == 2
    git(place, "checkout", "-q", "-")
    git(place, "merge", "-q", "--no-ff", "--no-commit", "topic")
    for state in ("in progress", "as HEAD"):
        assert (state, reviewed()) == (state, [])
        write(place, {RESPONSE: thing("Response", ID, name="style/about-missing] mine")})
        (of_merge,) = reviewed()
        assert of_merge[0] == RESPONSE
        git(place, "checkout", "-q", "HEAD", RESPONSE)
        if state == "in progress":
            git(place, "commit", "-q", "-m", "merge")
