"""Storing, listing and accepting the operations of a connection's API."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.readers.api.description import MOST_OPERATIONS, ApiDescription, Operation, contract_of
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.connections.apis import repository
from headgate.features.connections.apis.schemas import ApiOut, OperationDetailOut, OperationOut
from headgate.features.connections.errors import ApiNotDescribed, BadConnection, OperationNotFound
from headgate.features.connections.service import get_connection
from headgate.features.connections.tables import ConnectionApi, ConnectionOperation, ConnectionRow
from headgate.foundation.canonical import portable
from headgate.foundation.database import now
from headgate.foundation.errors import Conflict
from headgate.foundation.pins import Pin, difference, hash_of, renewed
from headgate.graph.described import contract_form
from headgate.graph.names import listed
from headgate.sdk import HTTP_KINDS

MOST_ROWS = 2 * MOST_OPERATIONS
"""Operations of one connection, those that are gone included."""
MOST_NAMED = 100
"""In the result and in the audit log."""


class DescriptionReplaced(Conflict):
    """The description was replaced after the user had seen it."""

    code = "description_replaced"


@dataclass(frozen=True, slots=True)
class Changes:
    """Keys of the operations that a new description changed."""

    added: Sequence[str]
    changed: Sequence[str]
    removed: Sequence[str]


async def store_description(
    session: AsyncSession, principal: Principal, id_or_name: str, description: ApiDescription, *, sha256: str
) -> tuple[ConnectionRow, Changes]:
    """Replace the description of a connection's API. Changed operations wait until a user accepts them.

    Raises `ConnectionNotFound`, `PermissionMissing`, `BadConnection` for a kind that sends no HTTP requests.
    """
    row = await get_connection(session, principal, id_or_name, manage=True, lock=True)
    if row.kind not in HTTP_KINDS:
        raise BadConnection(
            f"A connection of the kind {row.kind} is not for requests to an API.",
            remedy=f"Describe one of the kinds {listed(HTTP_KINDS, most=10)}.",
        )
    stored = await repository.list_pins(session, row.id, tenant_id=row.tenant_id)
    is_first = await repository.find_api(session, row.id, tenant_id=row.tenant_id) is None
    contracts = {operation.key: portable(contract_of(operation)) for operation in description.operations}
    gone = [key for key in stored if key not in contracts]
    altered = [key for key, contract in contracts.items() if key in stored and hash_of(contract) != stored[key].sha256]
    if len(contracts) + len(gone) > MOST_ROWS:
        raise BadConnection(
            f"The API of '{row.name}' has had more than {MOST_ROWS} operations.",
            remedy="Remove its description, and add it again.",
        )
    changes = Changes(
        [key for key in contracts if key not in stored], altered, [key for key in gone if stored[key].sha256]
    )
    before = await repository.list_contracts(session, row.id, [*altered, *gone], tenant_id=row.tenant_id)
    pins = {key: renewed(stored.get(key), before.get(key), contracts.get(key)) for key in [*contracts, *gone]}
    await repository.delete_api(session, row.id, tenant_id=row.tenant_id)
    rows = [
        _row(row, place, operation, contracts[operation.key], pins[operation.key])
        for place, operation in enumerate(description.operations)
    ]
    session.add_all([*rows, *(_gone(row, key, pins[key]) for key in gone), _api(row, description, sha256)])
    await session.flush()
    payload = {
        name: list(names)[:MOST_NAMED] for name, names in asdict(changes).items() if not is_first or name != "added"
    }
    after = {"title": description.title, "sha256": sha256, "operations": len(rows)}
    await record_of(session, principal, "connection.described", row, after=after, payload=payload)
    return row, changes


async def describe(session: AsyncSession, principal: Principal, id_or_name: str) -> ApiOut:
    """Return the description of a connection's API. Raises `ConnectionNotFound`, `ApiNotDescribed`."""
    row = await get_connection(session, principal, id_or_name)
    return await api_out(session, row)


async def api_out(session: AsyncSession, row: ConnectionRow) -> ApiOut:
    """Return the description of a connection's API. Raises `ApiNotDescribed`."""
    api = await repository.find_api(session, row.id, tenant_id=row.tenant_id)
    if api is None:
        raise ApiNotDescribed(row.name)
    operations, changed = await repository.count_operations(session, row.id, tenant_id=row.tenant_id)
    members = {name: getattr(api, name) for name in ApiOut.model_fields if name not in {"operations", "changed"}}
    return ApiOut(**members, operations=operations, changed=changed)


async def remove_description(session: AsyncSession, principal: Principal, id_or_name: str) -> None:
    """Delete the description of a connection's API. Raises `ConnectionNotFound`, `ApiNotDescribed`."""
    row = await get_connection(session, principal, id_or_name, manage=True, lock=True)
    if await repository.find_api(session, row.id, tenant_id=row.tenant_id) is None:
        raise ApiNotDescribed(row.name)
    await repository.delete_api(session, row.id, tenant_id=row.tenant_id)
    await record_of(session, principal, "connection.undescribed", row)


