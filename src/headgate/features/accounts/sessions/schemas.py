"""API schemas of sign-in and sessions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from headgate.features.accounts.passwords.rules import LONGEST
from headgate.features.accounts.schemas import Named, Person

TypedEmail = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True, min_length=1, max_length=254, pattern=r"^[^\x00-\x1f]+$"),
]
TypedPassword = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
TypedCode = Annotated[str, StringConstraints(strip_whitespace=True, min_length=6, max_length=40)]
Token = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+$")]


class SignInIn(BaseModel):
    """Credentials for sign-in."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    email: TypedEmail
    password: TypedPassword
    organisation: Annotated[
        str | None,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$"),
    ] = Field(default=None, description="Name of the organisation; required after a 409 that lists several.")
    code: TypedCode | None = Field(
        default=None,
        description=(
            "Six digits of the authenticator app, or a recovery code; required after a 409 `second_factor_needed`."
        ),
    )


class SignInOptions(BaseModel):
    """Sign-in methods, for the sign-in page."""

    auto_login: bool = Field(description="Whether every visitor is signed in automatically.")
    passkeys: bool = Field(description="Whether passkeys can be used at this address.")
    single_sign_on: str | None = Field(description="Label of the single sign-on button; null without single sign-on.")


class SignedInOut(BaseModel):
    """A signed-in user. The session itself is in the cookie."""

    tenant: Named
    user: Person
    csrf_token: str = Field(description="Send it as `X-CSRF-Token` with every request that changes something.")
    second_factor_missing: bool = Field(description="Whether this session is limited to setting up a second factor.")


class LinkIn(BaseModel):
    """A one-time link."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    token: Token = Field(description="The value after `#token=` in the link.")


class LinkOwnerOut(BaseModel):
    """The user of a link, for its holder."""

    email: str | None
    name: str
    organisation: str


class LinkUseIn(LinkIn):
    """A one-time link, and the new password."""

    password: TypedPassword
    code: TypedCode | None = Field(
        default=None, description=("As for signing in, where the account has a second factor.")
    )


class PasswordIn(BaseModel):
    """The current password and the new one."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    current: TypedPassword
    new: TypedPassword


class SessionOut(BaseModel):
    """A browser in which the user is signed in."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    created_at: datetime
    last_seen_at: datetime = Field(description="Rounded to the minute.")
    expires_at: datetime
    address: str
    user_agent: str
    method: Literal["password", "link", "single_sign_on", "passkey"]
    second_factor: Literal["totp", "recovery", "passkey"] | None
    current: bool = Field(default=False, description="Whether it is the session of this request.")


class SessionsEnded(BaseModel):
    """The number of ended sessions."""

    ended: int


class Sessions(BaseModel):
    """The caller's sessions, most recently used first."""

    items: list[SessionOut]
