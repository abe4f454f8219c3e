"""`python -m kiplint`."""

from kiplint.cli import main

if __name__ == "__main__":
    main()
