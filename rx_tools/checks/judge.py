"""The one signature of a judge."""

from typing import Protocol

from rx_tools.model.evidence import Evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Result
from rx_tools.model.spec import Spec


class Judge(Protocol):
    """A pure function from three documents to one result; it never raises."""

    def __call__(self, spec: Spec, record: Record, evidence: Evidence) -> Result:
        """Judge a record and its evidence against its spec."""
