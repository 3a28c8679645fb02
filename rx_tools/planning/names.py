"""What an experiment is called."""


def experiment_name(file_name: str) -> str:
    """The experiment's id: the spec's file name up to its first dot."""
    return file_name.split(".", maxsplit=1)[0] or "experiment"
