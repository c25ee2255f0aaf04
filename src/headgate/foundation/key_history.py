"""History of an installation's signing keys in one signed file, for offline verification of evidence.

A verifier gets the file from the installation, stores it, and requests a new one after a rotation. Retired keys stay in
the file; revoked keys are listed with date and reason.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from headgate.foundation.canonical import canonical
from headgate.foundation.errors import Invalid
from headgate.foundation.signing import EvidenceKey, Signer, broken_signature

FORMAT = "headgate-evidence-keys/1"
CLOCKS_DIFFER = timedelta(minutes=5)
"""Maximum clock difference between the installation's machines."""
_EXPORT = "Get one with `headgate evidence keys`."


class KeyRecord(EvidenceKey):
    """A signing key, and the period in which it was current."""

    valid_from: datetime | None = None
    """Null for the first key, which no rotation created."""
    valid_until: datetime | None = None
    """When another key replaced it; null while it is current."""
    revoked_at: datetime | None = None
    reason: str | None = None
    """Why it was revoked."""


class KeyHistory(BaseModel):
    """Every signing key of an installation."""

    model_config = ConfigDict(frozen=True)

    keys: tuple[KeyRecord, ...]

    def fault(self, key_id: str, at: datetime | None) -> str | None:
        """Return what is wrong with a signature by a key over something that began at a time; None when it is valid."""
        record = next((key for key in self.keys if key.key_id == key_id), None)
        if record is None:
            return f"it is signed by key {key_id or 'none'}, which is not in the key history."
        if record.revoked_at is not None:
            reason = f" ({record.reason})" if record.reason else ""
            return (
                f"it is signed by key {key_id}, which was revoked on {_shown(record.revoked_at)}{reason}: "
                "the signature may be forged."
            )
        if at is None:
            return None
        if record.valid_until is not None and at > record.valid_until + CLOCKS_DIFFER:
            return f"it is dated {_shown(at)}, but key {key_id} signed only until {_shown(record.valid_until)}."
        return None


def history_document(signer: Signer, records: Iterable[KeyRecord]) -> bytes:
    """Return the history file: the keys, signed by the current one."""
    return canonical(signer.sign(_members([record.model_dump(mode="json") for record in records])))


def read_history(content: bytes, key: EvidenceKey | None = None) -> KeyHistory:
    """Parse a history file. Raises `Invalid` when it is not one, was changed, or has no valid signature.

    Args:
        content: The file.
        key: The key that must have signed it. Without a key, the file is trusted for its source.
    """
    document = _document(content)
    fault = broken_signature(document, _members(document.get("keys")))
    if fault is not None:
        raise Invalid(f"The key history was changed: {fault}", remedy=_EXPORT)
    if key is not None and document.get("key_id") != key.key_id:
        raise Invalid(
            f"The key history is signed by key {document.get('key_id')}, not by key {key.key_id}.",
            remedy="Ask the installation's operator for its current key: headgate evidence key.",
        )
    try:
        history = KeyHistory.model_validate({"keys": document["keys"]})
    except ValidationError as error:
        raise Invalid("The key history contains an invalid key.", remedy=_EXPORT) from error
    signed_by = next((record for record in history.keys if record.key_id == document["key_id"]), None)
    if signed_by is None or signed_by.revoked_at is not None:
        raise Invalid("The key history is signed by a key that it does not list as valid.", remedy=_EXPORT)
    return history


def moment_of(text: Any) -> datetime | None:  # noqa: ANN401 - from a file
    """Return the time of an ISO 8601 text with an offset; None for other text."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Invalid("The file is not a key history: it is not JSON.", remedy=_EXPORT) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Invalid("The file is not a key history.", remedy=_EXPORT)
    return document


def _members(keys: Any) -> dict[str, Any]:  # noqa: ANN401 - from a file
    return {"format": FORMAT, "keys": keys}


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
