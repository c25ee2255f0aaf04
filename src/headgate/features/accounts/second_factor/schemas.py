"""What the API says and takes about second factors."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from headgate.features.accounts.sessions.schemas import TypedCode, TypedPassword

FirstCode = Annotated[str, StringConstraints(strip_whitespace=True, min_length=6, max_length=20, pattern=r"^[0-9 ]+$")]


class SecondFactorOut(BaseModel):
    """The caller's second factors."""

    required: bool = Field(description="Whether the organisation requires one of users who sign in with a password.")
    missing: bool = Field(description="Whether this session can do nothing else until a second factor is set up.")
    methods: list[str] = Field(description="What can be proved: `totp`, `passkey`, `recovery`; empty: nothing yet.")
    totp_since: datetime | None = Field(description="When the authenticator app was set up; null: there is none.")
    recovery_codes_left: int


class TotpBegun(BaseModel):
    """An authenticator app to set up. Shown this once."""

    secret: str = Field(description="For typing into the app, in base32.")
    uri: str = Field(description="The `otpauth:` address of the QR code.")
    qr: str = Field(description="The QR code: an SVG image as a data URI.")


class FirstCodeIn(BaseModel):
    """The first code of the app that is being set up."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    code: FirstCode


class RecoveryCodes(BaseModel):
    """New recovery codes, shown this once."""

    recovery_codes: list[str] = Field(description="Empty where the account has some that work.")


class ConfirmIn(BaseModel):
    """What proves that it is still the same user."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    password: TypedPassword | None = Field(default=None, description="For an account without a second factor.")
    code: TypedCode | None = Field(default=None, description="For an account with an authenticator app.")


class SignInPolicy(BaseModel):
    """What the organisation requires of users who sign in with a password."""

    model_config = ConfigDict(extra="forbid")

    second_factor_required: bool
