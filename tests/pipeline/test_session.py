from __future__ import annotations

import resource

import pytest

from kiplint.pipeline.session import make_session
from tools import complaint


def test_too_few_files_for_spark_are_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    text = "Spark does not start: `ulimit -Hn` allows 256 open files, and it needs 400"
    assert complaint(lambda: make_session("local[1]")) == text
