"""API schemas of content encryption."""

from datetime import datetime

from pydantic import BaseModel, Field

from headgate.features.encryption.service import Encryption
from headgate.foundation.database import moment


class EncryptionOut(BaseModel):
    """Whether the organisation's content is encrypted by Headgate."""

    encrypted: bool = Field(description="Whether new content is encrypted.")
    since: datetime | None = Field(description="Start of encryption. Earlier content may be unencrypted.")
    destroyed_at: datetime | None = Field(description="When data keys were last destroyed.")

    @classmethod
    def of(cls, state: Encryption) -> "EncryptionOut":
        """Return the schema of the state."""
        return cls(
            encrypted=state.on,
            since=None if state.since is None else moment(state.since),
            destroyed_at=None if state.destroyed_at is None else moment(state.destroyed_at),
        )
