"""A browser that is sent to a provider and back, as people's are."""

from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit, urlunsplit

import httpx2
from bs4 import BeautifulSoup, Tag

from headgate.features.accounts.sessions.own_path import HOME
from tests.support.sign_in import HERE, Browser

BEGIN = "/sign-in/oidc"
CALLBACK = f"{HERE}/api/v1/sign-in/oidc/callback"


class Traveller:
    """Follows redirects between Headgate and a provider, and fills in the provider's forms."""

    def __init__(self, browser: Browser, provider: httpx2.AsyncClient) -> None:
        self.browser = browser
        self._provider = provider
        self._here = str(browser.http.base_url).rstrip("/")
        self.came_back = ""
        """The address at which the provider sent it back to Headgate."""

    async def begin(self, wanted: str = HOME) -> httpx2.Response:
        """To the provider's first page."""
        answer = await self.browser.get(BEGIN, params={"next": wanted})
        return await self.follow(answer)

    async def follow(self, answer: httpx2.Response) -> httpx2.Response:
        """Follow redirects, until a page of the provider, or one of Headgate that is not the API's."""
        while answer.is_redirect:
            url = urljoin(str(answer.url), answer.headers["location"])
            if not url.startswith(self._here):
                answer = await self._provider.get(url)
            elif urlsplit(url).path.startswith("/api/"):
                self.came_back = url
                answer = await self.browser.http.get(url)
            else:
                return answer
        return answer

    async def submit(self, page: httpx2.Response, **typed: str) -> httpx2.Response:
        """Send the one form of a page."""
        form = BeautifulSoup(page.text, "html.parser").find("form")
        assert isinstance(form, Tag), page.text
        hidden = {
            str(field["name"]): str(field.get("value", "")) for field in form.find_all("input") if field.get("name")
        }
        url = urljoin(str(page.url), str(form.get("action", "")))
        return await self.follow(await self._provider.post(url, data=hidden | typed))

    async def cancel(self, page: httpx2.Response) -> httpx2.Response:
        """Click the link that says no."""
        (link,) = [one for one in BeautifulSoup(page.text, "html.parser").find_all("a") if "ancel" in one.text]
        return await self.follow(await self._provider.get(urljoin(str(page.url), str(link["href"]))))

    async def sign_in(self, name: str, wanted: str = HOME) -> str:
        """Sign in at the provider and consent. Returns the path that Headgate sends the browser to."""
        page = await self.begin(wanted)
        page = await self.submit(page, login=name, password="any")
        if not page.is_redirect:
            page = await self.submit(page)
        return ended_at(page)


def ended_at(answer: httpx2.Response) -> str:
    """The path of Headgate that an answer sends the browser to."""
    assert answer.status_code == 303, answer.text
    return urlunsplit(urlsplit(answer.headers["location"])._replace(scheme="", netloc=""))


def error_of(location: str) -> str | None:
    """The code with which the sign-in page was opened."""
    parts = urlsplit(location)
    assert parts.path == "/sign-in"
    return parse_qs(parts.query).get("error", [None])[0]


async def signed_in_person(browser: Browser) -> Any:
    """Who the browser is signed in as; None for nobody."""
    answer = await browser.get("/me")
    return answer.json()["user"] if answer.status_code == 200 else None
