"""`kiplint lsp`."""

from typing import Annotated

from kiplint.cli.options import Group, Option

EPILOG = (
    "Example:  kiplint lsp --stdio.  "
    "An editor starts it; docs/guide/editors.md says how for VS Code, IntelliJ, Neovim, Helix and Zed."
)


class Options(Group, frozen=True):
    """What it takes."""

    stdio: Annotated[bool, Option("Talk over standard input and output, as it does anyway: some editors say so.")] = (
        False
    )


def run(options: Options) -> int:
    """Be the language server of an editor: findings as you type, fixes, completion, and what a field means."""
    import gc
    import io
    import os

    from kiplint.cli.logged import log_in_lines
    from kiplint.cli.process import CLEAN
    from kiplint.engine.errors import UsageError

    try:
        from kiplint.server.app import make
        from kiplint.server.framing import Frames
    except ModuleNotFoundError as error:
        what = f"{error.name}, which comes with `pip install 'kiplint[lsp]'`"
        raise UsageError(f"the language server needs {what}") from None
    gc.enable()  # other commands end too soon to need it
    log_in_lines()
    make().start_io(Frames(io.FileIO(os.dup(0))), os.fdopen(os.dup(1), "wb"))  # it closes what it is given
    return CLEAN
