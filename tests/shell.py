"""A `kiplint` for shells that has been imported already: it hands its words and streams to a process that forks.

A start of the command takes a tenth of a second, and one of the pipeline a whole one; the pages of the guide have two
hundred. What a start itself is like is for other tests.
"""

from __future__ import annotations

import marshal
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from zygote import MODULES, OF_LAKES, begin, import_all, prepare

SIZE = 4
"""Bytes that tell how long a request is."""

CLIENT = f"""\
import _socket, marshal, os, sys
told = marshal.dumps({{"words": sys.argv[2:], "cwd": os.getcwd(), "environment": dict(os.environ)}})
door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
door.connect(sys.argv[1])
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
door.sendmsg([len(told).to_bytes({SIZE}, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
door.sendall(told)
code = int(door.recv(16) or 255)
os._exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def forking() -> Iterator[Path]:
    """A directory with such a command, for the front of a path; outside the block it does not work any more."""
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket is short
        place, client, command = (Path(folder, name) for name in ("door", "client.py", "kiplint"))
        client.write_text(CLIENT)
        start = shlex.join((sys.executable, "-IS", str(client), str(place)))
        command.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        command.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(place))
            door.listen()
            serving = _serving(door)
        try:
            yield Path(folder)
        finally:
            serving.kill()
            serving.wait()


def _serving(door: socket.socket) -> subprocess.Popen[bytes]:
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")  # others are not forked
    return subprocess.Popen(
        [sys.executable, __file__, str(door.fileno())],
        env={**os.environ, **one_thread, "PYTHONPATH": MODULES},
        stdin=subprocess.DEVNULL,
        pass_fds=(door.fileno(),),
    )


def _serve(door: socket.socket) -> NoReturn:
    import_all()
    while True:
        connection, _ = door.accept()
        with connection:
            size, streams, *_ = socket.recv_fds(connection, SIZE, 3)
            with connection.makefile("rb") as incoming:
                request = marshal.loads(incoming.read(int.from_bytes(size, "big")))
            if request["words"][:1] == ["pipeline"]:
                import_all(*OF_LAKES)
            prepare(request["words"])
            if os.fork() == 0:
                _answer(connection, request, streams)
        for stream in streams:
            os.close(stream)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(connection: socket.socket, request: Mapping[str, Any], streams: list[int]) -> NoReturn:
    child = os.fork()
    if child == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.path[1:1] = filter(None, request["environment"].get("PYTHONPATH", "").split(os.pathsep))
        begin({**request, "script": ""})
    _, status = os.waitpid(child, 0)
    connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


if __name__ == "__main__":
    sys.path[0] = os.path.dirname(sys.executable)  # where the script `kiplint` lies
    _serve(socket.socket(fileno=int(sys.argv[1])))
