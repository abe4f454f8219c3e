"""`python -P -m kiplint`."""

import os
import sys

if __name__ == "__main__":
    # `python -m` looks for modules in the working directory first, unless it runs with -P. That is often a checkout
    # with a stranger's change in it, whose code is not to run: neither as a module nor as a package with rules.
    try:
        here = os.getcwd()
    except OSError:  # it is gone; what is to be said of that is said later
        here = ""
    if not sys.flags.safe_path and sys.path[:1] in ([here], [""]):
        del sys.path[0]

    from kiplint.cli import main

    main()
