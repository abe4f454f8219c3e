from __future__ import annotations

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
    raised = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\nOSError: [Errno 28] No space left'
    )
    worker = f"\n An exception was thrown from the Python worker:\n{raised}\n\nJVM stacktrace:\n\tat a.B"
    assert session.first_line(RuntimeError(worker)) == "OSError: [Errno 28] No space left"
