"""`python -P -m kiplint`."""

import os
import sys
from contextlib import suppress

if __name__ == "__main__":
    # `python -m` looks for modules in the working directory first, unless it runs with -P. That is often a checkout
    # with a stranger's change in it, whose code is not to run: neither as a module nor as a package with rules.
    with suppress(OSError):  # without a working directory there is no path to it
        if not sys.flags.safe_path and sys.path[0] == os.getcwd():
            del sys.path[0]

    from kiplint.cli import main

    main()
