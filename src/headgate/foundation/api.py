"""Shared parts of HTTP routes: transactional sessions, pages and problem responses for the OpenAPI document."""

from collections.abc import AsyncIterator, Callable, Sequence
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.ids import is_id

Item = TypeVar("Item")
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Dependencies: TypeAlias = Sequence[Any] | None  # FastAPI's own type is private


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: Sequence[Item]
    next_cursor: str | None = None
    """Pass it as `cursor` to get the next page; null on the last page."""


class Problem(BaseModel):
    """An RFC 9457 problem document."""

    type: str
    title: str
    status: int
    code: str
    """Stable; use it for decisions in programs."""
    detail: str
    remedy: str = ""


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that may respond with these problems; 422 and 503 are always included."""
    return {
        status: {"model": Problem, "content": {"application/problem+json": {}}}
        for status in sorted({*statuses, 422, 503})
    }


class Routes(APIRouter):
    """A router whose routes name their summary, what they need and, as `problems`, statuses for `problems()`.

    The other options are FastAPI's. A route that returns nothing responds with 204.
    """

    def get(
        self,
        path: str,
        summary: str | None = None,
        needs: Dependencies = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a GET route."""
        return self._declare("GET", path, summary, needs, options)

    def post(
        self,
        path: str,
        summary: str | None = None,
        needs: Dependencies = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a POST route."""
        return self._declare("POST", path, summary, needs, options)

    def put(
        self,
        path: str,
        summary: str | None = None,
        needs: Dependencies = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a PUT route."""
        return self._declare("PUT", path, summary, needs, options)

    def patch(
        self,
        path: str,
        summary: str | None = None,
        needs: Dependencies = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a PATCH route."""
        return self._declare("PATCH", path, summary, needs, options)

    def delete(
        self,
        path: str,
        summary: str | None = None,
        needs: Dependencies = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[Endpoint], Endpoint]:
        """Declare a DELETE route."""
        return self._declare("DELETE", path, summary, needs, options)

    def _declare(
        self, method: str, path: str, summary: str | None, needs: Dependencies, options: dict[str, Any]
    ) -> Callable[[Endpoint], Endpoint]:
        responses = problems(*options.pop("problems", ())) | options.pop("responses", {})

        def add(endpoint: Endpoint) -> Endpoint:
            empty = {"status_code": 204} if endpoint.__annotations__["return"] is None else {}
            declared = {"summary": summary, "dependencies": needs, "responses": responses} | empty | options
            self.add_api_route(path, endpoint, methods=[method], **declared)
            return endpoint

        return add


def part(path: str) -> Any:  # noqa: ANN401 - as `Depends`
    """Return the dependency on a part of the application by its name there, such as `box` or `connections.apis`."""
    read = attrgetter(path)

    async def resolve(request: Request) -> object:  # not in a thread, as FastAPI calls other functions
        return read(request.app.state)

    return Depends(resolve)


def get_database(request: Request) -> Database:
    """Return the application's database."""
    database: Database = request.app.state.database
    return database


async def _read_session(database: Annotated[Database, Depends(get_database)]) -> AsyncIterator[AsyncSession]:
    async with database.reading() as session:
        yield session


async def _write_session(database: Annotated[Database, Depends(get_database)]) -> AsyncIterator[AsyncSession]:
    async with database.writing() as session:
        yield session


# Function scope: with FastAPI's default, the commit would run after the response was sent.
ReadSession = Annotated[AsyncSession, Depends(_read_session, scope="function")]
WriteSession = Annotated[AsyncSession, Depends(_write_session, scope="function")]

Limit = Annotated[int, Query(ge=1, le=200, description="Items per page.")]
Cursor = Annotated[str | None, Query(max_length=200, description="`next_cursor` of the previous page.")]


def page_of(rows: Sequence[Item], limit: int, cursor_of: str) -> tuple[Sequence[Item], str | None]:
    """Cut rows fetched with `limit + 1` to one page and set its `next_cursor`."""
    if len(rows) <= limit:
        return rows, None
    items = rows[:limit]
    return items, str(getattr(items[-1], cursor_of))


def parse_cursor(cursor: str | None) -> str | None:
    """Parse a cursor, which is the id of the last item of the previous page. Raises `Invalid`."""
    if cursor is None:
        return None
    if not is_id(cursor):
        raise Invalid("Invalid cursor.", remedy="Omit it to start at the first page.")
    return cursor
