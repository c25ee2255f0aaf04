"""The twenty tasks in the page: each by the link of the guide, and one built by hand from an empty flow."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.support.choosing import choose
from tests.e2e.support.studio import Studio
from tests.e2e.test_canvas import edges, node

GUIDE = Path(__file__).parents[2] / "docs/guides/twenty-tasks.md"
LINKS = re.findall(r"\| \[([^]]+)\]\(http://127\.0\.0\.1:7411(/templates\?template=[\w-]+)\)", GUIDE.read_text("utf-8"))
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


def test_the_watched_page_is_built_by_hand(
    page: Page, studio: Studio, record_property: Callable[[str, object], None]
) -> None:
    studio.post(
        "/connections",
        {
            "name": "team-chat",
            "kind": "notification",
            "fields": {"hosts": ["https://chat.example.org"]},
            "secrets": {"address": "jsons://chat.example.org/hook"},
        },
    )
    flow = studio.post("/flows", {"name": "Watched"})["id"]
    page.goto(f"/flows/{flow}")
    expect(page.get_by_role("heading", name="What should this flow do?")).to_be_visible()
    began = time.perf_counter()
    inspector = page.get_by_role("complementary", name="Inspector")
    for component, made in (("chat input", "chat_input"), ("regular", "regex"), ("notify", "notify")):
        page.keyboard.press("n")
        page.keyboard.type(component)
        page.keyboard.press("Enter")
        expect(node(page, made)).to_be_visible()
    expect(edges(page)).to_have_count(2)  # each leads on from the one before
    page.get_by_role("button", name="Fit to window").click()
    node(page, "regex").click(position={"x": 40, "y": 12})
    page.keyboard.press("n")
    page.keyboard.type("chat output")
    page.keyboard.press("Enter")
    expect(edges(page)).to_have_count(3)
    node(page, "regex").click(position={"x": 40, "y": 12})
    inspector.get_by_label("Pattern").fill("(?s)^.{0,900}")
    choose(inspector.get_by_role("combobox", name="Do"), "extract")
    node(page, "notify").click(position={"x": 40, "y": 12})
    choose(inspector.get_by_role("combobox", name="Service"), "team-chat", exact=False)
    inspector.get_by_label("Title").fill("The page has changed")
    page.get_by_role("link", name="Triggers").last.click()
    page.get_by_role("button", name="Add trigger").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("The page has changed")
    dialog.get_by_label("Starts").click()
    page.get_by_role("option", name="When a web page changes").click()
    dialog.get_by_label("Address").fill("https://example.org/news")
    dialog.get_by_role("button", name="Add trigger").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("link", name="Publish it").click()
    page.get_by_role("button", name="Publish the draft").click()
    expect(page.get_by_text("Published as release 1", exact=True)).to_be_visible()
    record_property("figures", f"a page that is watched, built by hand: {time.perf_counter() - began:.1f} s")
    built, recipe = studio.get(f"/flows/{flow}")["definition"], studio.get("/templates/page-watch")["definition"]
    assert drawn(built) == drawn(recipe)
    (trigger,) = studio.get(f"/triggers?flow_id={flow}")["items"]
    assert (trigger["config"]["kind"], trigger["config"]["url"]) == ("page", "https://example.org/news")


def drawn(definition: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Types with their settings, and edges by types: what a flow does, without names."""
    types = {one["id"]: one["type"] for one in definition["nodes"]}
    nodes = [(one["type"], sorted(one["params"].items())) for one in definition["nodes"]]
    edges = [(types[e["source"]], e["output"], types[e["target"]], e["input"]) for e in definition["edges"]]
    return sorted(nodes), sorted(edges)
