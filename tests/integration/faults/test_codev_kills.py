"""The development agent's server is killed while sessions are in every node: they go on, and nothing is done twice.

The model and the place are other processes' business: they hang where a session is to be killed, before or after they
did what they were asked for, and count. One death for all the sessions: each hangs in a node of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from tests.integration.faults.installation import Installation, Server
from tests.support.codev_place import FakePlace
from tests.support.codev_process import VARIABLE
from tests.support.codev_remote import Elsewhere, Hang, Marked
from tests.support.codev_script import FOUND, ScriptedReasoning, calls, case, plan_of, scripted
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.scripted_server import ScriptedServer

HANGS = {
    "start": Hang("open", time=2),
    "clarify": Hang("clarify"),
    "discover": Hang("discover"),
    "discovertools": Hang("list_components"),
    "discoveragain": Hang("discover", time=2),
    "credentials": Hang("missing_credentials"),
    "plan": Hang("plan"),
    "answered": Hang("open", time=3),
    "patch": Hang("patch"),
    "beforewrite": Hang("write"),
    "afterwrite": Hang("write", done=True),
    "patchagain": Hang("patch", time=2),
    "trial": Hang("run_case"),
    "aftertrial": Hang("run_case", done=True),
    "secondtrial": Hang("run_case", time=2),
    "converge": Hang("converge"),
    "reviewed": Hang("open", time=4),
}
"""Session to where it hangs. `open` is asked at the start, and whenever a process takes a session up."""
NEEDS = FOUND.replace("STATUS: OK", "STATUS: MISSING\nMISSING_TYPES: apiKey")
USUAL = {"clarify": 1, "discover": 2, "plan": 1, "patch": 2, "converge": 1, "write": 1}
"""How often each is asked in a session that nothing happens to."""


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    with OpenAIServer() as openai, ScriptedServer() as places:
        yield Elsewhere(openai, places)


@pytest.fixture
async def client(installation: Installation, elsewhere: Elsewhere) -> AsyncIterator["Client"]:
    installation.environment = {
        **installation.environment,
        VARIABLE: elsewhere.places.origin,
        "OPENAI_API_KEY": "sk-of-a-test",
        "OPENAI_BASE_URL": elsewhere.openai.base_url,
        "HEADGATE_CODEV__MODEL": "openai/gpt-4o",
        "HEADGATE_ENGINE__LEASE_SECONDS": "1",
        "HEADGATE_CODEV__MAX_SESSIONS": "100",
        "HEADGATE_CODEV__SESSIONS_PER_MINUTE": "0",
    }
    installation.module = "tests.support.codev_process"
    found = Client(installation, elsewhere)
    yield found
    await found.close()


def not_completed(sessions: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Sessions that did not complete, by name, with the reason."""
    return {name: shown["stop_reason"] for name, shown in sessions.items() if shown["status"] != "completed"}


class Client:
    """Whoever started the sessions, and answers each question once."""

    def __init__(self, installation: Installation, elsewhere: Elsewhere) -> None:
        self.installation, self.elsewhere = installation, elsewhere
        self.server: Server | None = None
        self.http = httpx2.AsyncClient()
        self.ids: dict[str, str] = {}
        self.answered: dict[str, list[str]] = {}

    async def up(self) -> None:
        self.server = await self.installation.up()
        await self.http.aclose()
        self.http = httpx2.AsyncClient(base_url=f"{self.server.url}/api/v1/codev", timeout=30)

    def last_log(self) -> str:
        """What the server that runs now has logged."""
        return "" if self.server is None else self.server.log.read_text()[-5000:]

    def kill(self) -> None:
        assert self.server is not None
        self.installation.kill(self.server)

    async def close(self) -> None:
        await self.http.aclose()

    async def start(self, session: Marked, flow_id: str | None = "greeter") -> None:
        self.elsewhere.sessions[session.name] = session
        wanted = {
            "requirement": session.requirement,
            "domain": "remote",
            "instance_id": session.name,
            "flow_id": flow_id,
            "test_trials": 2,
        }
        begun = await self.http.post("/sessions", json=wanted, params={"wait": "false"})
        assert begun.status_code == 201, begun.text
        self.ids[session.name] = begun.json()["thread_id"]
        self.answered[session.name] = []

    async def until_hung_or_over(self) -> dict[str, dict[str, Any]]:
        """Answer what is asked until every session hangs, or is over; the sessions by name."""
        names = {session_id: name for name, session_id in self.ids.items()}
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                page = await self.http.get("/sessions", params={"limit": 200})
                assert page.is_success, page.text
                found = {names[one["thread_id"]]: one for one in page.json()["items"]}
                for name, one in found.items():
                    if one["status"] == "pending_interrupt":
                        await self._answer(name, one["interrupt"])
                if all(self._rests(name, one) for name, one in found.items()):
                    return found
                await asyncio.sleep(0.2)

    def _rests(self, name: str, found: dict[str, Any]) -> bool:
        if found["status"] == "in_progress":
            return self.elsewhere.sessions[name].hung and not self.installation.deaths
        return bool(found["status"] != "pending_interrupt")

    async def _answer(self, name: str, interrupt: dict[str, Any]) -> None:
        response = {"type": interrupt["type"]}
        response |= {"approved": True} if interrupt["type"] == "plan_approval" else {"accepted": True}
        body = {"interrupt_id": interrupt["id"], "response": response}
        answer = await self.http.post(f"/sessions/{self.ids[name]}/resume", json=body, params={"wait": "false"})
        assert answer.is_success, answer.text
        self.answered[name].append(interrupt["type"])


def model() -> ScriptedReasoning:
    return scripted(
        discover=(calls("list_components"), NEEDS),
        plan=plan_of(case("greets", "hello")),
        patch=(calls("set_answer", answer="hello"), "It is written."),
    )


class TestKilled:
    async def test_in_every_node_sessions_go_on_and_nothing_is_done_twice(self, client: Client) -> None:
        await client.up()
        for name, hang in HANGS.items():
            await client.start(Marked(name, model(), hang, FakePlace(greeter="nothing")))
        for name, hang in {"makebefore": Hang("write"), "makeafter": Hang("write", done=True)}.items():
            script = scripted(discover=(calls("list_components"), FOUND), patch=MAKES)
            await client.start(Marked(name, script, hang), flow_id=None)
        await client.until_hung_or_over()
        sessions = client.elsewhere.sessions
        assert [name for name, session in sessions.items() if not session.hung] == []
        client.kill()
        await client.up()
        ended = await client.until_hung_or_over()

        assert not_completed(ended) == {}, client.last_log()
        assert set(map(tuple, client.answered.values())) == {("plan_approval", "result_review")}
        for name, session in sessions.items():
            assert [answer for _, answer in session.place.written] == ["hello"], name
            assert session.place.flows, name
            twice = {what: count - USUAL[what] for what, count in session.asked.items() if what in USUAL}
            assert session.hang is not None
            lost = {session.hang.what} if session.hang.what in USUAL and not session.hang.done else set()
            assert {what for what, more in twice.items() if more} == lost, (name, twice)
            assert all(more in {0, 1} for more in twice.values()), (name, twice)
            assert ended[name]["total_input_tokens"] == 7 * sum(
                USUAL[phase] for phase in ("clarify", "discover", "plan", "patch", "converge")
            ), name


MAKES = (calls("make_flow", name="Greeter", answer="hello"), "It is written.")
