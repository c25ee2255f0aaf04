"""People who sign in, roles in spaces, API keys, the audit log; the space that a file is seen in."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _users()
    _members()
    _credentials()
    _audit()
    _names_of_assistants("tenant_id", "space_id")
    op.add_column("files", sa.Column("space_id", sa.String(length=36), nullable=True))
    op.create_index("ix_files_space_id", "files", ["space_id"])
    op.execute(
        "UPDATE files SET space_id = (SELECT flows.space_id FROM flows WHERE flows.id = files.flow_id "
        "AND flows.tenant_id = files.tenant_id) WHERE flow_id IS NOT NULL"
    )


def _names_of_assistants(before: str, after: str) -> None:
    """A flow links assistants of its own space, so that is where a name is one assistant's only."""
    with op.batch_alter_table("assistants") as batch:
        batch.drop_constraint(op.f(f"uq_assistants_{before}_name"), type_="unique")
        batch.create_unique_constraint(op.f(f"uq_assistants_{after}_name"), [after, "name"])


def _of_users() -> list[sa.Column[Any]]:
    return [
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("role", sa.String(length=16), nullable=False, server_default="member"),
        sa.Column("active", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("sso_issuer", sa.String(length=500), nullable=True),
        sa.Column("sso_subject", sa.String(length=255), nullable=True),
        sa.Column("home_space_id", sa.String(length=36), nullable=True),
        sa.Column("last_sign_in_at", sa.BigInteger(), nullable=True),
    ]


def _users() -> None:
    for column in _of_users():
        op.add_column("users", column)
    op.create_index("ix_users_email_tenant_id", "users", ["email", "tenant_id"], unique=True)
    op.create_index(
        "ix_users_sso_subject_sso_issuer_tenant_id", "users", ["sso_subject", "sso_issuer", "tenant_id"], unique=True
    )
    user, space = (f"00000000-0000-7000-8000-00000000000{number}" for number in (3, 2))
    op.execute(f"UPDATE users SET role = 'admin', home_space_id = '{space}' WHERE id = '{user}'")  # noqa: S608 - own text


def _members() -> None:
    op.create_table(
        "space_members",
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')", name=op.f("ck_space_members_role")
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_space_members_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        _of_user("space_members"),
        sa.PrimaryKeyConstraint("space_id", "user_id", name=op.f("pk_space_members")),
    )
    op.create_index("ix_space_members_user_id", "space_members", ["user_id"])
    op.execute(
        "INSERT INTO space_members (space_id, user_id, tenant_id, role, created_at) "
        "SELECT id, owner_user_id, tenant_id, 'owner', created_at FROM spaces WHERE owner_user_id IS NOT NULL"
    )


def _credentials() -> None:
    _of_person(
        "user_sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=300), nullable=False),
        sa.Column("method", sa.String(length=16), nullable=False),
        sa.UniqueConstraint("token_hash", name=op.f("uq_user_sessions_token_hash")),
    )
    op.create_index("ix_user_sessions_expires_at", "user_sessions", ["expires_at"])
    _of_person(
        "one_time_links",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.UniqueConstraint("token_hash", name=op.f("uq_one_time_links_token_hash")),
    )
    _of_person(
        "api_keys",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("prefix", sa.String(length=24), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", JSON, nullable=True),
        sa.Column("space_ids", JSON, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_address", sa.String(length=64), nullable=True),
        sa.Column("made_by_key_id", sa.String(length=36), nullable=True),
        sa.UniqueConstraint("prefix", name=op.f("uq_api_keys_prefix")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_keys_secret_hash")),
    )
    op.create_index("ix_api_keys_tenant_id", "api_keys", ["tenant_id"])


def _of_person(table: str, *more: Any) -> None:  # noqa: ANN401 - columns and constraints
    op.create_table(
        table,
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        *more,
        _of_user(table),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    )
    op.create_index(f"ix_{table}_user_id", table, ["user_id"])


def _of_user(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["user_id", "tenant_id"],
        ["users.id", "users.tenant_id"],
        name=op.f(f"fk_{table}_user_id_tenant_id"),
        ondelete="CASCADE",
    )


def _audit() -> None:
    op.create_table(
        "audit_heads",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_audit_heads_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", name=op.f("pk_audit_heads")),
    )
    texts: dict[str, tuple[int, bool]] = {
        "actor_kind": (16, False),
        "actor_id": (36, False),
        "actor_name": (300, False),
        "key_id": (36, True),
        "key_prefix": (24, True),
        "address": (64, True),
        "action": (64, False),
        "resource_kind": (32, False),
        "resource_id": (300, False),
        "resource_name": (300, False),
        "space_id": (36, True),
        "before_digest": (64, True),
        "after_digest": (64, True),
        "content_digest": (64, False),
        "hash": (64, False),
    }
    op.create_table(
        "audit_events",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        *(sa.Column(name, sa.String(length=size), nullable=may_lack) for name, (size, may_lack) in texts.items()),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_audit_events_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "seq", name=op.f("pk_audit_events")),
    )
    op.create_index("ix_audit_events_tenant_id_at", "audit_events", ["tenant_id", "at"])
    op.create_index("ix_audit_events_tenant_id_resource_id", "audit_events", ["tenant_id", "resource_id"])
    if op.get_bind().dialect.name == "sqlite":
        for what in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_events_no_{what.lower()} BEFORE {what} ON audit_events "
                "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
            )
        # INSERT OR REPLACE deletes without firing the trigger of DELETE.
        op.execute(
            "CREATE TRIGGER audit_events_no_replace BEFORE INSERT ON audit_events WHEN EXISTS ("
            "SELECT 1 FROM audit_events WHERE tenant_id = NEW.tenant_id AND seq = NEW.seq) "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION audit_events_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_events_refuse()"
    )


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP TRIGGER audit_events_append_only ON audit_events")
        op.execute("DROP FUNCTION audit_events_refuse()")
    for table in ("audit_events", "audit_heads", "api_keys", "one_time_links", "user_sessions", "space_members"):
        op.drop_table(table)
    _names_of_assistants("space_id", "tenant_id")
    op.drop_index("ix_files_space_id", "files")
    op.drop_column("files", "space_id")
    op.drop_index("ix_users_sso_subject_sso_issuer_tenant_id", "users")
    op.drop_index("ix_users_email_tenant_id", "users")
    for column in _of_users():
        op.drop_column("users", column.name)
