"""The real application, and the flows that pages of `docs/` show."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.http.conftest import app, client, created

__all__ = ["app", "client"]
DOCS = Path(__file__).parents[3] / "docs"
RunPage = Callable[..., Awaitable[dict[str, Any]]]


def flow_of(page: str, name: str) -> str:
    """The flow of that name as a page shows it."""
    found: list[str] = re.findall(
        r"^```flow\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return next(text for text in found if f"name: {name}\n" in text)


@pytest.fixture
def run_page(client: httpx2.AsyncClient) -> RunPage:
    """Creates the flow that a page shows and runs it to its end; gives the run."""

    async def run(page: str, name: str, **start: Any) -> dict[str, Any]:
        flow = await created(client, flow_of(page, name))
        answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True, **start})
        found: dict[str, Any] = answer.json()
        return found

    return run
