"""Built-in releases where a SET goes: in an empty directory, outside of any repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint import diff, show
from kiplint.compat.released import releases_of
from kiplint.engine.config import configure
from sources.support import git, make_repository
from tools import definition, field, kiplint

TITLES = "Apache Kafka 4.4.0 (built in) compared with Apache Kafka 4.3.1 (built in): "
NEWEST = "no definitions in the working directory: this is Apache Kafka 4.4.0 (built in)\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_diff_of_two_releases_is_that_of_their_tags(corpus: Path) -> None:
    bundle = corpus / "kafka-releases.bundle"
    for old, new in (("2.7.0", "2.8.0"), ("3.3.2", "3.4.0"), ("3.9.0", "4.0.0"), ("4.3.1", "4.4.0")):
        built_in, tags = diff(old, new), diff(f"{old}:", f"{new}:", repository=bundle)
        rows = [
            sorted(
                (change.fingerprint, change.message, change.breaks)
                for change in result.changes
                if change.rule != "compat/comment-changed"
            )
            for result in (built_in, tags)
        ]
        assert rows[0] == rows[1]
        mixed = diff(old, f"{new}:", repository=bundle)
        assert [change for change in mixed.changes if change.rule == "compat/comment-changed"] == []


def test_a_directory_with_one_set_is_compared_with_that_of_the_release(corpus: Path) -> None:
    """Trunk of 2026-08 has the definitions of 4.4.0, here by set and not in the directories of Kafka's repository."""
    for name in ("clients", "raft", "metadata"):
        directory = corpus / "kafka-trunk-2026-08" / name
        assert diff("4.4", directory).changes == diff(directory, "4.4").changes == ()
    changes = diff(corpus / "kafka-trunk-2026-08/clients", "4.3", messages=["ApiVersions"]).changes
    assert {change.kind for change in changes} == {"version-dropped"}


def test_the_summary_names_the_releases(elsewhere: Path) -> None:
    result = kiplint("diff", "4.3", "4.4", "--for", "client", cwd=elsewhere)
    assert result.out.splitlines()[-1].startswith(TITLES)


def test_what_lies_there_by_that_name_comes_first(elsewhere: Path) -> None:
    (elsewhere / "4.4").mkdir()
    (elsewhere / "4.4" / "XData.json").write_bytes(definition(name="XData", type="data", apiKey=None, listeners=None))
    result = kiplint("show", "XData", "4.4", cwd=elsewhere)
    assert (result.code, result.out.splitlines()[0]) == (0, "XData 0-2")


def test_an_unknown_release(elsewhere: Path) -> None:
    result = kiplint("diff", "4.0", "4.9", cwd=elsewhere)
    expected = "error: no such file or directory: 4.9; the built-in releases of Apache Kafka are 2.2.0 to 4.4.0\n"
    assert (result.code, result.err) == (2, expected)


def test_a_built_in_release_has_nothing_to_check(elsewhere: Path) -> None:
    result = kiplint("check", "4.1", cwd=elsewhere)
    assert (result.code, result.err) == (
        2,
        "error: 4.1 is a built-in release, which has no texts or comments to check; check its tag in a clone of Kafka "
        "(kiplint check 4.1.2: --repo CLONE) or its jar (kafka-clients-4.1.2.jar)\n",
    )


@pytest.mark.parametrize("words", [("migrate", "kip-1313", "4.1"), ("migrate", "bump", "Fetch", "--set", "4.1")])
def test_a_built_in_release_cannot_be_changed(elsewhere: Path, words: tuple[str, ...]) -> None:
    result = kiplint(*words, cwd=elsewhere)
    expected = (2, "error: 4.1 is a built-in release: nothing in it can be changed\n")
    assert (result.code, result.err) == expected
    assert kiplint(*words, "--diff", cwd=elsewhere).err == ""


def test_a_built_in_release_is_released(elsewhere: Path) -> None:
    result = kiplint("diff", "4.0", "4.1", "--released", "3.9", "--released", "4.0.0", cwd=elsewhere)
    assert result.err == "released: the versions in 2 releases (4.0.0, 3.9.2)\n"


