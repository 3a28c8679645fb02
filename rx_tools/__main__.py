"""`rx …` and `python -m rx_tools …` are the same."""

import sys

from rx_tools.cli.app import build


def main() -> None:
    """Run the command line on `sys.argv`."""
    build(sys.argv[1:])()


if __name__ == "__main__":
    main()
