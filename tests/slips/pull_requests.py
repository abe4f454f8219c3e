"""Invented pull requests on the small broker set, right ones and wrong ones, and the entries of their reviews.

A wrong one has one mistake, which may show in several files and in several ways; its review has one entry for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from slips.table import DELETE, DELETE_RESPONSE, FIND, FIND_RESPONSE, OFFSETS, RECORD, SASL, SASL_RESPONSE

TOPIC = "metadata/TopicRecord"
LISTS = "clients/ListReplicasRequest"
LISTS_RESPONSE = "clients/ListReplicasResponse"
QUOTA = "metadata/QuotaRecord"

Edits = tuple[tuple[str, str], ...]
"""Pairs of what stands once in a file, and what is put there."""


class PullRequest(NamedTuple):
    """A pull request, and the entry of a wrong one: its rule and file, and the other rules that it has with it.

    `edits` has a text for a new file, and None for one that is deleted. `is_migrated` is for the set after KIP-1313.
    """

    name: str
    edits: Mapping[str, Edits | str | None]
    entry: str = ""
    also: tuple[str, ...] = ()
    is_migrated: bool = False


def definition(key: int, kind: str, name: str, fields: str, flexible: str = "0+") -> str:
    """A new definition of version 0."""
    listeners = '\n  "listeners": ["broker"],' if kind == "request" else ""
    return f"""\
// SPDX-License-Identifier: Apache-2.0

