"""Row guards: published versions and finished attempts cannot be changed, even by SQL. See `docs/operate/security.md`.

A row may only go together with its parent: by the cascade of deleting a flow, a run or a tenant, in which the parent is
gone already when the row's own trigger runs. There is no switch.
"""

from collections.abc import Sequence

from alembic import op

revision = "0017"
down_revision = "0016"

_VERSION = ("flow_id", "version", "tenant_id", "checksum", "logic_checksum", "definition", "headgate_version")
_RELEASE = ("release", "released_at", "release_notes")
_ATTEMPT = ("flow_run_id", "flow_id", "step_id", "attempt_no", "version", "tenant_id", "step_order", "started_at")
_OUTCOME = ("status", "worker_id", "error_code", "error_message", "finished_at")
_OLD_TRIGGER = (
    *("flow_id", "version", "tenant_id", "checksum", "logic_checksum"),
    *("definition", "headgate_version", "created_at"),
)
"""Columns that the trigger of revision 0001 freezes."""

_OF_FLOW = "EXISTS (SELECT 1 FROM flows WHERE id = OLD.flow_id)"
_OF_VERSION = "EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = OLD.flow_id AND version = OLD.version)"
_OF_RUN = (
    "EXISTS (SELECT 1 FROM flow_runs WHERE id = OLD.flow_run_id) AND EXISTS (SELECT 1 FROM version_steps"
    " WHERE flow_id = OLD.flow_id AND version = OLD.version AND step_id = OLD.step_id)"
)
KEPT = {
    "flow_versions": _OF_FLOW,
    "version_steps": _OF_VERSION,
    "version_edges": _OF_VERSION,
    "flow_step_attempts": _OF_RUN,
}
"""Table to the condition on which a row of it may not be deleted."""
_RELEASED = (
    "EXISTS (SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND version = NEW.version AND release IS NOT NULL)"
)
"""Steps and edges are inserted with their version, before it is published."""
UNIQUE = {
    "flow_versions": (("flow_id", "version"), ("flow_id", "checksum"), ("flow_id", "release")),
    "version_steps": (("flow_id", "version", "step_id"), ("flow_id", "version", "step_order")),
    "version_edges": (("flow_id", "version", "parent_step_id", "child_step_id"),),
    "flow_step_attempts": (("flow_run_id", "step_id", "attempt_no"),),
}
"""Table to its keys: SQLite's REPLACE deletes the rows with the same ones, and runs no trigger of DELETE."""


def _changed(columns: Sequence[str], different: str) -> str:
    return "(" + " OR ".join(f"OLD.{column} {different} NEW.{column}" for column in columns) + ")"


def _frozen(different: str) -> dict[str, str]:
    """Table to the condition on which a row of it may not be updated. `different`: the dialect's comparison."""
    ended = f"OLD.status <> 'started' AND ({_changed(_OUTCOME, different)} OR OLD.record IS NOT NULL)"
    back = "NEW.release IS NULL OR NEW.release < OLD.release"
    noted = f"NEW.release = OLD.release AND {_changed(_RELEASE, different)}"
    released = f"OLD.release IS NOT NULL AND ({back} OR ({noted}))"  # publishing again gives the next number
    return {
        "flow_versions": f"{_changed((*_VERSION, 'created_at'), different)} OR ({released})",
        "version_steps": "1 = 1",
        "version_edges": "1 = 1",
        "flow_step_attempts": f"{_changed(_ATTEMPT, different)} OR ({ended})",
    }


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _guard_sqlite()
    else:
        _guard_postgres()


def _guard_sqlite() -> None:
    op.execute("DROP TRIGGER flow_versions_frozen")
    for table, condition in _frozen("IS NOT").items():
        _refuse(table, "update", f"OLD.rowid <> NEW.rowid OR {condition}")
    # UPDATE OR REPLACE deletes the row that has the release already.
    taken = (
        "SELECT 1 FROM flow_versions WHERE flow_id = NEW.flow_id AND release = NEW.release AND version <> NEW.version"
    )
    _refuse("flow_versions", "update", f"EXISTS ({taken})", name="release")
    for table, condition in KEPT.items():
        _refuse(table, "delete", condition)
    for table, keys in UNIQUE.items():
        same = [" AND ".join(f"{column} = NEW.{column}" for column in key) for key in keys]
        ways = ("rowid = NEW.rowid", *same)
        replaced = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {way})" for way in ways)  # noqa: S608 - constants
        _refuse(table, "insert", replaced)
    for table in ("version_steps", "version_edges"):
        _refuse(table, "insert", _RELEASED, name="released")


def _refuse(table: str, what: str, condition: str, *, name: str = "") -> None:
    trigger = f"{table}_guard_{name or what}"
    op.execute(
        f"CREATE TRIGGER {trigger} BEFORE {what.upper()} ON {table} WHEN {condition}"
        f" BEGIN SELECT RAISE(ABORT, '{table}: this row is immutable'); END"
    )


def _guard_postgres() -> None:
    op.execute("DROP TRIGGER flow_versions_frozen ON flow_versions")
    op.execute("DROP FUNCTION refuse_version_change()")
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION '%: this row is immutable', TG_TABLE_NAME"
        " USING ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    for table, condition in _frozen("IS DISTINCT FROM").items():
        op.execute(
            f"CREATE TRIGGER {table}_guard_update BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({condition})"
            " EXECUTE FUNCTION refuse_change()"
        )
    for table, condition in KEPT.items():
        _check(table, "delete", condition, "OLD")
        op.execute(f"CREATE TRIGGER {table}_guard_truncate BEFORE TRUNCATE ON {table} EXECUTE FUNCTION refuse_change()")
    for table in ("version_steps", "version_edges"):
        _check(table, "insert", _RELEASED, "NEW")


def _check(table: str, what: str, condition: str, row: str) -> None:
    """A trigger whose condition reads other tables, which PostgreSQL allows in its function only."""
    name = f"{table}_guard_{what}"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {condition} THEN"
        f" RAISE EXCEPTION '{table}: this row is immutable' USING ERRCODE = 'integrity_constraint_violation';"
        f" END IF; RETURN {row}; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE {what.upper()} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")


def downgrade() -> None:
    sqlite = op.get_bind().dialect.name == "sqlite"
    for table in KEPT:
        for what in ("update", "delete", "insert", "truncate", "release", "released"):
            on = "" if sqlite else f" ON {table}"
            op.execute(f"DROP TRIGGER IF EXISTS {table}_guard_{what}{on}")
            if not sqlite:
                op.execute(f"DROP FUNCTION IF EXISTS {table}_guard_{what}()")
    columns = ", ".join(_OLD_TRIGGER)
    if sqlite:
        op.execute(
            f"CREATE TRIGGER flow_versions_frozen BEFORE UPDATE OF {columns} ON flow_versions"
            " BEGIN SELECT RAISE(ABORT, 'a flow version is immutable'); END"
        )
        return
    op.execute("DROP FUNCTION refuse_change()")
    op.execute(
        "CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'a flow version is immutable'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER flow_versions_frozen BEFORE UPDATE OF {columns} ON flow_versions"
        " FOR EACH ROW EXECUTE FUNCTION refuse_version_change()"
    )
