"""Queries on the installation's keys, and on values encrypted with them. They belong to no tenant."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, LargeBinary, Table, Text, and_, delete, func, literal, select, text, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.keyring.states import KeyState
from headgate.features.keyring.tables import installation_keys, key_readers
from headgate.foundation.ciphertexts import ID_CHARACTERS, MARK, PREFIX, prefix_of
from headgate.foundation.database import EncryptedText, insert_into
from headgate.foundation.keyring import Purpose

_KEYS, _READERS = installation_keys, key_readers
_LOCK_SECONDS = 5


async def list_ring_keys(session: AsyncSession) -> Sequence[Any]:
    """Return every key, oldest first by purpose; the first key, whose age is unknown, before the others."""
    order = (_KEYS.c.purpose, func.coalesce(_KEYS.c.created_at, 0), _KEYS.c.id)
    return (await session.execute(select(_KEYS).order_by(*order))).all()


async def find_ring_key(session: AsyncSession, key_id: str) -> Any:  # noqa: ANN401 - a row, or None
    """Lock and return a key until the transaction ends."""
    query = select(_KEYS).where(_KEYS.c.id == key_id).with_for_update()
    return (await session.execute(query)).one_or_none()


async def add_ring_key(session: AsyncSession, **values: Any) -> bool:  # noqa: ANN401 - columns
    """Add a key; False when one of its purpose already has that state."""
    statement = insert_into(session, _KEYS).values(values).on_conflict_do_nothing().returning(_KEYS.c.id)
    return (await session.execute(statement)).one_or_none() is not None


async def change_ring_key(session: AsyncSession, key_id: str, **values: Any) -> None:  # noqa: ANN401 - columns
    """Change columns of a key."""
    await session.execute(update(_KEYS).where(_KEYS.c.id == key_id).values(values))


async def wake_current(session: AsyncSession, purpose: Purpose, *, due_at: int) -> None:
    """Make re-encryption with the current key due."""
    same = and_(_KEYS.c.purpose == purpose, _KEYS.c.state == KeyState.CURRENT)
    await session.execute(update(_KEYS).where(same).values(due_at=due_at))


async def demote_current(session: AsyncSession, purpose: Purpose, *, at: int) -> None:
    """Mark the current key of a purpose as old."""
    same = and_(_KEYS.c.purpose == purpose, _KEYS.c.state == KeyState.CURRENT)
    values = {"state": KeyState.OLD, "replaced_at": at, "due_at": None, "progress": None}
    await session.execute(update(_KEYS).where(same).values(values))


async def save_reader(
    session: AsyncSession, process_id: str, *, at: int, key_ids: Collection[str], writes_with: Mapping[Purpose, str]
) -> None:
    """Store which keys a process can read and which it writes with."""
    values = {
        "seen_at": at,
        "key_ids": sorted(key_ids),
        "writes_with": {purpose.value: key_id for purpose, key_id in writes_with.items()},
    }
    statement = insert_into(session, _READERS).values(process_id=process_id, **values)
    await session.execute(statement.on_conflict_do_update(index_elements=["process_id"], set_=values))


async def forget_readers(session: AsyncSession, *, before: int) -> None:
    """Delete processes that were last seen before a time."""
    await session.execute(delete(_READERS).where(_READERS.c.seen_at < before))


async def live_readers(session: AsyncSession, *, since: int) -> Sequence[Any]:
    """Return processes that were seen since a time."""
    query = select(_READERS).where(_READERS.c.seen_at >= since).order_by(_READERS.c.process_id)
    return (await session.execute(query)).all()


async def count_values(session: AsyncSession, columns: Sequence[Column[Any]]) -> dict[str, dict[str, int]]:
    """Return the number of encrypted values by key id and column; empty id for values without one."""
    counts: dict[str, dict[str, int]] = {}
    for column in columns:
        prefix = _start(column).label("prefix")
        query = select(prefix, func.count()).where(_filled(column)).group_by(prefix)
        for start, count in await session.execute(query):
            of_key = counts.setdefault(_key_id(start), {})
            of_key[name_of(column)] = of_key.get(name_of(column), 0) + count
    return counts


async def count_others(session: AsyncSession, column: Column[Any], key_id: str) -> int:
    """Return the number of values of a column that are not encrypted with a key."""
    query = select(func.count()).select_from(column.table).where(_of_another(column, key_id))
    return (await session.execute(query)).scalar_one()


async def next_values(
    session: AsyncSession, column: Column[Any], key_id: str, *, after: Sequence[Any] | None, limit: int
) -> Sequence[Any]:
    """Return values that are not encrypted with a key, by primary key: its columns, then the value."""
    primary = [*_table(column).primary_key.columns]
    query = select(*primary, column).where(_of_another(column, key_id)).order_by(*primary).limit(limit)
    if after is not None:
        last = [literal(value, of.type) for value, of in zip(after, primary, strict=True)]
        query = query.where(tuple_(*primary) > tuple_(*last))
    return (await session.execute(query)).all()


async def replace_value(
    session: AsyncSession, column: Column[Any], primary: Sequence[Any], before: bytes | str, after: bytes | str
) -> None:
    """Replace a ciphertext, unless it was changed concurrently."""
    table = _table(column)
    same = [of == value for of, value in zip(table.primary_key.columns, primary, strict=True)]
    unchanged = column == literal(before, _plain(column))
    await session.execute(update(table).where(*same, unchanged).values({column: after}))


async def lock_values(session: AsyncSession, columns: Sequence[Column[Any]]) -> None:
    """Lock ciphertexts against writes until the transaction ends. SQLite has a single writer anyway."""
    if session.get_bind().dialect.name != "postgresql":
        return
    await session.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
    names = ", ".join(sorted({column.table.name for column in columns}))
    await session.execute(text(f"LOCK TABLE {names} IN SHARE MODE"))


def name_of(column: Column[Any]) -> str:
    """Return a column in display form: `variables.token`."""
    return f"{column.table.name}.{column.name}"


def _of_another(column: Column[Any], key_id: str) -> Any:  # noqa: ANN401 - a condition
    prefix = prefix_of(key_id)
    return and_(_filled(column), _start(column) != (prefix.decode() if _is_text(column) else prefix))


def _filled(column: Column[Any]) -> Any:  # noqa: ANN401 - a condition
    return and_(column.is_not(None), column != "") if _is_text(column) else column.is_not(None)


def _start(column: Column[Any]) -> Any:  # noqa: ANN401 - an expression
    return func.substr(column, 1, PREFIX, type_=_plain(column))


def _plain(column: Column[Any]) -> Text | LargeBinary:
    """Return the type of the stored value, whether it is a ciphertext or not."""
    return Text() if _is_text(column) else LargeBinary()


def _key_id(prefix: bytes | str) -> str:
    start = prefix.encode() if isinstance(prefix, str) else bytes(prefix)
    return start[len(MARK) : len(MARK) + ID_CHARACTERS].decode("ascii", "replace") if start.startswith(MARK) else ""


def _is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, EncryptedText)


def _table(column: Column[Any]) -> Table:
    if not isinstance(column.table, Table):
        raise TypeError("an encrypted column must belong to a table")
    return column.table
