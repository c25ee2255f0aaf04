"""Each of the 20 tasks from its template: created, published, started by its trigger, up to the effect."""

from contextlib import ExitStack
from typing import Any

import orjson
import pytest

from headgate.features.catalog.gallery import load_gallery
from tests.architecture.source import ROOT
from tests.integration.tasks.cases import CASES, Case
from tests.integration.tasks.world import World

NAMES = [case.key for case in CASES]


async def prepared(world: World, case: Case, stack: ExitStack) -> None:
    """Add the connections and what is there before the task."""
    await world.connect()
    if case.mailbox:
        await world.connect_mailbox()
    if case.tables:
        await world.connect_database(stack.enter_context(world.database()))
        world.sql(case.tables)
    await case.prepare(world)
    world.answers = case.answers


async def performed(world: World, case: Case, flow_id: str) -> dict[str, Any]:
    """Publish a flow, switch its trigger on, let it start, and compare the effect; return the run."""
    await world.call("POST", f"/flows/{flow_id}/publish", json={})
    triggers = (await world.call("GET", "/triggers", params={"flow_id": flow_id}))["items"]
    assert len(triggers) == len(case.recipe.triggers)
    for trigger in triggers:
        await world.call("POST", f"/triggers/{trigger['id']}/resume", json={})
    run = await case.start(world, flow_id, triggers[0] if triggers else None)
    assert run["status"] == "completed", run["error"]
    await case.check(world, run)
    return run


class TestTemplates:
    def test_are_twenty(self) -> None:
        assert len(set(NAMES)) == 20
        assert set(NAMES) <= {recipe.key for recipe in load_gallery()}
        assert {recipe.key for recipe in load_gallery() if recipe.swedish} == set(NAMES)

    @pytest.mark.parametrize("case", CASES, ids=NAMES)
    def test_are_in_the_documentation_with_their_sentences(self, case: Case) -> None:
        page = (ROOT / "docs" / "guides" / "twenty-tasks.md").read_text("utf-8")
        assert (
            f"[{case.recipe.title}](http://127.0.0.1:7411/templates?template={case.key}) | {case.recipe.examples[0]} |"
            in page
        )
        assert f". {case.recipe.swedish[0]}\n" in page

    @pytest.mark.timeout(300)
    @pytest.mark.parametrize("case", CASES, ids=NAMES)
    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_do_the_task(self, world: World, case: Case) -> None:
        with ExitStack() as stack:
            await prepared(world, case, stack)
            flow = await world.call("POST", "/flows", json={"template": case.key})
            assert (flow["notes"], flow["issues"]) == ([], []) or case.key == "github-issue-triage", flow
            await fill_in(world, flow)
            await performed(world, case, flow["id"])


async def fill_in(world: World, flow: dict[str, Any]) -> None:
    """Replace the example address of a flow and its triggers by that of the local server, as a user does."""
    definition = world.here(orjson.dumps(flow["definition"]).decode())
    body = {"revision": flow["revision"], "definition": orjson.loads(definition)}
    await world.call("PATCH", f"/flows/{flow['id']}/draft", json=body)
    for trigger in (await world.call("GET", "/triggers", params={"flow_id": flow["id"]}))["items"]:
        assert trigger["enabled"] is False
        config = orjson.loads(world.here(orjson.dumps(trigger["config"]).decode()))
        if config != trigger["config"]:
            await world.call("PATCH", f"/triggers/{trigger['id']}", json={"config": config})
