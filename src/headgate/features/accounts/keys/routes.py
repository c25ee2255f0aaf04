"""HTTP routes of API keys."""

from typing import Annotated

from fastapi import Path, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.keys import service
from headgate.features.accounts.keys.schemas import KeyIn, KeyMade, KeyOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor

router = Routes(prefix="/api-keys", tags=["API keys"])
Everyone = Annotated[bool, Query(description="List the keys of all users instead of your own; requires `keys.manage`.")]


@router.get("", "List API keys", [needs(Permission.ACCOUNT_VIEW)], problems=(401, 403))
async def list_keys(
    session: ReadSession,
    caller: Caller,
    everyone: Everyone = False,  # noqa: FBT002 - a query parameter
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[KeyOut]:
    """List your keys, oldest first, including revoked ones; never their secrets."""
    rows = await service.list_keys(session, caller, everyone=everyone, limit=limit + 1, after=parse_cursor(cursor))
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.post(
    "", "Create an API key", [needs(Permission.ACCOUNT_CHANGE)], status_code=201, problems=(401, 403, 404, 409)
)
async def create_key(body: KeyIn, session: WriteSession, caller: Caller) -> KeyMade:
    """Create a key that acts for you, within its scopes and spaces. Only this response contains it."""
    new_key = await service.create_key(session, caller, key_in=body)
    return KeyMade(**new_key.shown.model_dump(), key=new_key.secret)


@router.delete("/{key_id}", "Revoke an API key", [needs(Permission.ACCOUNT_CHANGE)], problems=(401, 403, 404))
async def revoke_key(key_id: Annotated[str, Path(max_length=36)], session: WriteSession, caller: Caller) -> KeyOut:
    """Revoke a key and the keys created with it, effective immediately. Another user's key requires `keys.manage`."""
    return await service.revoke_key(session, caller, key_id)
