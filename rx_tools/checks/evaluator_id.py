"""The identity of an evaluator, recomputed from its provenance."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from rx_tools.errors import DocumentError
from rx_tools.model.names import Sha256


def evaluator_id(provenance: Mapping[str, Any]) -> Sha256:
    """The SHA-256 of the provenance in the contract's own canonical form (not RFC 8785).

    The scored model is no part of an evaluator. Raises `DocumentError` for a value that JSON cannot
    hold, such as a NaN. Source: contract, section 7.
    """
    try:
        text = json.dumps(
            dict(provenance),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=True,
            allow_nan=False,
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(f"the evaluator's provenance has no identity: {error}") from None
    return Sha256(hashlib.sha256(text.encode()).hexdigest())
