"""Tables of tenants, users, spaces, members and credentials. The first tenant, user and space always exist."""

from datetime import datetime
from typing import Literal

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    false,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.access.permissions import Role, highest
from headgate.foundation.database import Encrypted, Json, Row, TenantRow, Timestamp, now, of_tenant, partial_index

_IS_SERVICE = "kind = 'service' AND deleted_at IS NULL"


class Tenant(Row):
    """An organisation. All data belongs to one; nothing is shared between two."""

    __tablename__ = "tenants"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    second_factor_required: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether a session with a password needs a second factor for anything except setting one up."""


class User(Row):
    """A user of a tenant, or a service account: the same rights, but only API keys and triggers act with them."""

    __tablename__ = "users"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        Index("ix_users_email_tenant_id", "email", "tenant_id", unique=True),
        Index("ix_users_sso_subject_sso_issuer_tenant_id", "sso_subject", "sso_issuer", "tenant_id", unique=True),
        partial_index("ix_users_service_name", "name", "tenant_id", where=_IS_SERVICE, unique=True),
        CheckConstraint(
            "kind = 'user' OR (kind = 'service' AND email IS NULL AND password_hash IS NULL"
            " AND sso_issuer IS NULL AND sso_subject IS NULL)",
            name="kind",
        ),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    kind: Mapped[Literal["user", "service"]] = mapped_column(String(16), default="user", server_default="user")
    """Never changes. The database refuses a service account that has anything to sign in with."""
    email: Mapped[str | None] = mapped_column(String(254))
    """The sign-in name, in lower case; null for the local user of auto-login."""
    role: Mapped[str] = mapped_column(String(16), default="member", server_default="member")
    """`TenantRole`."""
    active: Mapped[bool] = mapped_column(default=True, server_default=true())
    """A deactivated user cannot sign in, and their keys and sessions are rejected."""
    password_hash: Mapped[str | None] = mapped_column(Text)
    """Argon2id; null until a password is set."""
    sso_issuer: Mapped[str | None] = mapped_column(String(500))
    sso_subject: Mapped[str | None] = mapped_column(String(255))
    home_space_id: Mapped[str | None] = mapped_column(String(36))
    """Default space of new flows. No foreign key: a space may be deleted before its owner."""
    last_sign_in_at: Mapped[datetime | None] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Set when the user was deleted: the row keeps the id for history, without personal data."""

    @property
    def is_operator(self) -> bool:
        """Whether commands and auto-login use this account, which cannot sign in."""
        return self.kind == "user" and self.email is None


