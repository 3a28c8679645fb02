"""The summary is at most two plain sentences, and names a substituted model.

**What.** `summary` has at most two sentences. When a deviation replaces the model, the summary of
the finished run names the model that really ran.

**Why.** The summary is what people read first and often the only thing; one that hides that another
model ran misleads even where everything below it is right.

**Fix.** Say what ran and what it showed, in two sentences. Put numbers into `metrics`, the rest
into the sections.

**Source.** Exchange contract, section 12.
"""

import re
from collections.abc import Iterator, Mapping

from rx_tools.checks.ruling import on_record, ruled
from rx_tools.model.evidence import Evidence
from rx_tools.model.record import Record
from rx_tools.model.result import Finding, Level, Result
from rx_tools.model.spec import Spec

CODES: Mapping[str, str] = {
    "RX208": "the summary is longer than two sentences",
    "RX209": "the summary does not name the substituted model",
}

END = re.compile(r"[.!?][\"')\]]*(?=\s|$)")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|resp|no|fig|sec|incl|etc|st)|\b[A-Z])\.$"
)


def judge(spec: Spec, record: Record, evidence: Evidence) -> Result:
    """Judge the record alone."""
    return ruled([*length(record), *substitute(record)])


def length(record: Record) -> Iterator[Finding]:
    """Two sentences at most."""
    count = len(sentences(record.summary or ""))
    if count > 2:
        message = f"the summary has {count} sentences; two are allowed"
        yield on_record("RX208", Level.ERROR, message, "$.summary")


def sentences(text: str) -> list[str]:
    """The sentences of a text; decimals and common abbreviations end none."""
    found, start = [], 0
    for end in END.finditer(text):
        sentence = text[start : end.end()]
        rest = text[end.end() :].lstrip()
        goes_on = rest[:1].islower() or ABBREVIATION.search(sentence)
        if rest and goes_on:
            continue
        found.append(sentence.strip())
        start = end.end()
    return [part for part in [*found, text[start:].strip()] if part]


def substitute(record: Record) -> Iterator[Finding]:
    """A replaced model is named, at the latest when the run is over."""
    if record.status == "running":
        return
    for deviation in record.deviations:
        model = deviation.effective
        if deviation.field != "model" or not isinstance(model, str):
            continue
        if not names(record.summary or "", model):
            message = f"the summary does not name {model!r}, which ran instead"
            yield on_record("RX209", Level.ERROR, message, "$.summary")


def names(summary: str, model: str) -> bool:
    """Whether the summary contains the model's name, with or without its owner."""
    text = summary.lower()
    return model.lower() in text or model.rpartition("/")[2].lower() in text
