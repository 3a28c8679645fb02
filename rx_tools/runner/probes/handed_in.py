"""What a user may hand in beside the probes: reports, pinned references, correctness sections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rx_tools.errors import DocumentError
from rx_tools.evidence.strict_json import read_document
from rx_tools.model.json import JsonObject, as_list, as_object, as_text
from rx_tools.runner.probes.echo import same
from rx_tools.runner.probes.elsewhere import NOTE, Foreign, read_foreign
from rx_tools.runner.probes.references import PINNED_SCHEMA, PinnedUpdates, read_pinned
from rx_tools.runner.probes.report import SCHEMA

SECTION = "correctness_preflight"


@dataclass(frozen=True, slots=True)
class Beside:
    """Reports from elsewhere and pinned references by optimizer type; paths by their id."""

    elsewhere: Mapping[str, Foreign]
    references: Mapping[str, PinnedUpdates]
    paths: Mapping[str, JsonObject]

    def report(self, optimizer: str) -> Foreign | None:
        """The report of this optimizer."""
        return self.elsewhere.get(same(optimizer))

    def reference(self, optimizer: str) -> PinnedUpdates | None:
        """The pinned reference of this optimizer."""
        return self.references.get(same(optimizer))


NOTHING = Beside({}, {}, {})


def handed_in(files: Sequence[Path]) -> Beside:
    """Read the files, each by its kind. Raises `DocumentError` for any other document.

    A probe report (`urn:rx:schema:probes:1`), a pinned reference of updates
    (`urn:rx:schema:reference-updates:1`), or a `preflight.json` with a correctness section.
    """
    reports: dict[str, Foreign] = {}
    references: dict[str, PinnedUpdates] = {}
    paths: dict[str, JsonObject] = {}
    for file in files:
        document = as_object(read_document(file).value)
        section = as_object(document.get(SECTION, document))
        if document.get("schema") == SCHEMA:
            report = read_foreign(file)
            reports[same(report.optimizer)] = report
        elif document.get("schema") == PINNED_SCHEMA:
            pinned = read_pinned(file)
            references[same(pinned.optimizer)] = pinned
        elif "paths" in section:
            paths |= {as_text(as_object(path).get("id")): {**as_object(path), "note": NOTE}
                      for path in as_list(section["paths"])}  # fmt: skip
        else:
            raise DocumentError(
                "neither a report of probes, a pinned reference, nor a correctness section",
                where=str(file),
            )
    return Beside(reports, references, paths)
