"""How a component follows the pages of an API."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.components.web.page_positions import (
    Paging,
    Position,
    cursor_position,
    link_position,
    next_link,
    page_url,
    require_different,
    require_new,
)
from headgate.sdk import ComponentError, HttpAnswer

Select = Callable[[str, JsonValue, str], Awaitable[JsonValue]]
"""Returns the part that a JMESPath selects: expression, value, name of the field."""


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page that was fetched."""

    url: str
    sha256: str
    """Of the body."""
    following: Position


@dataclass(frozen=True, slots=True)
class PageRules:
    """Where the next page is.

    Args:
        subject: The component, for errors.
        paging: What separates the pages.
        parameter: Query parameter of the position.
        next: JMESPath of the link, the cursor, or a condition that there is another page; empty: see `ForEachPage`.
        first_page: Number of the first page.
        select: Evaluates JMESPath.
    """

    subject: str
    paging: Paging
    parameter: str
    next: str
    first_page: int
    select: Select

    @property
    def first(self) -> Position:
        """Return the position of the first page."""
        return {"page": self.first_page, "offset": 0}.get(self.paging)

    def url(self, url: str, position: Position) -> str:
        """Return the URL of a page."""
        return page_url(self.paging, url, self._parameter, position)

    async def following(
        self, url: str, content: JsonValue, answer: HttpAnswer, *, items: int, seen: Sequence[SeenPage]
    ) -> Position:
        """Return the position of the page after one; None when that is the last one. `seen`: the pages before it."""
        following: Position = None
        if self.paging == "link":
            link = await self._next(content) if self.next else next_link(answer.headers.get("link", ""))
            following = link_position(link, current=answer.url, first=seen[0].url if seen else url)
        elif self.paging == "cursor":
            following = cursor_position(await self._next(content))
        elif bool(await self._next(content)) if self.next else items > 0:
            require_different(answer.content, seen[-1].sha256 if seen else "", self._parameter)
            last = seen[-1].following if seen else self.first
            following = int(last or 0) + (1 if self.paging == "page" else items)
        if following is not None:
            require_new(self.url(url, following), [url, *(page.url for page in seen)])
        return following

    @property
    def _parameter(self) -> str:
        return self.parameter or self.paging

    async def _next(self, content: JsonValue) -> JsonValue:
        if not self.next:
            raise ComponentError(
                f"{self.subject}: there is no JMESPath of the cursor.",
                remedy="Set Next, for example meta.next_cursor.",
                field="next",
            )
        return await self.select(self.next, content, "next")
