"""The world of the 20 tasks."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from headgate.entrypoints.http.app import create_app
from headgate.features.triggers import scheduler
from headgate.features.triggers.polling import folders
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.tasks.world import World
from tests.support.databases import Postgres
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.smtp import smtp_server
from tests.support.web_server import web_server


@pytest.fixture
async def world(settings: Settings, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """The application with auto-login and the servers, all on loopback."""
    monkeypatch.setattr(scheduler, "POLL_SECONDS", 0.1)
    monkeypatch.setattr(folders, "SETTLE_SECONDS", 0)
    local = settings.model_copy(update={"http": LOOPBACK, "rate_limits": RateLimitSettings(enabled=False)})
    app = create_app(local)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    with smtp_server() as postbox, OpenAIServer() as openai, postgres.empty() as uri:
        async with (
            web_server() as web,
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as client,
        ):
            made = World(app, client, openai, postbox, web, uri)
            try:
                yield made
            finally:
                if made.mailbox is not None:
                    made.mailbox.close()
