"""`kiplint pipeline query`."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, Literal

from kiplint.cli.options import Argument, Cluster, ColorOption, Command, LakeArgument, Option
from kiplint.engine.errors import UsageError
from kiplint.limits import QUERY_MEMORY

if TYPE_CHECKING:
    from kiplint.pipeline.answers.reader import Reader


SHOWN = 1000
"""The number of rows that are shown by default."""


class QueryCommand(Command, frozen=True):
    """The options of `kiplint pipeline query`."""

    EPILOG = (
        "Examples:  kiplint pipeline query lake 'SHOW VIEWS'   |   "
        "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
    )

    lake: LakeArgument
    sql: Annotated[str, Argument("A query in DuckDB's SQL over the lake's tables, or in Spark's with --master.", "SQL")]
    limit: Annotated[
        int | None, Option("The most rows to print.", "ROWS", least=1, usual="1000; csv and parquet have all")
    ] = None
    timeout: Annotated[int, Option("The longest to wait for an answer, in seconds.", "SECONDS", least=1)] = 60
    output_format: Annotated[
        Literal["text", "json", "markdown", "csv", "parquet"], Option("How to write the result.")
    ] = "text"
    cluster: Cluster = Cluster()
    color: ColorOption = "auto"

    def run(self) -> int:
        """Query the lake in SQL.

        Every table is a view with its name. Other views join tables: `set_findings` has the findings of every revision,
        as `check` reports them, `set_changes` the changes of every step, as `diff` reports them; `set_messages`,
        `set_fields`, `releases` and `rpcs` say what revisions hold. `events`, `unreleased_findings`,
        `finding_lifetimes`, `version_releases`, `fixed_upstream` and `behind_upstream` answer a question each. A query
        reads these and nothing else.
        """
        from kiplint.commands.pipeline.lake import open_lake, present_answer, write_rows

        cluster = self.cluster
        if cluster.master or cluster.remote:
            return _on_cluster(self, open_lake(self.lake))
        # A single function of DuckDB can run for hours, or fill the memory: neither its own limits nor Ctrl-C end it.
        if child := _begin_child():
            return _end_of(child, self.timeout)
        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.query import query, stream

        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self.timeout)
        if self.output_format in ("csv", "parquet"):
            with stream(reader, self.sql) as batches:
                return write_rows(batches, self.output_format, self.limit)
        answer = query(reader, self.sql, self.limit or SHOWN)
        return present_answer(answer, self.output_format, self.color)


def _on_cluster(options: QueryCommand, reader: "Reader") -> int:
    from kiplint.commands.pipeline.lake import need_spark, one_session, present_answer

    if options.output_format in ("csv", "parquet"):
        raise UsageError(f"--master and --remote write text, json or markdown, not {options.output_format}")
    need_spark()
    from kiplint.pipeline.answers.query import confined, spark_query

    with _deadline(options.timeout):
        sql = confined(options.sql)
    with one_session(options.cluster) as session:
        answer = spark_query(session(), reader.lake, reader.snapshot, sql, options.limit or SHOWN)
        return present_answer(answer, options.output_format, options.color)


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Limit the time to parse a query, exponential for joins without conditions in sqlglot. Raises UsageError."""

    def end(_number: int, _frame: object) -> None:
        raise _too_long(seconds)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_long(seconds: float) -> UsageError:
    return UsageError(f"the query takes more than {seconds:g} seconds")


LEAST: Final = 1 << 30
"""The address space that DuckDB and Arrow need."""
_ENDING: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def _begin_child() -> int:
    """Continue in a child process with limits on memory; returns its id in the parent, and 0 in the child."""
    sys.stdout.flush()
    sys.stderr.flush()
    # What a handler raises while the hooks of libraries run around a fork is lost, so signals wait until `_end_of`.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    child = os.fork()
    if not child:
        from resource import RLIMIT_AS, getrlimit, setrlimit

        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        soft, hard = getrlimit(RLIMIT_AS)
        limit = min(limit for limit in (QUERY_MEMORY, soft, hard) if limit >= 0)
        setrlimit(RLIMIT_AS, (limit, hard))
        if limit < LEAST:  # the libraries would end the process themselves
            raise MemoryError
    return child


def _end_of(child: int, seconds: float) -> int:
    """Wait for the child; its exit code. Raises UsageError when a limit ended it. A signal here ends it too."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        _, status = os.waitpid(child, 0)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGALRM:
        raise _too_long(seconds)
    if -code in _ENDING:
        return 128 - code
    if code < 0:
        raise UsageError(f"the query takes more than {QUERY_MEMORY.figure}, or DuckDB fails on it (signal {-code})")
    return code
