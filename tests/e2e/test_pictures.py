"""Every page as it looks, light and wide, dark and narrow, beside pictures that were looked at.

`HEADGATE_PICTURES=new uv run pytest tests/e2e/test_pictures.py` takes them anew; look at each before it is committed.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.development import environment, waiting_with_a_plan
from tests.e2e.support.durable import durable_ids
from tests.e2e.support.pictures import check_picture
from tests.e2e.support.studio import Studio, start_studio
from tests.support.openai_server import OpenAIServer

TEMPLATE = "expense-check"
PLACES = {
    "first-visit": ("/", "No language model is connected"),
    "canvas": ("/flows/{flow}", "Over the limit?"),
    "steps": ("/flows/{flow}/steps", "The same flow as a list"),
    "overview": ("/flows/{flow}/overview", "Over the limit?"),
    "flow-runs": ("/flows/{flow}/runs", "Runs"),
    "flow-tests": ("/flows/{flow}/tests", "An answer of some kind"),
    "publish": ("/flows/{flow}/publish", "Publish the draft"),
    "development": ("/develop", "Develop a flow with the agent"),
    "development-session": ("/develop/{session}", "asks for urgent, normal or low"),
    "templates": ("/templates", "Templates"),
    "runs": ("/runs", "Runs"),
    "inbox": ("/inbox", "Nothing waits for you"),
    "observe": ("/observe", "Observe"),
    "settings": ("/settings", "Settings"),
    "appearance": ("/settings/appearance", "Appearance"),
    "shortcuts": ("/settings/shortcuts", "Shortcuts"),
    "design": ("/design", "Colour"),
}
TEST = {"name": "An answer of some kind", "text": "1200 for a chair", "expect": {"contains": ["1200"]}}
EMPTY = ("first-visit", "development", "inbox", "runs", "observe", "templates")
DURABLE = {
    "inbox-waiting": ("/inbox/{approval}", "Taxi Stockholm AB"),
    "loop-run": ("/flows/{rows}/runs/{repeating}", "Ship each order"),
}
DEVELOPING = ("development-session", "flow-tests")
Furnished = tuple[Studio, dict[str, str]]
"""A server and the ids of what is there."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server on which nothing was done yet."""
    with start_studio(tmp_path_factory.mktemp("empty")) as found:
        yield found


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A server with one flow."""
    with start_studio(tmp_path_factory.mktemp("furnished")) as found:
        yield found, {"flow": _flow(found)}


@pytest.fixture(scope="module")
def developing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A server with a flow that has a test, and a session that waits with a plan."""
    folder = tmp_path_factory.mktemp("developing")
    with OpenAIServer() as openai, start_studio(folder, **environment(openai)) as found:
        flow = _flow(found)
        revision = found.api.get(f"/flows/{flow}/tests").json()["revision"]
        found.api.put(f"/flows/{flow}/tests", json={"revision": revision, "cases": [TEST]}).raise_for_status()
        yield found, {"flow": flow, "session": waiting_with_a_plan(found, openai)}


@pytest.fixture(scope="module")
def durable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A server with runs that took an error edge, repeat, and wait for an approval."""
    with start_studio(tmp_path_factory.mktemp("durable")) as found:
        yield found, durable_ids(found)


def _flow(studio: Studio) -> str:
    definition = studio.get(f"/templates/{TEMPLATE}")["definition"]
    found: str = studio.post("/flows", {"definition": definition})["id"]
    return found


@pytest.mark.xdist_group("pictures")
@pytest.mark.timeout(180)
class TestEveryPage:
    @pytest.mark.parametrize(("dark", "narrow"), [(False, False), (True, True)], ids=["light-wide", "dark-narrow"])
    def test_looks_as_it_did(
        self, browser: Browser, empty: Studio, furnished: Furnished, developing: Furnished, *, dark: bool, narrow: bool
    ) -> None:
        console = Console()
        for name, (path, sign) in PLACES.items():
            studio, ids = (empty, {}) if name in EMPTY else developing if name in DEVELOPING else furnished
            with open_page(browser, studio.url, console, dark=dark, narrow=narrow) as page:
                page.goto(path.format(**ids))
                expect(page.get_by_text(sign).locator("visible=true").first).to_be_visible()
                if name != "design":  # shows what waiting looks like
                    expect(page.locator("[aria-hidden=true].animate-pulse")).to_have_count(0)
                check_picture(page, f"{name}-{'dark' if dark else 'light'}-{'narrow' if narrow else 'wide'}")
        console.check()

    @pytest.mark.parametrize(("dark", "narrow"), [(False, False), (True, True)], ids=["light-wide", "dark-narrow"])
    def test_of_runs_that_wait_and_fail_looks_as_it_did(
        self, browser: Browser, durable: Furnished, *, dark: bool, narrow: bool
    ) -> None:
        console, (studio, ids) = Console(), durable
        look = f"{'dark' if dark else 'light'}-{'narrow' if narrow else 'wide'}"
        with open_page(browser, studio.url, console, dark=dark, narrow=narrow) as page:
            for name, (path, sign) in DURABLE.items():
                page.goto(path.format(**ids))
                expect(page.get_by_text(sign).locator("visible=true").first).to_be_visible()
                expect(page.locator("[aria-hidden=true].animate-pulse")).to_have_count(0)
                check_picture(page, f"{name}-{look}")
            page.goto(f"/flows/{ids['orders']}")
            page.locator("header").get_by_role("button", name="Run", exact=True).first.click()
            panel = page.get_by_role("complementary", name="Run", exact=True)
            panel.get_by_role("textbox", name="Message").fill("4 chairs, please")
            page.keyboard.press("Enter")
            expect(panel.get_by_text("component_error")).to_be_visible()
            panel.get_by_role("button", name="Close").click()
            expect(page.get_by_text("Failed, continued")).to_be_visible()
            check_picture(page, f"error-edge-{look}")
        console.check()
