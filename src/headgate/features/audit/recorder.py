"""Records changes in the audit log, in the transaction of the change.

Entries are collected on the session and written at commit, after everything else. So the lock on the end of the
tenant's chain is the last that a transaction acquires: it is held for one statement and the commit, and cannot cause
deadlocks between two transactions. Rolling back a savepoint discards its entries; when writing them fails, the change
is rolled back too.
"""

from typing import Any, Protocol

from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session, SessionTransaction

from headgate.features.access.principal import Principal
from headgate.features.audit import statements
from headgate.features.audit.actions import Action
from headgate.features.audit.chain import Entry
from headgate.features.audit.redaction import as_json, plain, shown
from headgate.foundation.canonical import digest, portable
from headgate.foundation.database import microseconds, now

_WAITING = "audit_entries"
_Waiting = list[tuple[Entry, tuple[SessionTransaction, ...]]]
_POSTGRES, _READ_HEAD = text(statements.POSTGRES), text(statements.READ_HEAD)
_WRITE_HEAD, _WRITE_EVENT = text(statements.WRITE_HEAD), text(statements.WRITE_EVENT)


class InSpace(Protocol):
    """An object of a space or of the tenant, as named in the log."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def space_id(self) -> str | None:
        """Its space; None for an object of the tenant."""


async def record(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    *,
    id: str,  # noqa: A002 - what it is called everywhere
    name: str = "",
    space_id: str | None = None,
    before: Any = None,  # noqa: ANN401 - a JSON value
    after: Any = None,  # noqa: ANN401 - a JSON value
    payload: Any = None,  # noqa: ANN401 - a JSON value
) -> None:
    """Record a change of this session.

    Args:
        session: The session of the change. The entry exists once the session commits.
        principal: The actor.
        action: Object type and operation in the past tense: `flow.published`.
        id: Its id.
        name: Its name.
        space_id: Its space; None for objects of the tenant.
        before: Previous value, as JSON; only its digest is stored. None for something new. Never a secret: the digest
            of a short one can be guessed.
        after: New value; None for something deleted.
        payload: The request, as JSON; secrets are removed, and it is truncated to `redaction.MAX_PAYLOAD`.
    """
    entry = entry_of(
        principal, action, id=id, name=name, space_id=space_id, before=before, after=after, payload=payload
    )
    _waiting(session.sync_session).append((entry, _transactions(session.sync_session)))


async def record_of(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    thing: InSpace,
    *,
    before: Any = None,  # noqa: ANN401 - a JSON value
    after: Any = None,  # noqa: ANN401 - a JSON value
    payload: Any = None,  # noqa: ANN401 - a JSON value
) -> None:
    """Record a change of an object with a name. Without `payload`, the new value is shown."""
    await record(
        session,
        principal,
        action,
        id=thing.id,
        name=thing.name,
        space_id=thing.space_id,
        before=before,
        after=after,
        payload=after if payload is None else payload,
    )


def entry_of(
    principal: Principal,
    action: Action,
    *,
    id: str,  # noqa: A002 - what it is called everywhere
    name: str = "",
    space_id: str | None = None,
    before: Any = None,  # noqa: ANN401 - a JSON value
    after: Any = None,  # noqa: ANN401 - a JSON value
    payload: Any = None,  # noqa: ANN401 - a JSON value
) -> Entry:
    """Return the entry of a change, for callers who write it themselves; see `record`."""
    actor = principal.actor
    return Entry(
        tenant_id=principal.tenant_id,
        at=microseconds(now()),
        actor_kind=actor.kind,
        actor_id=principal.user_id,
        actor_name=plain(actor.name, 300),
        key_id=actor.key_id,
        key_prefix=actor.key_prefix,
        address=None if actor.address is None else plain(actor.address, 64),
        action=action,
        resource_kind=action.partition(".")[0],
        resource_id=plain(id, 300),
        resource_name=plain(name, 300),
        space_id=space_id,
        before_digest=digest_of(before),
        after_digest=digest_of(after),
        payload=shown(payload),
    )


def digest_of(value: Any) -> str | None:  # noqa: ANN401 - a JSON value, or what pydantic makes one of
    """SHA-256 of the canonical JSON of a value; None for None."""
    return None if value is None else digest(portable(as_json(value)))


def _waiting(session: Session) -> _Waiting:
    waiting: _Waiting | None = session.info.get(_WAITING)
    if waiting is None:
        waiting = session.info[_WAITING] = []
        event.listen(session, "before_commit", _write)
        event.listen(session, "after_soft_rollback", _forget)
    return waiting


def _transactions(session: Session) -> tuple[SessionTransaction, ...]:
    """Yield the session's transaction and the enclosing ones."""
    transactions = []
    inner = session.get_nested_transaction() or session.get_transaction()
    while inner is not None:
        transactions.append(inner)
        inner = inner.parent
    return tuple(transactions)


def _write(session: Session) -> None:
    """Before a commit: flush everything else first, then write the entries."""
    waiting: _Waiting = session.info[_WAITING]
    if session.in_nested_transaction() or not waiting:
        return
    session.flush()
    for entry, _ in waiting:
        _append(session, entry)
    waiting.clear()


def _append(session: Session, entry: Entry) -> None:
    if session.get_bind().dialect.name == "postgresql":
        session.execute(_POSTGRES, statements.values(entry))
        return
    head = session.execute(_READ_HEAD, {"tenant_id": entry.tenant_id}).one_or_none()
    placed = statements.next_place(entry, head)
    session.execute(_WRITE_HEAD, placed)
    session.execute(_WRITE_EVENT, placed)


def _forget(session: Session, ended: SessionTransaction) -> None:
    """After a rollback: discard the entries of that transaction."""
    waiting: _Waiting = session.info[_WAITING]
    waiting[:] = [item for item in waiting if ended not in item[1]]
