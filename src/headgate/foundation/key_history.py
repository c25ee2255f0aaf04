"""The signing keys of an installation over time, in one signed file: what evidence is checked against offline.

Whoever checks gets the file from the installation, keeps it, and asks for a new one after a rotation. A key that was
retired stays in it; one that was revoked is in it with the date and the reason.
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
"""How far the clocks of an installation's machines may be apart."""
_EXPORT = "Get one with `headgate evidence keys`."


class KeyRecord(EvidenceKey):
    """A signing key, and from when to when it was the one that signed."""

    valid_from: datetime | None = None
    """Null of the first key, which no rotation made."""
    valid_until: datetime | None = None
    """When another key took its place; null while it signs."""
    revoked_at: datetime | None = None
    reason: str | None = None
    """Why it was revoked."""


class KeyHistory(BaseModel):
    """Every signing key of an installation."""

    model_config = ConfigDict(frozen=True)

    keys: tuple[KeyRecord, ...]

    def fault(self, key_id: str, at: datetime | None) -> str | None:
        """What is wrong with a signature by a key over something that began at a moment; None when nothing is."""
        record = next((key for key in self.keys if key.key_id == key_id), None)
        if record is None:
            return f"it is signed by key {key_id or 'none'}, which is not in the history of keys."
        if record.revoked_at is not None:
            why = f" ({record.reason})" if record.reason else ""
            return (
                f"it is signed by key {key_id}, which was revoked on {_shown(record.revoked_at)}{why}:"
                " somebody else may have signed it."
            )
        if at is None:
            return None
        if record.valid_until is not None and at > record.valid_until + CLOCKS_DIFFER:
            return f"it is of {_shown(at)}, and key {key_id} signed until {_shown(record.valid_until)} only."
        return None


def history_document(signer: Signer, records: Iterable[KeyRecord]) -> bytes:
    """The file: the keys, signed by the current one."""
    return canonical(signer.sign(_members([record.model_dump(mode="json") for record in records])))


def read_history(content: bytes, key: EvidenceKey | None = None) -> KeyHistory:
    """The history in a file. Raises `Invalid` when it is none, was changed, or is not signed as it must be.

    Args:
        content: The file.
        key: The key that must have signed it. Without one the file is trusted for where it came from.
    """
    document = _document(content)
    wrong = broken_signature(document, _members(document.get("keys")))
    if wrong is not None:
        raise Invalid(f"The history of keys was changed: {wrong}", remedy=_EXPORT)
    if key is not None and document.get("key_id") != key.key_id:
        raise Invalid(
            f"The history of keys is signed by key {document.get('key_id')} and not by key {key.key_id}.",
            remedy="Ask the installation's operator for its current key: headgate evidence key.",
        )
    try:
        history = KeyHistory.model_validate({"keys": document["keys"]})
    except ValidationError as error:
        raise Invalid("The history of keys has a key that is none.", remedy=_EXPORT) from error
    signed_by = next((record for record in history.keys if record.key_id == document["key_id"]), None)
    if signed_by is None or signed_by.revoked_at is not None:
        raise Invalid("The history of keys is signed by a key that it does not hold as valid.", remedy=_EXPORT)
    return history


def moment_of(text: Any) -> datetime | None:  # noqa: ANN401 - from a file
    """A moment in ISO 8601 with an offset; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise Invalid("The file is no history of keys: it is not JSON.", remedy=_EXPORT) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Invalid("The file is no history of keys.", remedy=_EXPORT)
    return document


def _members(keys: Any) -> dict[str, Any]:  # noqa: ANN401 - from a file
    return {"format": FORMAT, "keys": keys}


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
