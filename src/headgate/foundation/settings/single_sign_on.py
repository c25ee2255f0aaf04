"""The settings of signing in through an OpenID Connect provider."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, model_validator

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class SingleSignOnSettings(BaseModel, defer_build=True):
    """Signing in through an OpenID Connect provider. Needs the extra `sso`, and `server.public_url`."""

    issuer: str = Field(
        default="",
        description="Address of the provider as it calls itself, such as `https://login.example.org/realms/town`. "
        "Empty: no single sign-on. It may be a private address; plain http only on loopback.",
    )
    client_id: str = Field(default="", description="What the provider calls this installation.")
    client_secret: SecretStr | None = Field(
        default=None, description="The client's secret. Empty: a public client, which PKCE alone protects."
    )
    name: str = Field(default="single sign-on", min_length=1, max_length=60, description="Shown on the button.")
    tenant: str = Field(default="", description="Tenant whose people sign in, by name or id. Empty: the first.")
    create_users: bool = Field(
        default=False,
        description="Let in anybody the provider vouches for, as a member. Off: only people whose e-mail address an "
        "admin has entered.",
    )
    allowed_domains: list[str] = Field(
        default_factory=list,
        description="Domains of e-mail addresses that may come in, as a JSON list. Empty: all.",
    )
    trust_email: bool = Field(
        default=False,
        description="Believe e-mail addresses that the provider does not call verified. Only where nobody can choose "
        "their own address there.",
    )
    admin_claim: str = Field(
        default="",
        description="Claim that says who is an admin, such as `groups`; looked at each time somebody signs in. Empty: "
        "admins are made in Headgate.",
    )
    admin_value: str = Field(default="", description="What the claim is, or has among its values, for an admin.")
    sign_out_at_provider: bool = Field(
        default=True,
        description="After signing out here, lead the browser to the provider's own sign-out, where it has one.",
    )
    scopes: str = Field(default="openid email profile", description="Scopes asked for.")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.issuer:
            require_issuer(self.issuer)
            if not self.client_id:
                raise ValueError("single sign-on needs the client_id that the provider gave")
        if bool(self.admin_claim) != bool(self.admin_value):
            raise ValueError("admin_claim and admin_value go together")
        if "openid" not in self.scopes.split():
            raise ValueError("scopes must have openid among them")
        self.allowed_domains = [domain.strip().lower().removeprefix("@") for domain in self.allowed_domains]
        return self


def require_issuer(issuer: str) -> None:
    """Raise `ValueError` unless it is an issuer (OpenID Connect Discovery 1.0, 3): https, or http on loopback."""
    parts = urlsplit(issuer)
    if parts.query or parts.fragment or "@" in parts.netloc or not parts.hostname:
        raise ValueError("the issuer is an address without query, fragment and user name")
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK_NAMES):
        raise ValueError("the issuer is an https address; plain http is taken on loopback only")
