"""The variables that name a service and open it: which are missing, and the headers they make.

Nothing here shows a value, and nothing here needs the SDK.
"""

from collections.abc import Mapping

ADDRESS, KEY = "TINKER_BASE_URL", "TINKER_API_KEY"
REQUIRED = (ADDRESS, KEY)
PROXY_HEADERS = {"Modal-Key": "MODAL_PROXY_TOKEN_ID", "Modal-Secret": "MODAL_PROXY_TOKEN_SECRET"}


def missing_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names, in order, that a connection asks for; the proxy tokens go together or not at all.

    None of them is a direct address, one without the other is a mistake.
    """
    missing = [name for name in REQUIRED if not environment.get(name)]
    proxies = [name for name in PROXY_HEADERS.values() if not environment.get(name)]
    return (*missing, *(proxies if len(proxies) == 1 else ()))


def proxy_headers(environment: Mapping[str, str]) -> dict[str, str]:
    """The headers of the proxy in front of the service; empty for a direct address."""
    return {
        header: environment[variable]
        for header, variable in PROXY_HEADERS.items()
        if environment.get(variable)
    }
