"""`kiplint pipeline run`."""

from typing import TYPE_CHECKING, Annotated, Any

from kiplint.cli.classes import Argument, Cluster, Command, Option

if TYPE_CHECKING:
    from collections.abc import Sequence


class RunCommand(Command, frozen=True):
    """The options of `kiplint pipeline run`."""

    EPILOG = (
        "Examples:  kiplint pipeline run kafka=../kafka#trunk kafka=../kafka#tags fork=fork.bundle#main --out lake   |"
        "   kiplint pipeline run --out lake.  Exit codes: 0 done, 1 a source could not be read and stays as it was, "
        "2 nothing could be done."
    )

    sources: Annotated[
        tuple[str, ...],
        Argument(
            "A git repository or bundle with a branch, or its releases (`tags`, or `tags=GLOB,!GLOB`); a directory, an "
            "archive. They join those of the lake; without any, those are read again.",
            "NAME=PATH[#branch|tags]",
        ),
    ] = ()
    out: Annotated[str, Option("The directory of the tables, which all executors share.", "LAKE")] = "lake"
    drop: Annotated[tuple[str, ...], Option("Remove a source from the lake. Repeatable.", "NAME")] = ()
    upstream: Annotated[
        str | None, Option("The source that the others are compared with.", "NAME", usual="the first")
    ] = None
    config: Annotated[str | None, Option("A kiplint.toml with the rules to run.", "FILE", usual="the defaults")] = None
    cluster: Cluster = Cluster()
    debug: Annotated[bool, Option("Print the stack of a failure.")] = False
    quiet: Annotated[bool, Option("Print nothing but errors.", alias="-q")] = False

    def run(self) -> int:
        """Read histories into a lake of tables, or bring one up to date.

        Every distinct file and set is checked once, and every distinct pair of neighbours compared once, however many
        commits, tags and forks have them. A run only does what is new; after an interruption, run again.
        """
        from kiplint.cli.process import CLEAN, FINDINGS, warn
        from kiplint.commands.pipeline.text import need

        need("pyspark", "deltalake", "pyarrow", "pandas")
        from pathlib import Path

        from kiplint.pipeline.run import Request, Watcher, run

        request = Request(self.sources, self.drop, self.upstream or "", self.config or "")
        try:
            problems = run(Path(self.out).absolute(), request, self._session, Watcher(self._begin, self._tell))
        except Exception:
            if self.debug:
                import traceback

                traceback.print_exc()
            raise
        for (source, lineage), problem in problems.items():
            warn(f"warning: {' '.join(filter(None, (source, lineage)))} could not be read: {problem}")
        return FINDINGS if problems else CLEAN

    def _session(self) -> Any:
        from kiplint.pipeline.session import open_session, read_conf

        return open_session(self.cluster.master or "", self.cluster.remote or "", read_conf(self.cluster.conf))

    def _begin(self, lines: "Sequence[Any]") -> None:
        if not self.quiet:
            from kiplint.cli.process import warn

            names = ", ".join(" ".join(filter(None, line.key)) for line in lines[:10])
            warn(f"reading {names}{f' and {len(lines) - 10} more' if len(lines) > 10 else ''} into {self.out}")

    def _tell(self, done: Any) -> None:
        if not self.quiet:
            print(f"{done.stage:<10} {done.seconds:6.1f} s  {done.rows:,} new rows", flush=True)
