"""How it is reported that Spark cannot start."""

from __future__ import annotations

import resource

import pytest

from kiplint.pipeline import session
from ports import closed_port
from tools import complaint


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ANSWERS_WITHIN", 0.5)
    with closed_port() as port:
        error = complaint(lambda: session.make_session(remote=f"sc://127.0.0.1:{port}/;user_id=me"))
    assert error == f"no Spark Connect server answers at 127.0.0.1:{port}"


def test_an_address_that_is_none() -> None:
    error = complaint(lambda: session.make_session(remote="http://127.0.0.1"))
    assert error.startswith("Spark does not start at http://127.0.0.1: ")
    assert "\n" not in error


def test_why_spark_does_not_start() -> None:
    java = "An error occurred while calling None.X.\n: java.lang.IllegalStateException: the master is gone\n\tat Y\n"
    assert session.first_line(RuntimeError(java)) == "java.lang.IllegalStateException: the master is gone"
    assert session.first_line(RuntimeError("[CODE] one line\nmore")) == "[CODE] one line"
    assert session.first_line(RuntimeError()) == "RuntimeError"
    causes = (
        "Caused by: org.a.FSError: java.io.IOException: No space\n\tat Y\nCaused by: java.io.IOException: No space left"
    )
    assert session.first_line(RuntimeError(f"{java}{causes}\n\tat Z")) == (
        "No space left (java.lang.IllegalStateException: the master is gone)"
    )
    traceback = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\nOSError: [Errno 28] No space left'
    )
    worker = f"\n An exception was thrown from the Python worker:\n{traceback}\n\nJVM stacktrace:\n\tat a.B"
    assert session.first_line(RuntimeError(worker)) == "OSError: [Errno 28] No space left"


def test_too_few_files_for_spark_are_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    text = "Spark does not start: `ulimit -Hn` allows 256 open files, and it needs 400"
    assert complaint(lambda: session.make_session("local[1]")) == text