class Space(Row):
    """A space of a tenant, which contains flows."""

    __tablename__ = "spaces"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        ForeignKeyConstraint(["owner_user_id"], ["users.id"], ondelete="SET NULL"),
        Index("ix_spaces_owner_user_id", "owner_user_id"),
        Index("ix_spaces_tenant_id_name", "tenant_id", "name"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    owner_user_id: Mapped[str | None] = mapped_column(String(36))
    """The user who created it. Permissions are determined by the members' roles."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class SpaceMember(Row):
    """A user's role in a space; both belong to the same tenant."""

    __tablename__ = "space_members"
    __table_args__ = (
        of_tenant("space_id", "spaces"),
        of_tenant("user_id", "users"),
        CheckConstraint("role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')", name="role"),
        Index("ix_space_members_user_id", "user_id"),
    )

    space_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    role: Mapped[str] = mapped_column(String(16))
    """`Role`; with a role from the directory, the higher of the two."""
    directory_role: Mapped[str | None] = mapped_column(String(16))
    """The highest role through groups of the directory (SCIM); null: none."""
    assigned_role: Mapped[str | None] = mapped_column(String(16))
    """With a role from the directory: the one assigned in Headgate in addition, if any. Else null."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)

    @property
    def by_hand(self) -> str | None:
        """Return the role assigned in Headgate; None for a member through the directory alone."""
        return self.role if self.directory_role is None else self.assigned_role

    def assign(self, role: Role | None) -> None:
        """Set or remove the role assigned in Headgate. Without one, the member must have one from the directory."""
        self.assigned_role = None if role is None or self.directory_role is None else role.value
        self.role = highest(role, self.directory_role).value


class UserSession(TenantRow):
    """A browser session. Only the hash of its token is stored."""

    __tablename__ = "user_sessions"
    __table_args__ = (
        of_tenant("user_id", "users"),
        Index("ix_user_sessions_user_id", "user_id"),
        Index("ix_user_sessions_expires_at", "expires_at"),
        Index("ix_user_sessions_provider_session", "provider_session"),
    )

    user_id: Mapped[str] = mapped_column(String(36))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    last_seen_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    address: Mapped[str] = mapped_column(String(64), default="")
    user_agent: Mapped[str] = mapped_column(String(300), default="")
    method: Mapped[Literal["password", "link", "single_sign_on", "passkey"]] = mapped_column(
        String(16), default="password"
    )
    """The authentication method."""
    provider_session: Mapped[str | None] = mapped_column(String(255))
    """The identity provider's session id (claim `sid`), for logout by the provider."""
    second_factor: Mapped[Literal["totp", "recovery", "passkey"] | None] = mapped_column(String(16))
    """The second factor; null: none."""
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Time of the last confirmation; null: at sign-in."""


class OneTimeLink(TenantRow):
    """A link that sets a password once, created by an admin. Only the hash of its token is stored."""

    __tablename__ = "one_time_links"
    __table_args__ = (
        of_tenant("user_id", "users"),
        Index("ix_one_time_links_user_id", "user_id"),
    )

    user_id: Mapped[str] = mapped_column(String(36))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class TotpAuthenticator(Row):
    """A user's authenticator app."""

    __tablename__ = "totp_authenticators"
    __table_args__ = (of_tenant("user_id", "users"),)

    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    secret: Mapped[bytes] = mapped_column(Encrypted)
    """Encrypted with the installation's key."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Null until the app's first code; it is not enabled before."""
    last_step: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """The time step of the last accepted code: this code and earlier ones are not accepted again."""


class Passkey(TenantRow):
    """A user's passkey (WebAuthn credential). Only its public key is stored."""

    __tablename__ = "passkeys"
    __table_args__ = (
        of_tenant("user_id", "users"),
        Index("ix_passkeys_user_id", "user_id"),
    )

    user_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(60))
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    """In COSE form."""
    sign_count: Mapped[int] = mapped_column(BigInteger, default=0)
    """The authenticator's counter at the last use; a response with a lower one is rejected. 0: it has no counter."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class PasskeyChallenge(Row):
    """An unanswered challenge of a browser. It has no user until it is answered."""

    __tablename__ = "passkey_challenges"
    __table_args__ = (Index("ix_passkey_challenges_expires_at", "expires_at"),)

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of the token in the browser's cookie."""
    challenge: Mapped[bytes] = mapped_column(LargeBinary)
    purpose: Mapped[str] = mapped_column(String(16))
    session_id: Mapped[str | None] = mapped_column(String(36))
    """The session in which it was created and has to be answered; null for sign-in."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class RecoveryCode(TenantRow):
    """A code that replaces the second factor once. Only its hash is stored."""

    __tablename__ = "recovery_codes"
    __table_args__ = (
        of_tenant("user_id", "users"),
        Index("ix_recovery_codes_user_id", "user_id"),
    )

    user_id: Mapped[str] = mapped_column(String(36))
    code_hash: Mapped[str] = mapped_column(String(64))
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ApiKey(TenantRow):
    """A key that acts for a user, within its scopes and spaces. Only the hash of its secret is stored."""

    __tablename__ = "api_keys"
    __table_args__ = (
        of_tenant("user_id", "users"),
        Index("ix_api_keys_user_id", "user_id"),
        Index("ix_api_keys_tenant_id", "tenant_id"),
    )

    user_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    prefix: Mapped[str] = mapped_column(String(24), unique=True)
    """The first part of the key, which lists and logs show."""
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256: the secret is random and long, so a slow hash would add nothing."""
    scopes: Mapped[list[str] | None] = mapped_column(Json)
    """Permissions; null: all of the user's."""
    space_ids: Mapped[list[str] | None] = mapped_column(Json)
    """Spaces; null: all of the user's."""
    networks: Mapped[list[str] | None] = mapped_column(Json)
    """Networks in CIDR notation from which it is accepted; null: from everywhere."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_address: Mapped[str | None] = mapped_column(String(64))
    made_by_key_id: Mapped[str | None] = mapped_column(String(36))
    """The key that created this one and is revoked together with it; null when a user or a command did."""
