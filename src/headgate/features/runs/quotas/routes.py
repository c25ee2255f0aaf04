"""HTTP routes of limits."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.quotas.bounds import Quota, Scope
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, part
from headgate.foundation.shaped import shaped

router = Routes(prefix="/quotas", tags=["quotas"])
_MANAGE = [needs(Permission.QUOTAS_MANAGE)]
LARGEST = 10**15


Limits = Annotated[Quotas, part("quotas")]


class QuotaOut(BaseModel):
    """A limit and its usage."""

    quota: Quota
    scope: Scope
    space_id: str | None
    """The space; null for the organisation, for each visitor, and for the default limit of spaces."""
    space_name: str | None
    most: int | None
    """The effective limit; null: none."""
    stored: int | None
    """The limit set by the organisation; null: none."""
    ceiling: int | None
    """The maximum that the server's settings allow; null: no limit."""
    used: int | None
    """Null for limits that apply to each space or visitor."""
    resets_at: datetime | None


class QuotaIn(BaseModel):
    """A limit to set."""

    quota: Quota
    scope: Scope
    space_id: str | None = Field(default=None, max_length=36)
    most: int | None = Field(ge=0, le=LARGEST, description="Null removes it.")


@router.get("", "List limits and usage", _MANAGE, problems=(403,))
async def list_(session: ReadSession, caller: Caller, limits: Limits) -> Page[QuotaOut]:
    """List the limits of the organisation, of each space, and of visitors of public pages, with their usage."""
    return Page(items=[shaped(QuotaOut, usage) for usage in await limits.list_usage(session, caller)])


@router.put("", "Set a limit", _MANAGE, problems=(403, 404))
async def set_(body: QuotaIn, session: WriteSession, caller: Caller, limits: Limits) -> None:
    """Replace a limit. It applies at once; on other servers within five seconds."""
    await limits.set_limit(session, caller, scope=body.scope, space_id=body.space_id, quota=body.quota, limit=body.most)
