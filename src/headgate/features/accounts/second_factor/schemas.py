"""API schemas of second factors."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from headgate.features.accounts.sessions.schemas import TypedCode, TypedPassword

FirstCode = Annotated[str, StringConstraints(strip_whitespace=True, min_length=6, max_length=20, pattern=r"^[0-9 ]+$")]


class SecondFactorOut(BaseModel):
    """The caller's second factors."""

    required: bool = Field(
        description=("Whether the organisation requires a second factor for users who sign in with a password.")
    )
    missing: bool = Field(description="Whether this session is limited to setting up a second factor.")
    methods: list[str] = Field(
        description=("Available methods: `totp`, `passkey`, `recovery`; empty when none is set up.")
    )
    totp_since: datetime | None = Field(description="When the authenticator app was set up; null without one.")
    recovery_codes_left: int


class TotpBegun(BaseModel):
    """An authenticator app to set up. Shown only once."""

    secret: str = Field(description="Key for manual entry in the app, in base32.")
    uri: str = Field(description="The `otpauth:` address of the QR code.")
    qr: str = Field(description="The QR code: an SVG image as a data URI.")


class FirstCodeIn(BaseModel):
    """The first code of the app that is being set up."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    code: FirstCode


class RecoveryCodes(BaseModel):
    """New recovery codes, shown only once."""

    recovery_codes: list[str] = Field(description="Empty when the account already has valid recovery codes.")


class ConfirmIn(BaseModel):
    """Proof for the confirmation of a session."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    password: TypedPassword | None = Field(default=None, description="For an account without a second factor.")
    code: TypedCode | None = Field(default=None, description="For an account with an authenticator app.")


class SignInPolicy(BaseModel):
    """The organisation's requirements for users who sign in with a password."""

    model_config = ConfigDict(extra="forbid")

    second_factor_required: bool
