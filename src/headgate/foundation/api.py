"""What the routes of every slice share: sessions of one transaction, pages, problem answers in the OpenAPI document."""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query, Request
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id

Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: Sequence[Item]
    next_cursor: str | None = None
    """Give it as `cursor` to get the next page; null on the last one."""


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    code: str
    """Stable: programs decide by this."""
    detail: str
    remedy: str = ""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that may answer with these problems; 422 and 503 always may come."""
    return {
        status: {"model": Problem, "content": {"application/problem+json": {}}}
        for status in sorted({*statuses, 422, 503})
    }


def get_database(request: Request) -> Database:
    """The application's database."""
    found: Database = request.app.state.database
    return found


async def _read_session(database: Annotated[Database, Depends(get_database)]) -> AsyncIterator[AsyncSession]:
    async with database.reading() as session:
        yield session


async def _write_session(database: Annotated[Database, Depends(get_database)]) -> AsyncIterator[AsyncSession]:
    async with database.writing() as session:
        yield session


# Function scope: with FastAPI's default the commit would come after the answer has gone.
ReadSession = Annotated[AsyncSession, Depends(_read_session, scope="function")]
WriteSession = Annotated[AsyncSession, Depends(_write_session, scope="function")]

Limit = Annotated[int, Query(ge=1, le=200, description="Items per page.")]
Cursor = Annotated[str | None, Query(max_length=200, description="`next_cursor` of the page before.")]


def page_of(rows: Sequence[Item], limit: int, cursor_of: str) -> tuple[Sequence[Item], str | None]:
    """Cut rows fetched with `limit + 1` to a page and name where the next begins."""
    if len(rows) <= limit:
        return rows, None
    kept = rows[:limit]
    return kept, str(getattr(kept[-1], cursor_of))


def parse_cursor(cursor: str | None) -> str | None:
    """A cursor is the id of the last item seen. Raises `Invalid`."""
    if cursor is None:
        return None
    if not is_id(cursor):
        raise Invalid("The cursor is not one that this server gave.", remedy="Leave it out to start at the first page.")
    return cursor
