"""Tables of an organisation's directory (SCIM): users, groups, and the roles of groups."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, Row, Timestamp, now, of_tenant


class Directory(Row):
    """The directory of an organisation. Every change by it or of it locks this row: one at a time."""

    __tablename__ = "directories"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    token_id: Mapped[str | None] = mapped_column(String(36))
    """Names the token in the audit log; null, like all token columns, when it was revoked."""
    prefix: Mapped[str | None] = mapped_column(String(24))
    token_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    """SHA-256: the token is random and long, so a slow hash would add nothing."""
    networks: Mapped[list[str] | None] = mapped_column(Json)
    """Networks in CIDR notation from which the token is accepted; null: from everywhere."""
    token_created_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_address: Mapped[str | None] = mapped_column(String(64))
    last_change_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When the directory last changed a user or group."""


class DirectoryUser(Row):
    """A user that the directory created or was linked to, with the directory's names."""

    __tablename__ = "directory_users"
    __table_args__ = (
        of_tenant("user_id", "users"),
        UniqueConstraint("user_id", "tenant_id"),
        Index("ix_directory_users_tenant_id_user_name_key", "tenant_id", "user_name_key", unique=True),
        Index("ix_directory_users_tenant_id_external_id", "tenant_id", "external_id"),
    )

    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_name: Mapped[str] = mapped_column(String(254))
    """As sent by the directory."""
    user_name_key: Mapped[str] = mapped_column(String(254))
    """In lower case: the directory's names are unique regardless of case."""
    external_id: Mapped[str | None] = mapped_column(String(255))
    formatted: Mapped[str | None] = mapped_column(String(200))
    given_name: Mapped[str | None] = mapped_column(String(200))
    family_name: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class DirectoryGroup(Row):
    """A group of the directory."""

    __tablename__ = "directory_groups"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        Index("ix_directory_groups_tenant_id_name_key", "tenant_id", "name_key", unique=True),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    name_key: Mapped[str] = mapped_column(String(400))
    """In lower case, for uniqueness."""
    external_id: Mapped[str | None] = mapped_column(String(255))
    revision: Mapped[int] = mapped_column(BigInteger, default=1)
    """Counts changes of the group and of its members: the version of its ETag."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class DirectoryGroupMember(Row):
    """A user in a group."""

    __tablename__ = "directory_group_members"
    __table_args__ = (
        of_tenant("group_id", "directory_groups"),
        ForeignKeyConstraint(
            ["user_id", "tenant_id"], ["directory_users.user_id", "directory_users.tenant_id"], ondelete="CASCADE"
        ),
        Index("ix_directory_group_members_user_id", "user_id"),
    )

    group_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))


class DirectoryGroupRole(Row):
    """The role in a space that an admin assigned to the members of a group."""

    __tablename__ = "directory_group_roles"
    __table_args__ = (
        of_tenant("group_id", "directory_groups"),
        of_tenant("space_id", "spaces"),
        CheckConstraint("role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')", name="role"),
        Index("ix_directory_group_roles_space_id", "space_id"),
    )

    group_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    space_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    role: Mapped[str] = mapped_column(String(16))
    """`Role`."""
