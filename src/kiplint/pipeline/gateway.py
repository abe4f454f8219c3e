"""The JVM that PySpark starts for itself: it ends when its driver does, also while it is being started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from typing import Any

from pyspark import java_gateway


@contextmanager
def ending_with_us() -> Iterator[None]:
    """Where a session is made: a JVM that is begun here is killed when the process is to end meanwhile.

    It would run for ever: it cannot say any more where it can be reached, complains of that at length, and waits.
    """
    begun: list[Popen[bytes]] = []
    start = vars(java_gateway)["Popen"]

    def noted(*words: Any, **settings: Any) -> Popen[bytes]:
        made: Popen[bytes] = start(*words, **settings)
        begun.append(made)
        return made

    vars(java_gateway)["Popen"] = noted
    try:
        yield
    except Exception:
        raise
    except BaseException:  # Ctrl-C, or another signal
        for process in begun:
            process.kill()
        raise
    finally:
        vars(java_gateway)["Popen"] = start
