"""Queries on descriptions of APIs. The tenant is always required."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.tables import ConnectionApi, ConnectionOperation
from headgate.foundation.pins import GONE, Pin

MOST_WORDS = 8
MOST_CHANGED = 20_000
"""Operations of all connections of a space."""
AT_ONCE = 500
"""Keys in one query."""


async def find_api(session: AsyncSession, connection_id: str, *, tenant_id: str) -> ConnectionApi | None:
    """Return the description of a connection's API."""
    query = select(ConnectionApi).where(
        ConnectionApi.connection_id == connection_id, ConnectionApi.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def find_operation(
    session: AsyncSession, connection_id: str, name: str, *, tenant_id: str
) -> ConnectionOperation | None:
    """Return an operation by its key, else by its id where only one has it."""
    query = _present(connection_id, tenant_id).where(
        or_(ConnectionOperation.key == name, ConnectionOperation.operation_id == name)
    )
    rows = (await session.execute(query.limit(2))).scalars().all()
    named = [row for row in rows if row.key == name]
    return named[0] if named else rows[0] if len(rows) == 1 else None


async def list_operations(
    session: AsyncSession, connection_id: str, *, tenant_id: str, text: str = "", after: int | None = None, limit: int
) -> Sequence[ConnectionOperation]:
    """Return operations with all words of a text, in the order of the description."""
    query = _present(connection_id, tenant_id)
    if after is not None:
        query = query.where(ConnectionOperation.place > after)
    for word in text.lower().split()[:MOST_WORDS]:
        query = query.where(ConnectionOperation.search.contains(word, autoescape=True))
    return (await session.execute(query.order_by(ConnectionOperation.place).limit(limit))).scalars().all()


async def list_pins(session: AsyncSession, connection_id: str, *, tenant_id: str) -> Mapping[str, Pin]:
    """Return the pin of every operation by key, also of those that are gone."""
    row = ConnectionOperation
    query = select(row.key, row.sha256, row.accepted_sha256, row.accepted).where(
        row.connection_id == connection_id, row.tenant_id == tenant_id
    )
    return {key: Pin(*pin) for key, *pin in await session.execute(query)}


async def list_contracts(
    session: AsyncSession, connection_id: str, keys: Sequence[str], *, tenant_id: str
) -> Mapping[str, dict[str, Any]]:
    """Return the contracts of these operations by key, without those that are gone."""
    contracts: dict[str, dict[str, Any]] = {}
    for begin in range(0, len(keys), AT_ONCE):
        query = _present(connection_id, tenant_id).where(ConnectionOperation.key.in_(keys[begin : begin + AT_ONCE]))
        contracts |= {row.key: row.contract or {} for row in (await session.execute(query)).scalars()}
    return contracts


async def list_changed(
    session: AsyncSession, connection_ids: Collection[str], *, tenant_id: str
) -> Sequence[tuple[str, str, str, bool]]:
    """Return connection, key, id and whether it is gone, of operations that are not as a user accepted them."""
    row = ConnectionOperation
    query = select(row.connection_id, row.key, row.operation_id, row.sha256).where(
        row.connection_id.in_(connection_ids), row.tenant_id == tenant_id, row.sha256 != row.accepted_sha256
    )
    rows = await session.execute(query.order_by(row.key).limit(MOST_CHANGED))
    return [(connection, key, operation, sha256 == GONE) for connection, key, operation, sha256 in rows]


async def list_named(
    session: AsyncSession, connection_ids: Collection[str], names: Collection[str], *, tenant_id: str
) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the contracts of operations by connection and name: a key, or an id that only one operation has."""
    row, selected = ConnectionOperation, sorted(names)[:AT_ONCE]
    query = select(row.connection_id, row.key, row.operation_id, row.contract).where(
        row.connection_id.in_(connection_ids),
        row.tenant_id == tenant_id,
        row.contract.is_not(None),
        or_(row.key.in_(selected), row.operation_id.in_(selected)),
    )
    rows = [(connection, key, id_, contract or {}) for connection, key, id_, contract in await session.execute(query)]
    count = Counter((connection, id_) for connection, _, id_, _ in rows)
    named: dict[str, dict[str, Mapping[str, Any]]] = {}
    for connection, _, id_, contract in rows:
        if id_ and count[connection, id_] == 1:
            named.setdefault(connection, {})[id_] = contract
    for connection, key, _, contract in rows:
        named.setdefault(connection, {})[key] = contract
    return named


async def count_operations(session: AsyncSession, connection_id: str, *, tenant_id: str) -> tuple[int, int]:
    """Return the number of operations, and of those that changed since they were accepted."""
    present = _present(connection_id, tenant_id)
    changed = present.where(ConnectionOperation.sha256 != ConnectionOperation.accepted_sha256)
    every = (await session.execute(select(func.count()).select_from(present.subquery()))).scalar_one()
    return every, (await session.execute(select(func.count()).select_from(changed.subquery()))).scalar_one()


async def delete_operations(session: AsyncSession, connection_id: str, *, tenant_id: str) -> None:
    """Delete every operation of a connection."""
    query = delete(ConnectionOperation).where(
        ConnectionOperation.connection_id == connection_id, ConnectionOperation.tenant_id == tenant_id
    )
    await session.execute(query)


async def delete_api(session: AsyncSession, connection_id: str, *, tenant_id: str) -> None:
    """Delete the description of a connection's API with its operations."""
    await delete_operations(session, connection_id, tenant_id=tenant_id)
    query = delete(ConnectionApi).where(
        ConnectionApi.connection_id == connection_id, ConnectionApi.tenant_id == tenant_id
    )
    await session.execute(query)


async def accept(session: AsyncSession, connection_id: str, keys: Collection[str], *, tenant_id: str) -> Sequence[str]:
    """Accept changed operations, all without keys; return their keys in order."""
    query = (
        update(ConnectionOperation)
        .where(
            ConnectionOperation.connection_id == connection_id,
            ConnectionOperation.tenant_id == tenant_id,
            ConnectionOperation.contract.is_not(None),
            ConnectionOperation.sha256 != ConnectionOperation.accepted_sha256,
        )
        .values(accepted_sha256=ConnectionOperation.sha256, accepted=None)
        .returning(ConnectionOperation.key)
        .execution_options(synchronize_session=False)
    )
    if keys:
        query = query.where(ConnectionOperation.key.in_(keys))
    return sorted((await session.execute(query)).scalars().all())


def _present(connection_id: str, tenant_id: str) -> Select[ConnectionOperation]:
    return select(ConnectionOperation).where(
        ConnectionOperation.connection_id == connection_id,
        ConnectionOperation.tenant_id == tenant_id,
        ConnectionOperation.contract.is_not(None),
    )
