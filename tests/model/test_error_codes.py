"""The table of error codes."""

from __future__ import annotations

from kiplint.model.error_codes import error_of


def test_codes_have_names() -> None:
    assert [error_of(code).name for code in (-1, 0, 35, 129, 500)] == [
        "UNKNOWN_SERVER_ERROR", "NONE", "UNSUPPORTED_VERSION", "REBOOTSTRAP_REQUIRED", "UNKNOWN",
    ]  # fmt: skip
    assert [str(error_of(code)) for code in (0, 7, 35, 500)] == [
        "0 (NONE)", "7 (REQUEST_TIMED_OUT, retriable)", "35 (UNSUPPORTED_VERSION, not retriable)", "500 (UNKNOWN)",
    ]  # fmt: skip
