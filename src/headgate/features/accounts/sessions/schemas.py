"""What the API says and takes about signing in and sessions."""

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
    """Who says that they are."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    email: TypedEmail
    password: TypedPassword
    organisation: Annotated[
        str | None,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$"),
    ] = Field(default=None, description="Name of the organisation; needed after a 409 that lists several.")
    code: TypedCode | None = Field(
        default=None,
        description="Six digits of the authenticator app, or a recovery code; needed after a 409 "
        "`second_factor_needed`.",
    )


class SignInOptions(BaseModel):
    """How people sign in here; for the page that asks them."""

    auto_login: bool = Field(description="Whether everybody is signed in by being here.")
    passkeys: bool = Field(description="Whether passkeys can be used at this address.")
    single_sign_on: str | None = Field(description="What to call the other way in; null where there is none.")


class SignedInOut(BaseModel):
    """Somebody who has come in. The session itself is in the cookie."""

    tenant: Named
    user: Person
    csrf_token: str = Field(description="Send it as `X-CSRF-Token` with everything that changes something.")
    second_factor_missing: bool = Field(
        description="Whether the session can only set up a second factor, because the organisation requires one."
    )


class LinkIn(BaseModel):
    """A one-time link."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    token: Token = Field(description="What stands behind `#token=` in the link.")


class LinkOwnerOut(BaseModel):
    """Whose link it is; said to whoever has it."""

    email: str | None
    name: str
    organisation: str


class LinkUseIn(LinkIn):
    """A one-time link, and the password that it sets."""

    password: TypedPassword
    code: TypedCode | None = Field(default=None, description="As for signing in, where there is a second factor.")


class PasswordIn(BaseModel):
    """One's present password and the next."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    current: TypedPassword
    new: TypedPassword


class SessionOut(BaseModel):
    """A browser in which one is signed in."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    created_at: datetime
    last_seen_at: datetime = Field(description="To the minute.")
    expires_at: datetime
    address: str
    user_agent: str
    method: Literal["password", "link", "single_sign_on", "passkey"]
    second_factor: Literal["totp", "recovery", "passkey"] | None
    current: bool = Field(default=False, description="Whether this request came with it.")


class SessionsEnded(BaseModel):
    """How many sessions ended."""

    ended: int


class Sessions(BaseModel):
    """One's own sessions, the one used last first."""

    items: list[SessionOut]
