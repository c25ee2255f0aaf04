"""Settings of single sign-on with an OpenID Connect provider."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, model_validator

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class SingleSignOnSettings(BaseModel, defer_build=True):
    """Signing in through an OpenID Connect provider. Needs the extra `sso`, and `server.public_url`."""

    issuer: str = Field(
        default="",
        description=(
            "Issuer URL of the identity provider, such as `https://login.example.org/realms/town`. "
            "Empty: no single sign-on. Private addresses are allowed; plain http only on loopback."
        ),
    )
    client_id: str = Field(default="", description="Client id of this installation at the provider.")
    client_secret: SecretStr | None = Field(
        default=None, description="The client's secret. Empty: a public client, protected by PKCE only."
    )
    name: str = Field(default="single sign-on", min_length=1, max_length=60, description="Label of the button.")
    tenant: str = Field(default="", description="Tenant of the users who sign in, by name or id. Empty: the first.")
    create_users: bool = Field(
        default=False,
        description=(
            "Admit every user of the provider as a member. Off: only users whose e-mail address an admin has added."
        ),
    )
    allowed_domains: list[str] = Field(
        default_factory=list,
        description="Domains of e-mail addresses that are allowed to sign in, as a JSON list. Empty: all.",
    )
    trust_email: bool = Field(
        default=False,
        description=(
            "Accept e-mail addresses that the provider does not mark as verified. Only safe where "
            "users cannot choose their own address."
        ),
    )
    admin_claim: str = Field(
        default="",
        description=(
            "Claim that decides who is an admin, such as `groups`; evaluated at every sign-in. "
            "Empty: admins are appointed in Headgate."
        ),
    )
    admin_value: str = Field(default="", description="Value, or one of the values, of the claim for an admin.")
    sign_out_at_provider: bool = Field(
        default=True,
        description="After signing out, redirect the browser to the provider's sign-out, if it has one.",
    )
    scopes: str = Field(default="openid email profile", description="Requested scopes.")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.issuer:
            require_issuer(self.issuer)
            if not self.client_id:
                raise ValueError("single sign-on requires the client_id from the provider")
        if bool(self.admin_claim) != bool(self.admin_value):
            raise ValueError("admin_claim and admin_value must be set together")
        if "openid" not in self.scopes.split():
            raise ValueError("scopes must include openid")
        self.allowed_domains = [domain.strip().lower().removeprefix("@") for domain in self.allowed_domains]
        return self


def require_issuer(issuer: str) -> None:
    """Raise `ValueError` unless it is an issuer (OpenID Connect Discovery 1.0, 3): https, or http on loopback."""
    parts = urlsplit(issuer)
    if parts.query or parts.fragment or "@" in parts.netloc or not parts.hostname:
        raise ValueError("the issuer must be a URL without query, fragment and user name")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK_NAMES):
        raise ValueError("the issuer must be an https URL; plain http is accepted on loopback only")
