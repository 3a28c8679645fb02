"""`rx …` and `python -m rx_tools …` are the same."""

import sys

from rx_tools.cli.app import build
from rx_tools.cli.console import open_channels
from rx_tools.cli.guard import report
from rx_tools.errors import UsageError


def main() -> None:
    """Run the command line on `sys.argv`."""
    open_channels()
    try:
        application = build(sys.argv[1:])
    except UsageError as error:
        sys.exit(report(error))
    application()


if __name__ == "__main__":
    main()
