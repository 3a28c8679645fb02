"""The real service from the environment, with missing credentials named and none ever shown."""

from collections.abc import Mapping

from rx_tools.errors import UsageError
from rx_tools.runner.wire.credentials import REQUIRED, missing_variables, proxy_headers
from rx_tools.runner.wire.limits import Limits
from rx_tools.runner.wire.tinker_service import TinkerService


def connect(environment: Mapping[str, str], *, limits: Limits | None = None) -> TinkerService:
    """The service that the environment names; `UsageError` names the variables that are missing."""
    missing = missing_variables(environment)
    if missing:
        raise UsageError(
            f"{', '.join(missing)} not set",
            hint="export what is missing, or add --rehearse to use the embedded service",
        )
    base_url, api_key = (environment[name] for name in REQUIRED)
    return TinkerService(base_url, api_key, headers=proxy_headers(environment), limits=limits)
