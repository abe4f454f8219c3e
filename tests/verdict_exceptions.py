"""Where kiplint is stricter than Kafka's generator on purpose: mutations that it accepts and that are errors here.

By the mutation's id, or by its family and the rule that it breaks: the reason.
"""

from __future__ import annotations

EXCEPTIONS: dict[str | tuple[str, str], str] = {
    ("valid-versions-none", "rpc/api-key-missing"): (
        "A dead message is kept for its API key and nothing else; without the key the file has no purpose."
    ),
    ("hv-dup-key", "syntax/duplicate-key"): (
        "The generator's JSON reader keeps the last of two equal keys. Other readers keep the first or refuse the "
        "file, so one definition means two things (catalogue: syntax/duplicate-key E)."
    ),
    ("common-structs", "structs/redefined-common"): (
        "Inside another common struct the generator silently ignores fields given in place for a common one; whoever "
        "wrote them expects them on the wire."
    ),
    ("unknown-type", "fields/children-on-primitive"): (
        "The generator drops the fields of an array of primitives without a word; one of the two, type or fields, is "
        "not what was meant."
    ),
    ("default-json-type", "fields/default-unsupported"): (
        "Records have no default but empty and null. The generator ignores any other, so the default that the "
        "definition promises does not exist."
    ),
    ("message-name", "rpc/name-suffix"): (
        "Given one file, the generator does not look at the suffix; given the set, it ends in a RuntimeException for "
        "a request or response without (set-0111)."
    ),
    ("default-float64", "fields/default-not-java"): (
        "The generator copies 1e400 into a Java literal, which javac refuses as too large for a double: no class can "
        "be made of the definition."
    ),
    "single-0234": (
        "The field gives no versions but tagged ones, so it exists from version 32767 on, which is never valid: it is "
        "in no version of the message (catalogue: versions/field-above-valid E)."
    ),
    ("hv-value-syntax", "kip-1313/header-value"): (
        "The generator trims a value and reads a sign, but refuses both in a key; a header version has one notation."
    ),
    ("hv-value-syntax", "kip-1313/header-unknown"): (
        "KIP-1313: version 0 of the request header is no longer used; the set of the mutation has no RequestHeader."
    ),
}
