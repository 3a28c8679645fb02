"""Versions of the packages that take part in a run."""

from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "numpy",
    "scipy",
    "jsonschema",
    "msgspec",
    "tinker",
    "tinker-cookbook",
    "datasets",
    "torch",
)


def installed_version(package: str) -> str | None:
    """The version of a package, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def installed_versions() -> dict[str, str]:
    """Package → version, of those that are installed."""
    found = {package: installed_version(package) for package in PACKAGES}
    return {package: number for package, number in found.items() if number}
