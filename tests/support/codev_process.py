"""The real command line with one more place for the development agent: one in another process, asked over HTTP.

    HEADGATE_TEST_PLACE=http://127.0.0.1:7500 python -m tests.support.codev_process serve --port 7411

`instance_id` names one of many places there; see `codev_remote.Places` for the other side.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import httpx2

from headgate.agents.codev.domain import Answer, Change, Held, NeededCredential, TrialResult
from headgate.agents.codev.errors import WriteConflict
from headgate.agents.codev.sessions.places import Place
from headgate.entrypoints import cli
from headgate.entrypoints.development import opening
from headgate.entrypoints.development.ground import Ground
from headgate.features.access.principal import Principal
from headgate.foundation.errors import NotFound
from headgate.graph.cases import TestCase
from tests.support.codev_place import FakePlace
from tests.support.lifeline import tie

VARIABLE = "HEADGATE_TEST_PLACE"
_ERRORS = {"NotFound": NotFound, "WriteConflict": WriteConflict}


class RemotePlace(FakePlace):
    """A place whose flows are in another process. What a tool would change is worked out here."""

    def __init__(self, client: httpx2.AsyncClient, instance: str) -> None:
        super().__init__()
        self.client, self.instance = client, instance

    async def ask(self, method: str, **given: Any) -> Any:
        answer = await self.client.post(f"/{self.instance}/{method}", json=given)
        answer.raise_for_status()
        found = answer.json()
        if "error" in found:
            raise _ERRORS[found["error"]](found["message"])
        return found["value"]

    async def read(self, flow_id: str) -> Held:
        return Held(**await self.ask("read", flow_id=flow_id))

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        about = asdict(before) if before is not None else None
        return Held(**await self.ask("write", change=asdict(change), before=about, token=token))

    async def find_written(self, token: str) -> Held | None:
        found = await self.ask("find_written", token=token)
        return Held(**found) if found is not None else None

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        await self.ask("missing_credentials", types=list(types))
        return ()

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        return TrialResult(**await self.ask("run_case", flow_id=flow_id, text=case.text, session=session))

    async def close(self) -> None:
        await self.client.aclose()

    async def _list(self, _: dict[str, Any]) -> Answer:
        return dict(await self.ask("list_components"))


class RemoteDomain:
    """Many places, by the name of the instance."""

    name = "remote"

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> RemotePlace:
        assert principal.sees(space_id)
        place = RemotePlace(httpx2.AsyncClient(base_url=os.environ[VARIABLE], timeout=3600), instance_id)
        await place.ask("open")
        return place


def add_place() -> None:
    """Offer the place beside the real ones."""
    made = opening._places

    def places(ground: Ground) -> dict[str, Place]:
        return made(ground) | {"remote": Place(RemoteDomain(), "Remote")}

    opening._places = places


if __name__ == "__main__":
    tie()
    add_place()
    sys.argv[0] = "headgate"
    cli.main()