def test_a_rollout_of_releases(elsewhere: Path) -> None:
    result = kiplint("rollout", "4.3", "4.4", cwd=elsewhere)
    assert (result.code, "Request header 3: 90 missing, 1 exempt and 4 dead." in result.out) == (1, True)


def test_negotiation_of_releases(elsewhere: Path) -> None:
    result = kiplint("negotiate", "2.8", "4.1", "--output-format", "json", cwd=elsewhere)
    document = json.loads(result.out)
    assert (document["client"], document["brokers"]) == ("2.8", ["4.1"])


def test_show_and_decode_take_the_newest_release_where_there_is_no_definition(elsewhere: Path) -> None:
    shown = kiplint("show", "Fetch@17", cwd=elsewhere)
    assert (shown.code, shown.err, shown.out.splitlines()[0]) == (
        0,
        NEWEST,
        "FetchRequest 17, after request header 2, flexible",
    )
    decoded = kiplint("decode", "MetadataRequest@12", cwd=elsewhere, stdin=b"00010100")
    assert (decoded.code, decoded.err) == (0, NEWEST)


def test_since_when_versions_are_there() -> None:
    request, _ = show("ApiVersions", "4.4").messages
    assert [(row.versions, row.since) for row in request.releases] == [
        ("0-2", "2.2.0"),
        ("3", "2.4.0"),
        ("4", "3.9.0"),
        ("5", "4.4.0"),
    ]
    request, _ = show("ApiVersions@4", "4.4").messages
    assert [(row.versions, row.since) for row in request.releases] == [("4", "3.9.0")]


def test_since_when_a_version_is_stable(elsewhere: Path) -> None:
    text = kiplint("show", "DescribeTopicPartitions", cwd=elsewhere).out
    assert "DescribeTopicPartitionsRequest: version 0 since 3.8.0" in text
    text = kiplint("show", "ListClientMetricsResources", "4.0", cwd=elsewhere).out
    assert "ListClientMetricsResourcesRequest: version 0 since 3.7.0" in text


def test_the_word_for_all_releases(elsewhere: Path) -> None:
    (elsewhere / "built-in").mkdir()
    releases = releases_of(configure(), "4.0", ["built-in"])
    assert releases is not None
    assert (len(releases.names), releases.names[0], releases.names[-1]) == (60, "4.4.0", "2.2.0")


@pytest.mark.parametrize("place", ["metadata/src/main/resources/common/metadata", "schemas"])
def test_a_review_of_changes_since_a_release(elsewhere: Path, corpus: Path, place: str) -> None:
    """In a fork without tags, in Kafka's directories or in others; a revision of that name comes first."""
    trunk = corpus / "kafka-trunk-2026-08" / "metadata"
    files = {f"{place}/{file.name}": file.read_bytes() for file in trunk.glob("*.json")}
    record = files[f"{place}/TopicRecord.json"]
    files[f"{place}/TopicRecord.json"] = record.replace(b'"type": "uuid"', b'"type": "string"')
    work = make_repository(elsewhere / "work", files)
    result = kiplint("review", "--base", "4.4", "--output-format", "json", cwd=work)
    breaks = [entry["message"] for entry in json.loads(result.out)["findings"] if entry["breaks"] == "storage"]
    assert (result.code, breaks) == (1, ["TopicRecord 0, TopicId: TopicId changed from uuid to string"])
    assert "changes are compared with Apache Kafka 4.4.0 (built in); its findings are not" in result.err
    git(work, "tag", "4.4")
    assert json.loads(kiplint("review", "--base", "4.4", "--output-format", "json", cwd=work).out)["base"] == "4.4"


def test_a_kip_beside_a_release(elsewhere: Path) -> None:
    text = definition(field("Name", "string"), name="FetchRequest", listeners=["broker"], validVersions="4-18")
    (elsewhere / "kip.md").write_bytes(text)
    result = kiplint("kip", "kip.md", "--base", "4.1", "--output-format", "json", cwd=elsewhere)
    changes = json.loads(result.out)["kips"][0]["changes"]
    assert ("compat/layout-changed", "FetchRequest") in {(item["rule"], item["message_name"]) for item in changes}


def test_the_package_names_every_release() -> None:
    assert "releases.json.xz" in {file.name for file in (ROOT / "src" / "kiplint" / "sources").iterdir()}
