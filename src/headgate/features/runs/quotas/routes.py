"""HTTP routes of limits."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.quotas.bounds import SECOND, Quota, Scope
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.api import Page, ReadSession, WriteSession, problems

router = APIRouter(prefix="/quotas", tags=["quotas"])
_MANAGE = [needs(Permission.QUOTAS_MANAGE)]
LARGEST = 10**15


def _quotas(request: Request) -> Quotas:
    found: Quotas = request.app.state.quotas
    return found


Limits = Annotated[Quotas, Depends(_quotas)]


class QuotaOut(BaseModel):
    """A limit, and what is used of it."""

    quota: Quota
    scope: Scope
    space_id: str | None
    """The space; null for the organisation, for each visitor, and for the limit of every space."""
    space_name: str | None
    most: int | None
    """The limit in force; null: none."""
    stored: int | None
    """What the organisation has set here; null: nothing."""
    ceiling: int | None
    """The most that the server's settings allow; null: no limit."""
    used: int | None
    """Null where it is of nobody in particular: every space, each visitor."""
    resets_at: datetime | None


class QuotaIn(BaseModel):
    """A limit to set."""

    quota: Quota
    scope: Scope
    space_id: str | None = Field(default=None, max_length=36)
    most: int | None = Field(ge=0, le=LARGEST, description="Null removes it.")


@router.get("", summary="List limits and what is used of them", responses=problems(403), dependencies=_MANAGE)
async def list_(session: ReadSession, caller: Caller, limits: Limits) -> Page[QuotaOut]:
    """Limits of the organisation, of every space, of each space, and of visitors of public pages."""
    return Page(
        items=[
            QuotaOut(
                quota=usage.quota,
                scope=usage.scope,
                space_id=usage.space_id,
                space_name=usage.space_name,
                most=usage.most,
                stored=usage.stored,
                ceiling=usage.ceiling,
                used=usage.used,
                resets_at=None if usage.resets_at is None else datetime.fromtimestamp(usage.resets_at / SECOND, UTC),
            )
            for usage in await limits.list_usage(session, caller)
        ]
    )


@router.put("", status_code=204, summary="Set a limit", responses=problems(403, 404), dependencies=_MANAGE)
async def set_(body: QuotaIn, session: WriteSession, caller: Caller, limits: Limits) -> None:
    """Set a limit in place of the one before. It is in force at once; on other servers within five seconds."""
    await limits.set_limit(session, caller, scope=body.scope, space_id=body.space_id, quota=body.quota, most=body.most)
