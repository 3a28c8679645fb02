"""Where things lie in a run directory and in a bundle; the names are the same in both."""

import re

RUN = "run.json"
SPEC = "spec.json"
ORIGINAL_SPEC = "original.spec.json"
PLAN = "plan.json"
LEDGER = "ledger.jsonl"
UPDATES = "updates"
EVIDENCE = "evidence"

RECORD = "record.json"
"""Only in a bundle: the newest update, so that nobody has to look for it."""
BUNDLE = "bundle.json"
MANIFEST = "manifest-sha256.txt"

REQUIRED = (RUN, SPEC, PLAN, LEDGER)
CLEARANCE_NAME = re.compile(r"clearance-[1-9][0-9]{0,5}\.json")
UPDATE_NAME = re.compile(r"record-[0-9]{4,6}\.json")
FOLDERS = (EVIDENCE, UPDATES)


def in_evidence(name: str) -> str:
    """The path of an evidence file in a run directory or a bundle."""
    return f"{EVIDENCE}/{name}"


def is_document(name: str) -> bool:
    """Whether a name is that of a document outside the folders."""
    fixed = (*REQUIRED, ORIGINAL_SPEC, RECORD, BUNDLE, MANIFEST)
    return name in fixed or CLEARANCE_NAME.fullmatch(name) is not None


def is_expected(path: str) -> bool:
    """Whether a file of this path belongs into a bundle.

    Evidence may not borrow the name of a document: the ledger names files without a folder.
    """
    folder, slash, name = path.rpartition("/")
    if not slash:
        return is_document(path)
    is_update = UPDATE_NAME.fullmatch(name) is not None
    if folder == UPDATES:
        return is_update
    return folder == EVIDENCE and not is_update and not is_document(name)


def update_number(path: str) -> int:
    """The number of a record update, from its path."""
    return int(path.rpartition("-")[2].removesuffix(".json"))
