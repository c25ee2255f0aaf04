"""HTTP routes of API keys."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.keys import service
from headgate.features.accounts.keys.schemas import KeyIn, KeyMade, KeyOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, WriteSession, page_of, parse_cursor, problems

router = APIRouter(prefix="/api-keys", tags=["API keys"])
Everyone = Annotated[bool, Query(description="Everybody's keys instead of your own; needs `keys.manage`.")]


@router.get("", summary="List API keys", responses=problems(401, 403), dependencies=[needs(Permission.ACCOUNT_VIEW)])
async def list_keys(
    session: ReadSession,
    caller: Caller,
    everyone: Everyone = False,  # noqa: FBT002 - a query parameter
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[KeyOut]:
    """Your keys, oldest first, with those that were revoked; never their secrets."""
    rows = await service.list_keys(session, caller, everyone=everyone, limit=limit + 1, after=parse_cursor(cursor))
    kept, following = page_of(rows, limit, "id")
    return Page(items=kept, next_cursor=following)


@router.post(
    "",
    status_code=201,
    summary="Make an API key",
    responses=problems(401, 403, 404, 409),
    dependencies=[needs(Permission.ACCOUNT_CHANGE)],
)
async def create_key(body: KeyIn, session: WriteSession, caller: Caller) -> KeyMade:
    """A key that acts for you, within its scopes and spaces. The answer is the only one that shows it."""
    made = await service.create_key(session, caller, wanted=body)
    return KeyMade(**made.shown.model_dump(), key=made.secret)


@router.delete(
    "/{key_id}",
    summary="Revoke an API key",
    responses=problems(401, 403, 404),
    dependencies=[needs(Permission.ACCOUNT_CHANGE)],
)
async def revoke_key(key_id: Annotated[str, Path(max_length=36)], session: WriteSession, caller: Caller) -> KeyOut:
    """End a key and those made with it: no server takes them any more. Somebody else's needs `keys.manage` besides."""
    return await service.revoke_key(session, caller, key_id)
