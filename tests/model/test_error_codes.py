"""The table of error codes, and those of a branch."""

from __future__ import annotations

from kiplint.model.error_codes import ErrorCode, error_of, read_errors

JAVA = """
// OLD(3, "no longer")
public enum Errors {
    UNKNOWN_SERVER_ERROR(-1, "a \\"text\\" with NOT_ONE(4, inside",
            UnknownServerException::new),
    NONE(0, null, message -> null), /* GONE(5, "x") */
    REQUEST_TIMED_OUT( 7 , "late", TimeoutException::new),
    OURS(10001, "of a fork", OurException::new);
}
"""


def test_codes_have_names() -> None:
    assert [error_of(code).name for code in (-1, 0, 35, 129, 500)] == [
        "UNKNOWN_SERVER_ERROR", "NONE", "UNSUPPORTED_VERSION", "REBOOTSTRAP_REQUIRED", "UNKNOWN",
    ]  # fmt: skip
    assert [str(error_of(code)) for code in (0, 7, 35, 500)] == [
        "0 (NONE)", "7 (REQUEST_TIMED_OUT, retriable)", "35 (UNSUPPORTED_VERSION, not retriable)", "500 (UNKNOWN)",
    ]  # fmt: skip


def test_a_branch_names_its_own_codes() -> None:
    assert read_errors(JAVA) == {
        -1: ErrorCode(-1, "UNKNOWN_SERVER_ERROR", False),
        0: ErrorCode(0, "NONE", False),
        7: ErrorCode(7, "REQUEST_TIMED_OUT", True),
        10001: ErrorCode(10001, "OURS", None),
    }
