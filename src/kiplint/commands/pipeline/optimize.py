"""`kiplint pipeline optimize`."""

from typing import Annotated

from kiplint.cli.options import Group, LakeArgument, Option

EPILOG = "Example:  kiplint pipeline optimize lake --keep 30"


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    keep: Annotated[int, Option("How many days of states stay, for --as-of.", "DAYS", least=0)] = 7
    quiet: Annotated[bool, Option("Print nothing but errors.", short="-q")] = False


def run(options: Options) -> int:
    """Put the small files of a lake together, and remove what no state of the last days needs.

    What runs that were killed have left behind is removed, too, and nothing else. A run does this by itself once a
    table has many small files.
    """
    from kiplint.cli.process import CLEAN
    from kiplint.commands.pipeline.lake import open_lake
    from kiplint.text.words import plural

    lake = open_lake(options.lake).lake
    from kiplint.pipeline.lake.upkeep import optimize

    done = optimize(lake, options.keep)
    if not options.quiet:
        since = f"{done.oldest.published:%Y-%m-%d %H:%M}"
        compacted, removed = plural(done.compacted, "table"), plural(done.removed, "folder")
        print(f"{compacted} compacted, {removed} removed; states since {since} (number {done.oldest.number}) are there")
    return CLEAN
