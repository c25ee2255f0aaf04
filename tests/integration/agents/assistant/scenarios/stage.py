"""Where conversations are played: the real application on a port of this machine, people with keys, their flows."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Access, Actor, Principal
from headgate.features.runs.views.client_waits import end_or_wait
from headgate.features.secrets import service as secrets
from headgate.features.workspace.components import read_components
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.scenarios.matching import as_event, holds
from tests.integration.agents.assistant.scenarios.model import Model, filled
from tests.integration.agents.assistant.scenarios.script import Done, Said, Scenario
from tests.integration.http.asking import listening
from tests.support.people import LOOPBACK, add_key, add_space_row, add_user, bearer, running, signed_in

KEY = "sk-test-0123456789abcdef"
_LINE_NUMBER = re.compile(r"^ *\d+[→\t]", re.MULTILINE)
MODELS = {"openai": "gpt-5-mini", "anthropic": "claude-haiku-4-5"}


@dataclass
class Stage:
    """One conversation on its way."""

    app: FastAPI
    address: str
    people: dict[str, dict[str, str]]
    """Name to the headers of that person."""
    principals: dict[str, Principal]
    workspace: Workspace
    model: Model
    flow: dict[str, Any] | None = None
    """The flow on the canvas, as the API has it."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """Of the last turn."""
    component: dict[str, Any] = field(default_factory=dict)
    """The proposed component: `code` and `proposal_id`."""

    def client(self, who: str) -> httpx2.AsyncClient:
        """The API as somebody."""
        return httpx2.AsyncClient(base_url=f"{self.address}/api/v1", headers=self.people[who], timeout=60)

    async def prepare(self, scenario: Scenario) -> None:
        """What is there before the conversation begins: the model's key, files, a flow."""
        provider = self.model.protocol.upper()
        variables = {f"{provider}_API_KEY": KEY, f"{provider}_BASE_URL": self.model.server.base_url, **scenario.keys}
        state = self.app.state
        async with state.database.writing() as session:
            for name, value in variables.items():
                await secrets.set_variable(
                    session, LOCAL, state.box, name=name, value=SecretStr(value), organisation=True
                )
        files = self.workspace.for_agent(self.principals["anna"])
        for path, content in scenario.files.items():
            assert "error" not in await files.write_file(path, content)
        async with self.client("anna") as client:
            for spec in scenario.flows:
                other = answered(await client.post("/flows", json={"spec": spec}))
                answered(await client.post(f"/flows/{other['id']}/publish", json={}))
            if scenario.canvas:
                self.flow = answered(await client.post("/flows", json={"spec": scenario.canvas}))
            if scenario.loose and self.flow is not None:
                nodes = [
                    *self.flow["definition"]["nodes"],
                    *({"id": id_, "type": type_} for id_, type_ in scenario.loose.items()),
                ]
                body = {"revision": self.flow["revision"], "definition": self.flow["definition"] | {"nodes": nodes}}
                self.flow = answered(await client.patch(f"/flows/{self.flow['id']}/draft", json=body))

    async def say(self, said: Said) -> None:
        """Send what the user says and take every event, or hang up at one."""
        body = {
            "input_value": said.user,
            "provider": self.model.protocol,
            "model_name": said.model_name or MODELS[self.model.protocol],
            "apply": said.apply,
            "session_id": said.session,
            "flow_id": self.flow["id"] if self.flow is not None and said.flow else None,
        }
        self.events = []
        async with self.client(said.who) as client, client.stream("POST", "/agentic/assist/stream", json=body) as found:
            assert found.status_code == 200, await found.aread()
            async for line in found.aiter_lines():
                if line.startswith("data: "):
                    self.events.append(json.loads(line.removeprefix("data: ")))
                    self._take_proposal(self.events[-1])
                    if said.stop_at is not None and holds(self.events[-1], as_event(said.stop_at)):
                        return

    def _take_proposal(self, event: dict[str, Any]) -> None:
        if event.get("action") == "propose_component":
            self.component = {"code": event["code"], "proposal_id": event["id"]}

    async def files(self, who: str) -> dict[str, str]:
        """Everything that somebody's workspace holds: path to content."""
        workspace = self.workspace.for_agent(self.principals[who])
        found: Any = (await workspace.glob_search("**/*"))["matches"]
        read: dict[str, Any] = {path: await workspace.read_file(path) for path in found}
        return {path: _LINE_NUMBER.sub("", answer["content"]) for path, answer in read.items()}

    async def components(self, who: str) -> list[str]:
        """Names of somebody's own components."""
        return sorted(await read_components(self.workspace.for_agent(self.principals[who])))

    async def do(self, done: Done) -> None:
        """What the page does between two turns."""
        async with self.client(done.who) as client:
            if done.does == "reset_session":
                path = "/agentic/sessions/reset"
                answer = answered(await client.post(path, params={"session_id": done.session}))
                assert holds(answer, done.answers), answer
            elif done.does in {"run", "decide", "send_event", "publish"}:
                await self._operate(client, done)
            elif done.does in {"save_component", "propose_component"}:
                await self._component(client, done)
            elif done.does == "delete_key":
                async with self.app.state.database.writing() as session:
                    await secrets.delete_variable(
                        session, LOCAL, name=f"{self.model.protocol.upper()}_API_KEY", organisation=True
                    )
            else:
                await self._keep(client, done.does)

    async def _operate(self, client: httpx2.AsyncClient, done: Done) -> None:
        """What a user does with runs and other flows; afterwards the newest run has ended, or waits."""
        if done.does == "publish":
            flows = answered(await client.get("/flows"))["items"]
            flow_id = next(flow["id"] for flow in flows if flow["name"] == done.given["name"])
            answered(await client.post(f"/flows/{flow_id}/publish", json={}))
            return
        assert self.flow is not None
        if done.does == "run":
            answered(await client.post(f"/flows/{self.flow['id']}/runs", json={**done.given, "wait": True}))
        elif done.does == "send_event":
            answered(await client.post("/events", json=done.given))
        else:
            (waiting,) = answered(await client.get("/approvals", params={"mine": True}))["items"]
            body = {**done.given, "content_hash": waiting["content_hash"]}
            answered(await client.post(f"/approvals/{waiting['id']}/decision", json=body))
        run_id = await self._newest_run(client)
        await end_or_wait(self.app.state.engine, run_id, self.principals["anna"].tenant_id, seconds=30)
        if done.run is not None:
            assert holds(await self.run_of(client), done.run), await self.run_of(client)

    async def _newest_run(self, client: httpx2.AsyncClient) -> str:
        assert self.flow is not None
        runs = answered(await client.get("/flow-runs", params={"flow_id": self.flow["id"], "limit": 1}))
        return str(runs["items"][0]["id"])

    async def run_of(self, client: httpx2.AsyncClient) -> dict[str, Any]:
        """The newest run of the flow, as scenarios write it."""
        run = answered(await client.get(f"/flow-runs/{await self._newest_run(client)}"))
        return {
            "status": run["status"],
            "text": run["text"],
            "error": run["error"] and run["error"]["message"],
            "steps": {step["step_id"]: step["status"] for step in run["steps"]},
            "waits": {step["step_id"]: step["waiting"]["reason"] for step in run["steps"] if step["waiting"]},
        }

    async def _component(self, client: httpx2.AsyncClient, done: Done) -> None:
        code = filled(done.edited) if done.edited else self.component["code"]
        if done.does == "propose_component":
            found = await client.post("/agentic/components/proposals", json={"code": code})
            self.component = {"code": code, "proposal_id": found.json()["proposal_id"]}
        else:
            body = {"code": code, "proposal_id": self.component["proposal_id"]}
            found = await client.post("/agentic/components", json=body)
        if done.refused:
            assert found.json()["code"] == done.refused, found.text
        else:
            assert holds(answered(found), done.answers), found.text
        if done.components is not None:
            assert await self.components(done.who) == done.components

    async def _keep(self, client: httpx2.AsyncClient, what: str) -> None:
        definition = self.proposed() if what == "continue" else self.with_edits()
        if self.flow is None:
            self.flow = answered(await client.post("/flows", json={"definition": definition}))
            return
        body = {"revision": self.flow["revision"], "definition": definition}
        self.flow = answered(await client.patch(f"/flows/{self.flow['id']}/draft", json=body))

    def proposed(self) -> dict[str, Any]:
        """The flow that the last turn proposes, with what came after it."""
        found: dict[str, Any] = self.events[-1]["data"]["flow"]
        return found

    def with_edits(self) -> dict[str, Any]:
        """The flow with the edits that the last turn proposes."""
        assert self.flow is not None
        definition: dict[str, Any] = json.loads(json.dumps(self.flow["definition"]))
        for event in self.events:
            if event.get("action") == "edit_field":
                node = next(one for one in definition["nodes"] if one["id"] == event["component_id"])
                node.setdefault("params", {})[event["field"]] = event["new_value"]
        return definition


@asynccontextmanager
async def stage(settings: Settings, model: Model) -> AsyncIterator[Stage]:
    """The application with anna and bob, who share a space."""
    async with running(signed_in(settings, http=LOOPBACK)) as app, listening(app) as address:
        database = app.state.database
        space = await add_space_row(database, "Office")
        people, principals = {}, {}
        for name in ("anna", "bob"):
            person = await add_user(database, f"{name}@example.org", roles={space: Role.OWNER}, home=space)
            people[name] = bearer(await add_key(database, person))
            principals[name] = Principal(
                tenant_id=person.tenant_id,
                user_id=person.id,
                space_id=space,
                access=Access(),
                actor=Actor("user", name),
            )
        yield Stage(
            app=app, address=address, people=people, principals=principals, workspace=Workspace(settings), model=model
        )


def answered(answer: httpx2.Response) -> Any:
    """What the API answers, which is no refusal."""
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None
