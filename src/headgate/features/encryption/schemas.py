"""What the API says of the encryption of content."""

from datetime import datetime

from pydantic import BaseModel, Field

from headgate.features.encryption.service import Encryption
from headgate.foundation.database import moment


class EncryptionOut(BaseModel):
    """Whether the organisation's content is encrypted by Headgate."""

    encrypted: bool = Field(description="Whether new content is encrypted.")
    since: datetime | None = Field(description="Since when. Content from before may be unencrypted.")
    destroyed_at: datetime | None = Field(description="When data keys were destroyed last.")

    @classmethod
    def of(cls, state: Encryption) -> "EncryptionOut":
        """The state as it is shown."""
        return cls(
            encrypted=state.on,
            since=None if state.since is None else moment(state.since),
            destroyed_at=None if state.destroyed_at is None else moment(state.destroyed_at),
        )