{{
  "apiKey": {key},
  "type": "{kind}",{listeners}
  "name": "{name}",
  "validVersions": "0",
  "flexibleVersions": "{flexible}",
  "fields": [
{fields}
  ]
}}
"""


def list_replicas(request_key: int = 95, response_key: int = 95, flexible: str = "0+") -> dict[str, str]:
    """A new RPC."""
    request = """\
    { "name": "BrokerId", "type": "int32", "versions": "0+", "entityType": "brokerId", "about": "The broker." }"""
    response = """\
    { "name": "ThrottleTimeMs", "type": "int32", "versions": "0+", "about": "How long a quota holds it back." },
    { "name": "ErrorCode", "type": "int16", "versions": "0+", "about": "The error code, or 0." }"""
    return {
        LISTS: definition(request_key, "request", "ListReplicasRequest", request, flexible),
        LISTS_RESPONSE: definition(response_key, "response", "ListReplicasResponse", response, flexible),
    }


LAST = '"The groups to remove." }'
VALID = '"validVersions": "0-2"'
FLEXIBLE = '"flexibleVersions": "2+"'
GROUPS = '"type": "[]string", "versions": "0+"'
REASON = """,
    { "name": "Reason", "type": "string", "versions": "3+", "nullableVersions": "3+", "default": "null",
      "ignorable": true, "about": "Why they go, for the log of the broker." }"""
DRY_RUN = """,
    { "name": "DryRun", "type": "bool", "versions": "3+", "taggedVersions": "3+", "tag": 0,
      "ignorable": true, "about": "Whether the groups stay." }"""
OWNER = """,
    { "name": "Owner", "type": "string", "versions": "1+", "nullableVersions": "1+", "default": "null",
      "taggedVersions": "1+", "tag": 0, "about": "Who has created the topic, or null." }"""


def bump(text: str) -> tuple[str, str]:
    """The edit that adds version 3, described by a text."""
    return VALID, f'//\n  // Version 3 {text}\n  "validVersions": "0-3"'


SAME = (bump("is the same as version 2."),)

RIGHT = (
    PullRequest("an ignorable field", {DELETE: (bump("adds Reason."), (LAST, LAST + REASON)), DELETE_RESPONSE: SAME}),
    PullRequest("a tagged field", {DELETE: (bump("adds DryRun."), (LAST, LAST + DRY_RUN)), DELETE_RESPONSE: SAME}),
    PullRequest(
        "null from a new version on",
        {
            DELETE: (bump("takes null for all groups."), (GROUPS, f'{GROUPS}, "nullableVersions": "3+"')),
            DELETE_RESPONSE: SAME,
        },
    ),
    PullRequest(
        "a field that ends before a new version",
        {
            FIND: (
                ('"validVersions": "0-6"', '//\n  // Version 7 has no KeyType.\n  "validVersions": "0-7"'),
                ('"KeyType", "type": "int8", "versions": "1+"', '"KeyType", "type": "int8", "versions": "1-6"'),
            ),
            FIND_RESPONSE: (
                ('"validVersions": "0-6"', '//\n  // Version 7 is the same as version 6.\n  "validVersions": "0-7"'),
            ),
        },
    ),
    PullRequest("a new RPC", list_replicas()),
    PullRequest(
        "a new record",
        {
            QUOTA: definition(
                900,
                "metadata",
                "QuotaRecord",
                '    { "name": "Quota", "type": "int64", "versions": "0+", "about": "How many bytes a second." }',
            )
        },
    ),
    PullRequest(
        "a tagged field in a new version of a record",
        {
            TOPIC: (
                ('"validVersions": "0"', '// Version 1 adds Owner.\n  "validVersions": "0-1"'),
                ('past and future." }', f'past and future." }}{OWNER}'),
            )
        },
    ),
    PullRequest("a better description", {DELETE: (("The groups to remove.", "The ids of the groups to delete."),)}),
    PullRequest("a longer comment", {RECORD: (("adds Directories (", "adds Directories, one for each replica ("),)}),
    PullRequest("another listener", {DELETE: (('["broker"]', '["broker", "controller"]'),)}),
    PullRequest("a deprecated version", {DELETE: ((VALID, f'"deprecatedVersions": "0",\n  {VALID}'),)}),
    PullRequest(
        "the next version after KIP-1313",
        {
            DELETE: (('"validVersions": "0-3"', '//\n  // Version 4 is for retries.\n  "validVersions": "0-4"'),),
            DELETE_RESPONSE: (
                ('"validVersions": "0-3"', '//\n  // Version 4 is the same as version 3.\n  "validVersions": "0-4"'),
            ),
        },
        is_migrated=True,
    ),
)

WRONG = (
    PullRequest("a half bump", {DELETE: SAME}, f"rpc/versions-differ {DELETE}", ("compat/response-not-bumped",)),
    PullRequest(
        "a field in a released version",
        {DELETE: ((LAST, LAST + REASON.replace("3+", "2+")),)},
        f"compat/layout-changed {DELETE}",
    ),
    PullRequest(
        "a field that is gone",
        {FIND: (('"KeyType", "type": "int8", "versions": "1+"', '"KeyType", "type": "int8", "versions": "1-5"'),)},
        f"compat/layout-changed {FIND}",
    ),
    PullRequest(
        "a field of another type",
        {DELETE_RESPONSE: (('"ErrorCode", "type": "int16"', '"ErrorCode", "type": "int32"'),)},
        f"compat/layout-changed {DELETE_RESPONSE}",
    ),
    PullRequest(
        "null in released versions",
        {DELETE: ((GROUPS, f'{GROUPS}, "nullableVersions": "0+"'),)},
        f"compat/nullability-widened {DELETE}",
    ),
    PullRequest("another tag", {RECORD: (('"tag": 2', '"tag": 3'),)}, f"tags/gap {RECORD}", ("compat/tag-changed",)),
    PullRequest(
        "one tag for two fields",
        {RECORD: (('"tag": 2', '"tag": 1'),)},
        f"tags/duplicate {RECORD}",
        ("compat/tag-changed",),
    ),
    PullRequest(
        "another default of a tagged field",
        {RECORD: (('"int8", "versions": "0+", "default": "0"', '"int8", "versions": "0+", "default": "1"'),)},
        f"compat/default-changed {RECORD}",
    ),
    PullRequest(
        "a version that is gone",
        {DELETE: ((VALID, '"validVersions": "1-2"'),), DELETE_RESPONSE: ((VALID, '"validVersions": "1-2"'),)},
        f"compat/version-dropped {DELETE}",
        ("compat/version-dropped",),
    ),
    PullRequest(
        "flexible earlier than before",
        {
            DELETE: ((FLEXIBLE, '"flexibleVersions": "1+"'),),
            DELETE_RESPONSE: ((FLEXIBLE, '"flexibleVersions": "1+"'),),
        },
        f"compat/flexible-changed {DELETE}",
        ("compat/flexible-changed",),
    ),
    PullRequest(
        "flexible in one half",
        {OFFSETS: (('"flexibleVersions": "none"', '"flexibleVersions": "0+"'),)},
        f"rpc/flexible-differ {OFFSETS}",
        ("compat/flexible-changed",),
    ),
    PullRequest(
        "a misspelt property",
        {DELETE: ((FLEXIBLE, '"flexibleVersion": "2+"'),)},
        f"shape/unknown-property {DELETE}",
        ("compat/flexible-changed",),
    ),
    PullRequest(
        "a misspelt property of a field",
        {RECORD: (('"taggedVersions": "0+"', '"tagedVersions": "0+"'),)},
        f"shape/unknown-property {RECORD}",
        ("compat/tagged-moved",),
    ),
    PullRequest(
        "a range outside of the message",
        {DELETE: ((GROUPS, '"type": "[]string", "versions": "5-6"'),)},
        f"versions/field-above-valid {DELETE}",
        ("compat/layout-changed",),
    ),
    PullRequest(
        "a conflict marker",
        {DELETE: ((f"  {VALID},", f'<<<<<<< HEAD\n  {VALID},\n=======\n  "validVersions": "0-3",\n>>>>>>> branch'),)},
        f"syntax/invalid-json {DELETE}",
    ),
    PullRequest("an RPC with two keys", list_replicas(95, 96), f"rpc/response-missing {LISTS}"),
    PullRequest(
        "a new RPC that is not flexible",
        list_replicas(flexible="none"),
        f"conventions/new-rpc-not-flexible {LISTS}",
        ("conventions/new-rpc-not-flexible",),
    ),
    PullRequest(
        "a response that is gone",
        {DELETE_RESPONSE: None},
        f"rpc/response-missing {DELETE}",
        ("compat/message-removed",),
    ),
    PullRequest(
        "the key of another RPC",
        {DELETE: (('"apiKey": 42', '"apiKey": 47'),)},
        f"rpc/api-key-duplicate {DELETE}",
        ("compat/api-key-changed",),
    ),
    PullRequest(
        "SaslHandshake bumped",
        {
            SASL: (('"validVersions": "0-1"', '"validVersions": "0-2"'),),
            SASL_RESPONSE: (('"validVersions": "0-1"', '"validVersions": "0-2"'),),
        },
        f"kip-1313/frozen-rpc {SASL}",
        ("kip-1313/frozen-rpc", "compat/frozen-bumped", "compat/frozen-bumped"),
    ),
    PullRequest(
        "headerVersions with a gap", {DELETE: (('"2": "2",', ""),)}, f"kip-1313/header-gap {DELETE}", is_migrated=True
    ),
    PullRequest(
        "headerVersions that overlap",
        {DELETE: (('"0-1"', '"0-2"'),)},
        f"kip-1313/header-overlap {DELETE}",
        ("compat/header-changed",),
        is_migrated=True,
    ),
)
