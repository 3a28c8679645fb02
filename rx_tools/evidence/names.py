"""The allow-list of file names, where the rooms that write files look for it."""

from rx_tools.model.file_names import check_name, fault_of, folded, twin_of

__all__ = ["check_name", "fault_of", "folded", "twin_of"]
