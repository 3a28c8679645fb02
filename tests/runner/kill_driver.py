"""A client process for the kill tests: trains one arm in a folder, going on where it stands."""

import os
import sys
from pathlib import Path

from rx_tools.errors import UsageError
from rx_tools.runner.arms.arm_loop import train_arm
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.tinker_service import TinkerService
from tests.runner.workshop import make_job, make_shop


def main() -> None:
    folder, base_url = Path(sys.argv[1]), sys.argv[2]
    service = TinkerService(base_url, os.environ["TINKER_API_KEY"], limits=Limits(create=60))
    try:
        train_arm(make_job(), make_shop(folder, service), resume=True)
    except UsageError as done_before:
        sys.exit(done_before.exit_code)
    finally:
        service.close()


if __name__ == "__main__":
    main()
