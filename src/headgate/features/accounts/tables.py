"""Tenants, people, spaces and members; how people prove who they are. The first of each exists from the start."""

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
from headgate.foundation.database import Encrypted, Json, Row, Timestamp, now


class Tenant(Row):
    """An organisation. Everything belongs to one; nothing is shared between two."""

    __tablename__ = "tenants"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    second_factor_required: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether a session that began with a password needs a second factor for anything but setting one up."""


class User(Row):
    """A person of a tenant."""

    __tablename__ = "users"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        Index("ix_users_email_tenant_id", "email", "tenant_id", unique=True),
        Index("ix_users_sso_subject_sso_issuer_tenant_id", "sso_subject", "sso_issuer", "tenant_id", unique=True),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    email: Mapped[str | None] = mapped_column(String(254))
    """What they sign in with, in lower case; null for the local user of auto-login."""
    role: Mapped[str] = mapped_column(String(16), default="member", server_default="member")
    """`TenantRole`."""
    active: Mapped[bool] = mapped_column(default=True, server_default=true())
    """Somebody who is not active cannot sign in, and their keys and sessions do nothing."""
    password_hash: Mapped[str | None] = mapped_column(Text)
    """Argon2id; null until they set one."""
    sso_issuer: Mapped[str | None] = mapped_column(String(500))
    sso_subject: Mapped[str | None] = mapped_column(String(255))
    home_space_id: Mapped[str | None] = mapped_column(String(36))
    """Where their new flows go when no space is named. No foreign key: a space may go before its owner."""
    last_sign_in_at: Mapped[datetime | None] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Set: the row keeps the id for history, and nothing that says who it was."""


class Space(Row):
    """A room of a tenant in which flows live."""

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
    """Who made it. What people may do in it is said by its members' roles."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class SpaceMember(Row):
    """A person's role in a space; both are of the same tenant."""

    __tablename__ = "space_members"
    __table_args__ = (
        ForeignKeyConstraint(["space_id", "tenant_id"], ["spaces.id", "spaces.tenant_id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        CheckConstraint("role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')", name="role"),
        Index("ix_space_members_user_id", "user_id"),
    )

    space_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    role: Mapped[str] = mapped_column(String(16))
    """`Role`; with a role from the directory, the higher of the two."""
    directory_role: Mapped[str | None] = mapped_column(String(16))
    """The highest role that groups of the directory (SCIM) give them here; null: none does."""
    assigned_role: Mapped[str | None] = mapped_column(String(16))
    """With a role from the directory: the one that was assigned in Headgate besides, if any. Else null."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)

    @property
    def by_hand(self) -> str | None:
        """The role that was assigned in Headgate; None for a member through the directory alone."""
        return self.role if self.directory_role is None else self.assigned_role

    def assign(self, role: Role | None) -> None:
        """Set or remove the role assigned in Headgate. Without one, the member must have one from the directory."""
        self.assigned_role = None if role is None or self.directory_role is None else role.value
        self.role = highest(role, self.directory_role).value


class UserSession(Row):
    """A browser in which somebody signed in. Only the hash of its token is kept."""

    __tablename__ = "user_sessions"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        Index("ix_user_sessions_user_id", "user_id"),
        Index("ix_user_sessions_expires_at", "expires_at"),
        Index("ix_user_sessions_provider_session", "provider_session"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
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
    """How they proved who they are."""
    provider_session: Mapped[str | None] = mapped_column(String(255))
    """What the identity provider calls the session there (claim `sid`), for signing out from there."""
    second_factor: Mapped[Literal["totp", "recovery", "passkey"] | None] = mapped_column(String(16))
    """What they proved in addition; null: nothing."""
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When they last proved that it is still them; null: when they signed in."""


class OneTimeLink(Row):
    """A link that sets a password once, made by an admin. Only the hash of its token is kept."""

    __tablename__ = "one_time_links"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        Index("ix_one_time_links_user_id", "user_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class TotpAuthenticator(Row):
    """A user's authenticator app."""

    __tablename__ = "totp_authenticators"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
    )

    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    secret: Mapped[bytes] = mapped_column(Encrypted)
    """Encrypted with the installation's key."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    confirmed_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Null until the app's first code came; it counts for nothing before."""
    last_step: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """The time step of the last accepted code: no code of it or of an earlier one is accepted again."""


class Passkey(Row):
    """A user's passkey (WebAuthn credential). Only its public key is known here."""

    __tablename__ = "passkeys"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        Index("ix_passkeys_user_id", "user_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(60))
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    """In COSE form."""
    sign_count: Mapped[int] = mapped_column(BigInteger, default=0)
    """The authenticator's counter at the last use; an answer with a lower one is refused. 0: it has none."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class PasskeyChallenge(Row):
    """A challenge that a browser has not answered yet. Of nobody until it is answered."""

    __tablename__ = "passkey_challenges"
    __table_args__ = (Index("ix_passkey_challenges_expires_at", "expires_at"),)

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Of the token in the browser's cookie."""
    challenge: Mapped[bytes] = mapped_column(LargeBinary)
    purpose: Mapped[str] = mapped_column(String(16))
    session_id: Mapped[str | None] = mapped_column(String(36))
    """The session that it was made in, and is answered in; null for signing in."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class RecoveryCode(Row):
    """A code that replaces the second factor once. Only its hash is kept."""

    __tablename__ = "recovery_codes"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        Index("ix_recovery_codes_user_id", "user_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    code_hash: Mapped[str] = mapped_column(String(64))
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ApiKey(Row):
    """A key that acts for a person, within its scopes and spaces. Only the hash of its secret is kept."""

    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
        Index("ix_api_keys_user_id", "user_id"),
        Index("ix_api_keys_tenant_id", "tenant_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    prefix: Mapped[str] = mapped_column(String(24), unique=True)
    """The first part of the key, which lists and logs show."""
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256: the secret is random and long, so a slow hash would add nothing."""
    scopes: Mapped[list[str] | None] = mapped_column(Json)
    """Permissions; null: all that the person has."""
    space_ids: Mapped[list[str] | None] = mapped_column(Json)
    """Spaces; null: all that the person has."""
    networks: Mapped[list[str] | None] = mapped_column(Json)
    """Networks in CIDR notation from which it works; null: from everywhere."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_address: Mapped[str | None] = mapped_column(String(64))
    made_by_key_id: Mapped[str | None] = mapped_column(String(36))
    """The key that made this one, and takes it along when it is revoked; null where a person or a command did."""
