"""The real application with everybody signing in, and browsers in front of it."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx2
from fastapi import FastAPI
from sqlalchemy import select, update

from headgate.entrypoints.http.app import create_app
from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import DEFAULT_TENANT_ID, system_principal
from headgate.features.accounts import throttle
from headgate.features.accounts.passwords.hashing import Passwords
from headgate.features.accounts.tables import Tenant, User
from headgate.features.accounts.users.schemas import UserIn
from headgate.features.accounts.users.service import create_user, set_password
from headgate.features.audit.tables import AuditEvent
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import AccountSettings, RateLimitSettings, ServerSettings, Settings

PASSWORD = "correct horse battery"
HERE = "http://127.0.0.1:7411"
_KEPT: dict[str, str] = {}


class Browser:
    """One person's browser: it keeps cookies, and sends the token that the page was given."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http
        self.csrf = ""

    async def sign_in(self, email: str, password: str = PASSWORD, **more: Any) -> httpx2.Response:
        answer = await self.post("/sign-in", {"email": email, "password": password, **more})
        self.csrf = answer.json().get("csrf_token", self.csrf)
        return answer

    async def get(self, path: str, **more: Any) -> httpx2.Response:
        return await self.http.get(f"/api/v1{path}", **more)

    async def post(self, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        return await self.send("POST", path, body, **more)

    async def send(self, method: str, path: str, body: Any = None, *, csrf: str | None = None) -> httpx2.Response:
        token = self.csrf if csrf is None else csrf
        headers = {"X-CSRF-Token": token} if token else {}
        return await self.http.request(method, f"/api/v1{path}", json=body, headers=headers)

    @property
    def token(self) -> str:
        """The token in its cookie."""
        (found,) = [cookie.value for cookie in self.http.cookies.jar if cookie.name.endswith("headgate")]
        return found or ""


class House:
    """The application, and what a test looks at behind it."""

    def __init__(self, app: FastAPI, stack: AsyncExitStack) -> None:
        self.app = app
        self.database: Database = app.state.database
        self._stack = stack

    async def browser(self, *, base_url: str = HERE, address: str = "127.0.0.1") -> Browser:
        """A browser without cookies."""
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False, client=(address, 50_000))
        http = httpx2.AsyncClient(transport=transport, base_url=base_url, headers={"User-Agent": "Test"})
        return Browser(await self._stack.enter_async_context(http))

    async def signed_in(self, email: str) -> Browser:
        """A browser in which somebody signed in."""
        found = await self.browser()
        answer = await found.sign_in(email)
        assert answer.status_code == 200, answer.text
        return found

    async def add(
        self,
        email: str,
        *,
        role: TenantRole = TenantRole.MEMBER,
        tenant_id: str = DEFAULT_TENANT_ID,
        password: str | None = PASSWORD,
        name: str | None = None,
    ) -> User:
        """A person, who has set a password unless it is None."""
        kept = None if password is None else await kept_of(password)
        async with self.database.writing() as session:
            operator = system_principal(tenant_id)
            user = await create_user(session, operator, user_in=UserIn(email=email, role=role, name=name))
            if kept is not None:
                await set_password(session, operator, user, password_hash=kept)
        return user

    async def add_tenant(self, name: str) -> str:
        """Another organisation. Returns its id."""
        async with self.database.writing() as session:
            row = Tenant(id=new_id(), name=name, created_at=now())
            session.add(row)
        return row.id

    async def change(self, row: Any, **values: Any) -> None:
        """Change columns of a mapped row behind the application's back."""
        async with self.database.writing() as session:
            await session.execute(update(type(row)).where(type(row).id == row.id).values(**values))

    async def audited(self, tenant_id: str = DEFAULT_TENANT_ID) -> list[AuditEvent]:
        """The audit log, the oldest first."""
        await self.app.state.sign_in.close()
        async with self.database.reading() as session:
            query = select(AuditEvent).where(AuditEvent.tenant_id == tenant_id).order_by(AuditEvent.seq)
            return list((await session.execute(query)).scalars().all())

    async def actions(self, tenant_id: str = DEFAULT_TENANT_ID) -> list[str]:
        """What was audited."""
        return [event.action for event in await self.audited(tenant_id)]


async def kept_of(password: str) -> str:
    """The hash of a password, made once in this process."""
    if password not in _KEPT:
        _KEPT[password] = await Passwords().hash(password)
    return _KEPT[password]


@asynccontextmanager
async def house_of(
    settings: Settings, *, accounts: AccountSettings | None = None, tries: int = 1000, **server: Any
) -> AsyncIterator[House]:
    """The application where everybody signs in; `tries` a minute for one account and address."""
    changed = settings.model_copy(
        update={
            "server": ServerSettings(auto_login=False, **server),
            "accounts": accounts or AccountSettings(),
            "rate_limits": RateLimitSettings(sign_in_per_minute=tries),
        }
    )
    app = create_app(changed)
    async with app.router.lifespan_context(app), AsyncExitStack() as stack:
        stack.enter_context(still_minute())
        yield House(app, stack)


@contextmanager
def still_minute() -> Iterator[None]:
    """Tries are counted as if they came at one moment: on a busy machine a few take longer than their minute."""
    began = time.time()
    with patch.object(throttle, "time", SimpleNamespace(time=lambda: began, monotonic=time.monotonic)):
        yield
