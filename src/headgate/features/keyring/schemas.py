"""API schemas of the installation's keys. No schema contains key material."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.keyring.service import KeyEntry
from headgate.features.keyring.states import KeyState
from headgate.foundation.keyring import Purpose
from headgate.foundation.shaped import shaped


class KeyringOut(BaseModel):
    """A key of the installation, without its material."""

    id: str
    purpose: Purpose
    state: KeyState = Field(description="`prepared`: not used until every process can read it.")
    readable: bool = Field(description="Whether the server that answers this request can read it.")
    public_key: str | None = Field(description="Public key of a signing key, in base64.")
    created_at: datetime | None = Field(description="Null for the first key, which no rotation created.")
    activated_at: datetime | None
    replaced_at: datetime | None
    retired_at: datetime | None
    revoked_at: datetime | None
    reason: str | None = Field(description="Reason for revoking it.")
    values: dict[str, int] = Field(description="Number of stored values that it encrypts, by table and column.")
    running: bool = Field(description="Whether the rotation to this key is still running.")
    waiting_for: list[str] = Field(
        description=("Processes that cannot read it yet, or that still write with another key.")
    )
    unreadable: dict[str, int] = Field(
        description="Stored values that could not be re-encrypted, by the id of the missing key."
    )

    @classmethod
    def of(cls, entry: KeyEntry) -> "KeyringOut":
        """Return the schema of a key."""
        progress = entry.progress or {}
        return shaped(
            cls, entry, waiting_for=progress.get("waiting_for", []), unreadable=progress.get("unreadable", {})
        )


class RevokeIn(BaseModel):
    """The reason for revoking a signing key."""

    model_config = ConfigDict(extra="forbid")

    reason: str = Field(
        min_length=1, max_length=500, description=("Shown to users who verify evidence with the key history.")
    )


class RetiredOut(BaseModel):
    """The result of deleting a key's material."""

    left: bool = Field(description="Whether this machine still has it, in its environment or a read-only folder.")
