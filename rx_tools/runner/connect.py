"""The real service from the environment, with missing credentials named and none ever shown."""

from collections.abc import Mapping

from rx_tools.errors import UsageError
from rx_tools.runner.limits import Limits
from rx_tools.runner.tinker_service import TinkerService

REQUIRED = ("TINKER_BASE_URL", "TINKER_API_KEY")
PROXY_HEADERS = {"Modal-Key": "MODAL_PROXY_TOKEN_ID", "Modal-Secret": "MODAL_PROXY_TOKEN_SECRET"}


def connect(environment: Mapping[str, str], *, limits: Limits | None = None) -> TinkerService:
    """The service that the environment names; `UsageError` names the variables that are missing.

    The proxy tokens go together: one without the other is a mistake, none is a direct address.
    """
    missing = missing_variables(environment)
    if missing:
        raise UsageError(
            f"{', '.join(missing)} not set",
            hint="export what is missing, or add --rehearse to use the embedded service",
        )
    headers = {
        header: environment[variable]
        for header, variable in PROXY_HEADERS.items()
        if environment.get(variable)
    }
    base_url, api_key = (environment[name] for name in REQUIRED)
    return TinkerService(base_url, api_key, headers=headers, limits=limits)


def missing_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names, in order, that `connect` would ask for."""
    missing = [name for name in REQUIRED if not environment.get(name)]
    proxies = [name for name in PROXY_HEADERS.values() if not environment.get(name)]
    return (*missing, *(proxies if len(proxies) == 1 else ()))
