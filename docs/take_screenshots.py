"""Takes the pictures of docs/screenshots from the real product: `make screenshots`.

Flows are made from templates and run without a network or a key; then a browser goes to each place.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from docs.take_waiting_screenshots import take_waiting
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.e2e.support.browser import BROWSER_OPTIONS, Console, open_page
from tests.e2e.support.development import environment, waiting_with_a_plan
from tests.e2e.support.studio import Studio, start_studio
from tests.support.openai_server import OpenAIServer

TARGET = Path(__file__).parent / "screenshots"
SENTENCE = "list the installed packages, count them per licence, and save the table as licences.csv"
TEXT = "Water finds its way. The gate decides how much of it, when, and where to: water is patient, the gate is not."
RUN_OF_TEMPLATES = (
    ("text-statistics", TEXT),
    ("word-frequencies", TEXT),
    ("mask-personal-data", "Write to anna@example.org or call 070-123 45 67 before Friday."),
    ("json-to-table", "this is no JSON"),
    ("email-addresses", "anna@example.org, bo@example.com and anna@example.org"),
    ("licence-report", ""),
)


class Tour:
    """The places to take pictures of, and the flows that they show."""

    def __init__(
        self, browser: Browser, studio: Studio, templates: tuple[tuple[str, str], ...] = RUN_OF_TEMPLATES
    ) -> None:
        self._browser = browser
        self._studio = studio
        self.flows = {name: self._made(name, text) for name, text in templates}

    def _made(self, template: str, text: str) -> tuple[str, str]:
        """A flow of a template and a run of it, with a second run for the figures; their ids."""
        definition = self._studio.get(f"/templates/{template}")["definition"]
        flow = self._studio.post("/flows", {"definition": definition})["id"]
        runs = [self._studio.post(f"/flows/{flow}/runs", {"text": text, "wait": True})["id"] for _ in range(2)]
        return flow, runs[-1]

    def picture(
        self, name: str, path: str, *steps: Callable[[Page], object], dark: bool = False, narrow: bool = False
    ) -> None:
        """Go to a place, do something there, take the picture."""
        with open_page(self._browser, self._studio.url, Console(), dark=dark, narrow=narrow) as page:
            page.goto(path)
            page.get_by_role("navigation").first.wait_for()
            for step in steps:
                step(page)
            page.wait_for_timeout(1200)
            page.screenshot(path=TARGET / f"{name}.png", animations="disabled")


def main() -> None:
    """Take them all."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, start_studio(Path(folder)) as studio, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**BROWSER_OPTIONS)
        take(Tour(browser, studio), studio)
        develop(browser)
        browser.close()


def take(tour: Tour, studio: Studio) -> None:
    """Every picture."""
    flow, run = tour.flows["licence-report"]
    _, failed = tour.flows["json-to-table"]
    studio.post(f"/flows/{flow}/publish", {"notes": "The first that others may call."})
    tour.picture("home", "/")
    tour.picture("home-dark", "/", dark=True)
    tour.picture("phone", "/", narrow=True)
    short = tour.flows["text-statistics"][0]
    tour.picture("canvas", f"/flows/{short}", run_it)
    tour.picture("canvas-dark", f"/flows/{short}", see_nodes, dark=True)
    tour.picture("assistant", f"/flows/{studio.post('/flows', {'definition': {'name': 'Licences'}})['id']}", ask)
    tour.picture("steps", f"/flows/{flow}/steps")
    tour.picture("overview", f"/flows/{flow}/overview?run={run}")
    tour.picture("run", f"/flows/{flow}/runs/{run}")
    tour.picture("runs", "/runs")
    tour.picture("failed-run", f"/flows/{tour.flows['json-to-table'][0]}/runs/{failed}", dark=True)
    tour.picture("publish", f"/flows/{flow}/publish")
    tour.picture("templates", "/templates")
    tour.picture("observe", "/observe")
    tour.picture("settings", "/settings/providers")
    take_waiting(tour, studio)


def develop(browser: Browser) -> None:
    """A session that waits with a plan, on a server of its own: it has a model, which is scripted."""
    with (
        tempfile.TemporaryDirectory() as folder,
        OpenAIServer() as openai,
        start_studio(Path(folder), **environment(openai)) as studio,
    ):
        session = waiting_with_a_plan(studio, openai)
        Tour(browser, studio, ()).picture("development", f"/develop/{session}", see_plan)


def see_plan(page: Page) -> None:
    """Wait until the plan is shown."""
    page.get_by_role("region", name="A plan to approve").wait_for()


def see_nodes(page: Page) -> None:
    """Wait until the canvas is drawn."""
    page.locator(".react-flow__node").first.wait_for()


def run_it(page: Page) -> None:
    """Run the flow and wait for its end."""
    see_nodes(page)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("complementary", name="Run").get_by_role("textbox").first.fill(TEXT)
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_role("complementary", name="Run").get_by_text("Completed").first).to_be_visible(timeout=20_000)


def ask(page: Page) -> None:
    """Say a sentence to the assistant and wait for its proposal."""
    page.get_by_role("button", name="Assistant", exact=True).click()
    page.get_by_label("Message to the assistant").fill(SENTENCE)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add", exact=True).wait_for()


if __name__ == "__main__":
    main()
