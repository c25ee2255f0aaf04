"""A team in the real application: a person of each role in one space, an admin, and a stranger with another space.

Everybody signs in; what each may do is read from the database at each request.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from fastapi import FastAPI

from headgate.features.access.permissions import Role
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.people import BASE, Person, cookie, insert_user, running, session_row, signed_in, space_row

ROLES = ("viewer", "runner", "editor", "publisher", "owner")
EVERYBODY = (*ROLES, "admin", "stranger")
FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"


@dataclass(frozen=True)
class Team:
    """The people, and a client for each, by what they are."""

    app: FastAPI
    space: str
    """Where each role has one person."""
    elsewhere: str
    """The stranger's space, which nobody else but the admin sees."""
    people: dict[str, Person]
    clients: dict[str, httpx2.AsyncClient]

    @property
    def database(self) -> Database:
        """The application's."""
        found: Database = self.app.state.database
        return found

    async def ask(self, who: str, method: str, path: str, **more: Any) -> httpx2.Response:
        """A request of one of them."""
        return await self.clients[who].request(method, path, **more)

    async def get(self, who: str, path: str, **more: Any) -> Any:
        """What one of them reads."""
        answer = await self.ask(who, "GET", path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def make(self, who: str, path: str, **members: Any) -> Any:
        """What one of them makes."""
        answer = await self.ask(who, "POST", path, json=members)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    async def answers(self, method: str, path: str, **more: Any) -> dict[str, int]:
        """The status that each of them is answered with."""
        return {who: (await self.ask(who, method, path, **more)).status_code for who in EVERYBODY}

    async def allowed(self, method: str, path: str, **more: Any) -> set[str]:
        """Who is let through. Asserts that who sees the space is refused with 403, and the stranger told of nothing."""
        found = await self.answers(method, path, **more)
        refused = {who: status for who, status in found.items() if status >= 400}
        assert refused.pop("stranger", 404) == 404, found
        assert set(refused.values()) <= {403}, found
        return {who for who, status in found.items() if status < 400}


@asynccontextmanager
async def team(settings: Settings, **groups: Any) -> AsyncIterator[Team]:
    """The application with its people."""
    async with running(signed_in(settings, **groups)) as app, AsyncExitStack() as stack:
        database: Database = app.state.database
        space, elsewhere = space_row("Research"), space_row("Elsewhere")
        ids = space.id, elsewhere.id
        people: dict[str, Person] = {}
        tokens: dict[str, str] = {}
        async with database.writing() as session:  # one transaction: hundreds of tests begin with it
            session.add_all([space, elsewhere])
            for who in EVERYBODY:
                home = ids[who == "stranger"]
                roles = {} if who == "admin" else {home: Role.OWNER if who == "stranger" else Role(who)}
                email = f"{who}@example.org"
                people[who] = await insert_user(session, email, admin=who == "admin", roles=roles, home=home)
                row, tokens[who] = session_row(people[who])
                session.add(row)
        clients = {who: await stack.enter_async_context(_client(app, token)) for who, token in tokens.items()}
        yield Team(app, *ids, people, clients)


def _client(app: FastAPI, token: str) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url=BASE, headers=cookie(token))