async def search_operations(
    session: AsyncSession, principal: Principal, id_or_name: str, *, text: str, after: int | None = None, limit: int
) -> Sequence[ConnectionOperation]:
    """Return operations with all words of a text. Raises `ConnectionNotFound`, `ApiNotDescribed`."""
    row = await get_connection(session, principal, id_or_name)
    if await repository.find_api(session, row.id, tenant_id=row.tenant_id) is None:
        raise ApiNotDescribed(row.name)
    return await repository.list_operations(
        session, row.id, tenant_id=row.tenant_id, text=text, after=after, limit=limit
    )


async def get_operation(session: AsyncSession, principal: Principal, id_or_name: str, name: str) -> ConnectionOperation:
    """Return an operation by key or id. Raises `ConnectionNotFound`, `ApiNotDescribed`, `OperationNotFound`."""
    return await operation_of(session, await get_connection(session, principal, id_or_name), name)


async def operation_of(session: AsyncSession, row: ConnectionRow, name: str) -> ConnectionOperation:
    """Return an operation of a connection. Raises `ApiNotDescribed`, `OperationNotFound` with the nearest one."""
    operation = await repository.find_operation(session, row.id, name.strip(), tenant_id=row.tenant_id)
    if operation is not None:
        return operation
    if await repository.find_api(session, row.id, tenant_id=row.tenant_id) is None:
        raise ApiNotDescribed(row.name)
    candidates = await repository.list_operations(session, row.id, tenant_id=row.tenant_id, limit=MOST_OPERATIONS)
    keys, ids = ([candidate.key for candidate in candidates], [candidate.operation_id for candidate in candidates])
    raise OperationNotFound(row.name, name, [*keys, *filter(None, ids)])


async def accept_operations(
    session: AsyncSession, principal: Principal, id_or_name: str, *, keys: Sequence[str], sha256: str
) -> Sequence[str]:
    """Accept changed operations, so that agents get them; return their keys.

    Raises `ConnectionNotFound`, `ApiNotDescribed`, `DescriptionReplaced`.
    """
    row = await get_connection(session, principal, id_or_name, manage=True, lock=True)
    api = await repository.find_api(session, row.id, tenant_id=row.tenant_id)
    if api is None:
        raise ApiNotDescribed(row.name)
    if sha256 and sha256 != api.sha256:
        raise DescriptionReplaced(
            f"The description of '{row.name}' was replaced in the meantime.", remedy="View the new one first."
        )
    accepted = await repository.accept(session, row.id, keys, tenant_id=row.tenant_id)
    payload = {"operations": list(accepted)[:MOST_NAMED]}
    await record_of(session, principal, "connection.operations_accepted", row, payload=payload)
    return accepted


async def changed_names(session: AsyncSession, connection_id: str, *, tenant_id: str) -> set[str]:
    """Return the keys and ids of operations that are not as a user accepted them: changed, or gone."""
    rows = await repository.list_changed(session, [connection_id], tenant_id=tenant_id)
    return {name for _, key, operation, _ in rows for name in (key, operation) if name}


def operation_out(row: ConnectionOperation) -> OperationOut:
    """Return an operation for a list."""
    return OperationOut(**_members(row, OperationOut))


def operation_detail(row: ConnectionOperation) -> OperationDetailOut:
    """Return an operation with its contract."""
    lines = difference(row.accepted, row.contract) if row.changed else []
    response = contract_form((row.contract or {}).get("output"))
    return OperationDetailOut(**_members(row, OperationDetailOut), response=response, difference=lines)


def _members(row: ConnectionOperation, schema: type[OperationOut]) -> dict[str, Any]:
    contract = row.contract or {}
    of_row = {"key": row.key, "operation_id": row.operation_id, "changed": row.changed}
    names = [name for name in schema.model_fields if name not in {"difference", "response"}]
    return {name: of_row[name] if name in of_row else contract.get(name) for name in names}


def _row(
    row: ConnectionRow, place: int, operation: Operation, contract: dict[str, Any], pin: Pin
) -> ConnectionOperation:
    words = (operation.key, operation.id, operation.summary, *operation.tags)
    return ConnectionOperation(
        connection_id=row.id,
        tenant_id=row.tenant_id,
        key=operation.key,
        place=place,
        operation_id=operation.id,
        search=" ".join(words).lower(),
        contract=contract,
        **_pin(pin),
    )


def _pin(pin: Pin) -> dict[str, Any]:
    return {"sha256": pin.sha256, "accepted_sha256": pin.accepted_sha256, "accepted": pin.accepted}


def _gone(row: ConnectionRow, key: str, pin: Pin) -> ConnectionOperation:
    return ConnectionOperation(
        connection_id=row.id,
        tenant_id=row.tenant_id,
        key=key,
        place=-1,
        operation_id=str((pin.accepted or {}).get("id") or "")[:200],
        contract=None,
        **_pin(pin),
    )


def _api(row: ConnectionRow, description: ApiDescription, sha256: str) -> ConnectionApi:
    return ConnectionApi(
        connection_id=row.id,
        tenant_id=row.tenant_id,
        title=description.title,
        version=description.version,
        format=description.format,
        server=description.server,
        sha256=sha256,
        skipped=list(description.skipped),
        skipped_count=description.skipped_count,
        created_at=now(),
    )
