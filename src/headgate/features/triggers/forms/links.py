"""One-time links to the form of a trigger: created, listed and revoked by users."""

import hashlib
import secrets
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository as triggers
from headgate.features.triggers.errors import LinkNotFound, LinkUsed, TooManyTriggers, TriggerInvalid
from headgate.features.triggers.forms import repository
from headgate.features.triggers.schemas import FormLinkMade, FormLinkOut, FormLinksIn, FormLinkState
from headgate.features.triggers.service import require
from headgate.features.triggers.tables import LinkRow
from headgate.foundation.database import microseconds, moment
from headgate.foundation.ids import is_id, new_id

MOST_OPEN = 10_000
"""Links of a trigger that can still be used."""


def hash_of(token: str) -> str:
    """Return what is stored of a link."""
    return hashlib.sha256(token.encode()).hexdigest()


def state_of(row: LinkRow, at: int) -> FormLinkState:
    """Return what became of a link."""
    if row.used_at is not None:
        return "used"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and row.expires_at <= at else "open"


async def add_links(
    session: AsyncSession, principal: Principal, trigger_id: str, body: FormLinksIn
) -> list[FormLinkMade]:
    """Create one-time links to a form. Their addresses are returned this once.

    Raises `TriggerNotFound`, `PermissionMissing`, `TriggerInvalid`, `TooManyTriggers`.
    """
    listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    trigger = await triggers.lock_trigger(session, trigger_id, tenant_id=principal.tenant_id) or listed.row
    at = clock()
    if trigger.kind != "form":
        raise TriggerInvalid("Only a form has one-time links.", remedy="Choose a form.")
    expires_at = None if body.expires_at is None else microseconds(body.expires_at)
    if expires_at is not None and expires_at <= at:
        raise TriggerInvalid("The links would have expired already.", remedy="Choose a later time.")
    tenant_id = principal.tenant_id
    if await repository.count_open_links(session, trigger.id, tenant_id=tenant_id, at=at) + body.count > MOST_OPEN:
        raise TooManyTriggers(f"A form has at most {MOST_OPEN:,} unused links.", remedy="Revoke some.")
    tokens = [secrets.token_urlsafe(24) for _ in range(body.count)]
    rows = [
        LinkRow(
            id=new_id(),
            tenant_id=tenant_id,
            trigger_id=trigger.id,
            token_hash=hash_of(token),
            label=body.label,
            created_at=at,
            expires_at=expires_at,
        )
        for token in tokens
    ]
    await repository.add_form_links(session, rows)
    await record(
        session,
        principal,
        "trigger.links_created",
        id=trigger.id,
        name=trigger.name,
        space_id=listed.space_id,
        payload={"links": [row.id for row in rows], "label": body.label},
    )
    return [
        FormLinkMade(**link_out(row, None).model_dump(), path=f"/forms/{token}")
        for row, token in zip(rows, tokens, strict=True)
    ]


async def list_links(
    session: AsyncSession, principal: Principal, trigger_id: str, *, limit: int = 50, before: str | None = None
) -> Sequence[FormLinkOut]:
    """List the links of a form, newest first. Raises `TriggerNotFound`, `PermissionMissing`."""
    await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    rows = await repository.list_form_links(
        session, trigger_id, tenant_id=principal.tenant_id, limit=limit, before=before
    )
    return [link_out(row, run_id) for row, run_id in rows]


async def revoke_link(session: AsyncSession, principal: Principal, trigger_id: str, link_id: str) -> FormLinkOut:
    """Revoke an unused link. Has no effect on a revoked one.

    Raises `TriggerNotFound`, `LinkNotFound`, `PermissionMissing`, `LinkUsed`.
    """
    listed = await require(session, principal, trigger_id, Permission.TRIGGERS_MANAGE)
    tenant_id = principal.tenant_id
    if not is_id(link_id):
        raise LinkNotFound(link_id)
    revoked = await repository.revoke_form_link(session, trigger_id, link_id, tenant_id=tenant_id, at=clock())
    row = await repository.find_form_link(session, trigger_id, link_id, tenant_id=tenant_id)
    if row is None:
        raise LinkNotFound(link_id)
    if row.used_at is not None:
        raise LinkUsed
    if revoked:
        await record(
            session,
            principal,
            "trigger.link_revoked",
            id=trigger_id,
            name=listed.row.name,
            space_id=listed.space_id,
            payload={"link": link_id, "label": row.label},
        )
    return link_out(row, None)


def link_out(row: LinkRow, run_id: str | None) -> FormLinkOut:
    """Return a link for display."""
    return FormLinkOut(
        id=row.id,
        trigger_id=row.trigger_id,
        label=row.label,
        state=state_of(row, clock()),
        created_at=moment(row.created_at),
        expires_at=None if row.expires_at is None else moment(row.expires_at),
        used_at=None if row.used_at is None else moment(row.used_at),
        run_id=run_id,
    )
