"""Shared table definitions: metadata with a naming convention, and portable column types."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, BigInteger, Connection, Dialect, ForeignKeyConstraint, Index, MetaData, String, event, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql
else:
    postgresql = lazy_module("sqlalchemy.dialects.postgresql")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    """Return a time as stored: microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(stored: int) -> datetime:
    """Return the UTC time of a stored number of `microseconds`."""
    return _EPOCH + timedelta(microseconds=stored)


class Timestamp(TypeDecorator[datetime]):
    """A time, stored as microseconds since 1970 in UTC: the same number on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401, ARG002
        """Convert to the stored number."""
        return None if value is None else microseconds(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401, ARG002
        """Convert from the stored number."""
        return None if value is None else moment(value)


class Json(TypeDecorator[Any]):
    """A JSON value: JSONB on PostgreSQL, text on SQLite. Python's None is SQL's NULL."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type for a database; PostgreSQL's is imported on first use."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.JSONB(none_as_null=True))
        return dialect.type_descriptor(self.impl)


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Return an index of the rows that match a condition.

    The condition is set when the index is created. SQLAlchemy imports the PostgreSQL dialect to validate a dialect
    argument, and only migrations and tests create indexes.
    """
    index = Index(name, *columns, unique=unique)

    def set_condition(target: Index, connection: Connection, **_: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own
        target.dialect_kwargs[f"{connection.dialect.name}_where"] = text(where)

    event.listen(index, "before_create", set_condition)
    return index


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def of_tenant(column: str, table: str) -> ForeignKeyConstraint:
    """Return the reference to the `id` of a row of the same tenant in a table, with which this row is deleted."""
    return ForeignKeyConstraint([column, "tenant_id"], [f"{table}.id", f"{table}.tenant_id"], ondelete="CASCADE")


class Row(DeclarativeBase):
    """Base of the mapped tables."""

    metadata = metadata


class TenantRow(Row):
    """Base of the mapped tables whose rows have an id and belong to a tenant."""

    __abstract__ = True

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
