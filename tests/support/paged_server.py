"""An API on loopback whose answer has pages, each with a link to the next."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.scripted_server import Asked, Hold, Reply, ScriptedServer, json_reply


class PagedServer(ScriptedServer):
    """`count` pages of `size` items: `{"of": ["1.0", "1.1"], "next": "/items?page=2"}`."""

    def __init__(self, count: int, size: int) -> None:
        super().__init__()
        self._count, self._size = count, size
        self.pages: list[int] = []
        """Numbers of the pages that were asked for."""
        self.held = 0
        """A page that is not answered."""
        self.script(self._page)

    @property
    def url(self) -> str:
        return f"{self.origin}/items"

    def _page(self, asked: Asked) -> Reply:
        number = int(parse_qs(urlsplit(asked.path).query).get("page", ["1"])[0])
        self.pages.append(number)
        if number == self.held:
            return Reply((Hold(), b"[]"))
        body: dict[str, Any] = {"of": [f"{number}.{item}" for item in range(self._size)]}
        return json_reply(body | {"next": f"/items?page={number + 1}" if number < self._count else None})
