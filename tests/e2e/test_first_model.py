"""The first model in the page: from home, without a terminal, over the real wire of a model server and a real fetch."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headgate.features.models.local.weights import WEIGHTS
from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.closed import add_member, sign_in, start_closed_studio
from tests.e2e.support.studio import Studio, start_studio
from tests.support.openai_server import OpenAIServer
from tests.support.range_server import RangeServer
from tests.support.scripted_server import json_reply

SMALL = WEIGHTS["qwen2.5-coder-0.5b"]
HERE = 40 << 20
pytestmark = [pytest.mark.xdist_group("first_model"), pytest.mark.timeout(300)]


@pytest.fixture
def mirror() -> Iterator[RangeServer]:
    """The weights as an operator's mirror has them, up to a place; their bytes are none, and never all fetched."""
    with RangeServer(SMALL.size, lambda start, end: bytes(end - start)) as server:
        server.holds_at = HERE
        yield server


@pytest.fixture
def fresh(tmp_path: Path, mirror: RangeServer) -> Iterator[Studio]:
    """A separate server without any model, which may reach this machine."""
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"), "")
    with start_studio(
        tmp_path,
        HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS='["127.0.0.0/8"]',
        HEADGATE_MODELS__MIRROR=mirror.origin,
        OLLAMA_BASE_URL="http://127.0.0.1:9",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        **keys,
    ) as studio:
        yield studio


@pytest.fixture
def window(browser: Browser, fresh: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, fresh.url, console) as page:
        yield page
    console.check()


class TestFirstModel:
    def test_is_connected_tested_and_chosen_from_home(self, window: Page, fresh: Studio) -> None:
        window.goto("/")
        notice = window.get_by_role("region", name="No language model is connected")
        expect(notice).to_contain_text("Works without one: templates")
        expect(notice).to_contain_text("Requires one: AI steps")
        check_accessible(window)
        notice.get_by_role("button", name="Connect a model").click()
        guide = window.get_by_role("dialog", name="Connect a language model")
        guide.get_by_role("button", name="A model server").click()
        with OpenAIServer() as server:
            server.model_list = json_reply({"object": "list", "data": [{"id": "house-model", "object": "model"}]})
            server.script(server.wrong_key("Incorrect API key provided."), server.text("ready"))
            guide.get_by_label("Name").fill("house")
            guide.get_by_label("Address").fill(server.base_url)
            guide.get_by_label("Key", exact=True).fill("sk-1")
            guide.get_by_role("button", name="Save and test").click()
            expect(guide.get_by_role("alert")).to_contain_text("Could not connect to house")
            guide.get_by_role("button", name="Save and test").click()
            expect(guide.get_by_text("Connected to house")).to_be_visible()
            check_accessible(window)
            guide.get_by_role("button", name="Continue").click()
            expect(guide.get_by_label("Default model")).to_contain_text("house-model")
            guide.get_by_role("button", name="Use this model").click()
            answering = guide.get_by_role("list", name="Models in use")
            expect(answering.get_by_text("house/house-model")).to_have_count(4)
            guide.get_by_role("button", name="Start building").click()
        expect(guide).to_have_count(0)
        expect(notice).to_have_count(0)
        roles = {one["role"]: one for one in fresh.get("/model-roles")["items"]}
        assert [roles[role]["model"] for role in ("default", "assistant", "step")] == ["house/house-model"] * 3

    def test_a_fetch_shows_its_progress_goes_on_when_left_and_is_stopped_and_continued(
        self, window: Page, mirror: RangeServer
    ) -> None:
        window.goto("/")
        window.get_by_role("button", name="Connect a model").click()
        guide = window.get_by_role("dialog", name="Connect a language model")
        guide.get_by_role("button", name="On this machine").click()
        row = guide.get_by_role("listitem").filter(has_text=SMALL.label)
        row.get_by_role("button", name="Download").click()
        bar = row.get_by_role("progressbar")
        expect(bar).to_have_attribute("aria-valuenow", "9")
        window.keyboard.press("Escape")
        expect(window.get_by_text(f"{SMALL.label}: 40 MB of 468.6 MB downloaded")).to_be_visible()
        window.reload()
        window.get_by_role("button", name="Connect a model").click()
        expect(bar).to_have_attribute("aria-valuenow", "9")
        row.get_by_role("button", name="Stop").click()
        mirror.kill()
        expect(row.get_by_role("button", name="Resume")).to_be_visible()
        mirror.holds_at = 2 * HERE
        mirror.start()
        row.get_by_role("button", name="Resume").click()
        expect(bar).to_have_attribute("aria-valuenow", "17")
        assert mirror.asked[-1] == (f"/{SMALL.file_name}", f"bytes={HERE}-")
        row.get_by_role("button", name="Stop").click()


class TestAMember:
    def test_is_told_whom_to_ask(self, browser: Browser, tmp_path: Path, console: Console) -> None:
        console.allow("401")  # before signing in
        with start_closed_studio(tmp_path) as studio:
            add_member(studio, "eva@example.org", "editor")
            with open_page(browser, studio.url, console) as page:
                page.goto("/")
                sign_in(page, "eva@example.org")
                notice = page.get_by_role("region", name="No language model is connected")
                expect(notice).to_contain_text("You do not have permission to connect models. Ask Anna.")
                expect(notice.get_by_role("button", name="Connect a model")).to_have_count(0)
        console.check()
