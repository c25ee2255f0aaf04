"""API schemas of passkeys."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from headgate.foundation.names import Name

PasskeyName = Annotated[Name, Field(max_length=60)]


class PasskeyOptions(BaseModel):
    """Options for `navigator.credentials`; the challenge's token is in a cookie."""

    options: dict[str, Any] = Field(description="For `PublicKeyCredential.parse...OptionsFromJSON` (WebAuthn Level 3).")


class PasskeyAnswer(BaseModel):
    """The browser's response."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    credential: dict[str, Any] = Field(description="`PublicKeyCredential.toJSON()`.")


class PasskeyIn(PasskeyAnswer):
    """A passkey to register."""

    name: PasskeyName


class PasskeyRename(BaseModel):
    """A new name of a passkey."""

    model_config = ConfigDict(extra="forbid")

    name: PasskeyName


class PasskeyOut(BaseModel):
    """A passkey."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeyAdded(PasskeyOut):
    """A new passkey."""

    recovery_codes: list[str] | None = Field(
        description="Shown only once, when this is the first second factor; null otherwise."
    )


class Passkeys(BaseModel):
    """The caller's passkeys, oldest first."""

    available: bool = Field(description="Whether passkeys can be used at this address.")
    items: list[PasskeyOut]
