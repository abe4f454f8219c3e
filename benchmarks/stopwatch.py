"""Run one command and print its wall time, CPU time, peak memory and exit status.

A program of its own, run with `python -I -S`: the kernel counts the memory of the process that starts a command into
the command's own peak, so the one who starts it must be small. Imports nothing but what the interpreter has loaded.
"""

import os
import sys
import time


def main(arguments: list[str]) -> None:
    """Print `wall cpu peak status`: seconds, seconds, the unit of ru_maxrss, negative for a signal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    silence = [(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, nothing, 1)]
    start = time.perf_counter()
    pid = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=silence)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status))


main(sys.argv[1:])
