"""The twenty tasks in the page: each by the link of the guide, and each built by hand from an empty canvas and run."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.by_hand import Hand, members
from tests.e2e.support.studio import Studio
from tests.integration.http.asking import listening
from tests.integration.tasks.cases import CASES, Case
from tests.integration.tasks.world import World, opened
from tests.support.databases import Postgres, SqliteFiles, make_settings

GUIDE = Path(__file__).parents[2] / "docs/guides/twenty-tasks.md"
LINKS = re.findall(r"\| \[([^]]+)\]\(http://127\.0\.0\.1:7411(/templates\?template=[\w-]+)\)", GUIDE.read_text("utf-8"))
COUNTED = re.findall(r"^\| ([^|\[]+?) \| (\d+) \| ([\d,]+) \| \d+ \|$", GUIDE.read_text("utf-8"), re.MULTILINE)
EFFORT = {title: (int(clicks), int(keys.replace(",", ""))) for title, clicks, keys in COUNTED}
"""Clicks and keys of each task, as the guide says."""
BOUND = 0.1
"""By which share what the guide says may differ from what is counted."""
EACH = 4
"""`make test` builds one of so many tasks, `make test-faults` all."""
pytestmark = pytest.mark.timeout(300)


def test_each_is_created_by_the_link_of_the_guide(page: Page, studio: Studio) -> None:
    assert len(LINKS) == 20
    for title, path in LINKS:
        page.goto(path)
        page.get_by_role("dialog").get_by_role("button", name="Use template").click()
        page.wait_for_url("**/flows/*")
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        flow = page.url.rsplit("/", 1)[1].partition("?")[0]
        recipe = studio.get(f"/templates/{path.rpartition('=')[2]}")
        assert {one["id"] for one in studio.get(f"/flows/{flow}")["definition"]["nodes"]} == {
            one["id"] for one in recipe["definition"]["nodes"]
        }
        triggers = studio.get(f"/triggers?flow_id={flow}")["items"]
        assert [one["name"] for one in triggers] == recipe["triggers"]
        assert not any(one["enabled"] for one in triggers)


@dataclass
class Place:
    """Where the tasks are built and run: the application and its servers, on a loop in a thread of its own.

    Playwright keeps a loop running in the thread of the tests, in which no other may run.
    """

    portal: BlockingPortal
    world: World
    url: str
    components: dict[str, Any]
    called: dict[str, str]
    """Names of the flows that others run, by their ids."""

    def call(self, method: str, path: str, **more: Any) -> Any:
        """What the API answers, which is no refusal."""
        return self.portal.call(partial(self.world.call, method, path, **more))


@pytest.fixture(scope="module")
def place(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One server for all tasks, with the connections that they name and the flow that one of them runs."""
    folder = tmp_path_factory.mktemp("tasks")
    SqliteFiles(tmp_path_factory.mktemp("sqlite")).fresh(folder)
    with (
        postgres.empty() as uri,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(opened(make_settings(folder), uri)) as world,
        portal.wrap_async_context_manager(listening(world.app, seconds=60)) as url,
    ):
        portal.call(world.connect)
        portal.call(world.connect_mailbox)
        with world.database() as port:
            portal.call(world.connect_database, port)
            components = {one["type"]: one for one in portal.call(world.call, "GET", "/components")}
            made = Place(portal, world, url, components, {})
            called = made.call("POST", "/flows", json={"template": "expense-check"})
            made.call("POST", f"/flows/{called['id']}/publish", json={})
            made.called[called["id"]] = called["name"]
            yield made


@pytest.fixture
def own_page(browser: Browser, place: Place, console: Console) -> Iterator[Page]:
    """A private window of 1440x900 on the place of the tasks."""
    with open_page(browser, place.url, console, timezone_id="UTC", reduced_motion="reduce") as page:
        yield page
    console.check()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.key, marks=[pytest.mark.campaign] if number % EACH else [])
        for number, case in enumerate(CASES)
    ],
)
def test_each_is_built_by_hand_and_does_the_task(
    own_page: Page, place: Place, case: Case, record_property: Callable[[str, object], None]
) -> None:
    world, recipe = place.world, case.recipe
    world.postbox.received.clear()
    world.web.requests.clear()
    world.answers = case.answers
    if case.tables:
        world.sql(case.tables)
    place.portal.call(case.prepare, world)
    wanted = orjson.loads(world.here(recipe.flow().model_dump_json()))
    flow = place.call("POST", "/flows", json={"name": recipe.title})["id"]
    own_page.goto(f"/flows/{flow}")
    expect(own_page.get_by_role("heading", name="What should this flow do?")).to_be_visible()
    began = time.perf_counter()
    hand = Hand(own_page, place.components)
    hand.build(wanted)
    for trigger in recipe.triggers:
        hand.start_by(trigger.name, orjson.loads(world.here(orjson.dumps(trigger.config).decode())))
    hand.publish()
    figures = f"{recipe.title} | {hand.clicks} | {hand.keys} | {time.perf_counter() - began:.0f}"
    record_property("figures", figures)
    built = place.call("GET", f"/flows/{flow}")
    assert built["issues"] == []
    names = {made: name for name, made in hand.made.items()} | place.called
    assert drawn(built["definition"], names, place.components) == drawn(wanted, {}, place.components)
    triggers = place.call("GET", "/triggers", params={"flow_id": flow})["items"]
    for trigger, one in zip(triggers, recipe.triggers, strict=True):
        config = orjson.loads(world.here(orjson.dumps(one.config).decode()))
        assert (trigger["name"], trigger["config"] | config) == (one.name, trigger["config"])
    run = place.portal.call(case.start, world, flow, triggers[0] if triggers else None)
    assert run["status"] == "completed", run["error"]
    place.portal.call(case.check, world, run)
    for trigger in triggers:
        place.call("POST", f"/triggers/{trigger['id']}/pause", json={})
    clicks, keys = EFFORT[recipe.title]
    assert hand.clicks == pytest.approx(clicks, rel=BOUND, abs=2), figures
    assert hand.keys == pytest.approx(keys, rel=BOUND, abs=20), figures


def drawn(definition: dict[str, Any], names: dict[str, str], components: dict[str, Any]) -> dict[str, Any]:
    """Types with their settings, edges and the form: what a flow does, with the names of the template."""
    text = re.sub(r"\{\{\s*(\w+)", lambda one: "{{" + names.get(one[1], one[1]), json.dumps(definition))
    read = json.loads(text)
    defaults = {kind: {one["name"]: one.get("default") for one in of["fields"]} for kind, of in components.items()}
    nodes = {
        names.get(one["id"], one["id"]): (
            one["type"],
            {
                name: members(value) if name == "schema" else names.get(value, value) if name == "flow" else value
                for name, value in one["params"].items()
                if value != defaults[one["type"]].get(name)
            },
            one["policy"]["outside_content"],
        )
        for one in read["nodes"]
    }
    edges = {
        (names.get(e["source"], e["source"]), e["output"], names.get(e["target"], e["target"]), e["input"])
        for e in read["edges"]
    }
    form = [(one["id"], one["label"], one["type"], one["required"]) for one in read["form"]]
    return {"nodes": nodes, "edges": edges, "form": form}
