"""How runs go, with real runs."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

ECHO = "name: Counted\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
BREAKS = (
    "name: Broken\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  said: ChatOutput\nedges:\n"
    "  heard.text -> parse.text\n  parse.data -> said.input\n"
)


@pytest.fixture(scope="module")
def runs(studio: Studio) -> dict[str, Any]:
    """Two flows: one that works, and one that takes JSON only."""
    found: dict[str, Any] = {}
    for name, spec, times in (("works", ECHO, 3), ("breaks", BREAKS, 2)):
        flow_id = studio.flow(spec)
        for _ in range(times):
            found[name] = studio.post(f"/flows/{flow_id}/runs", {"text": "Hello", "wait": True})
    return found


class TestObserve:
    def test_shows_runs_over_time_as_a_table_too_and_what_fails(self, page: Page, runs: dict[str, Any]) -> None:
        page.goto("/observe?days=24h")
        expect(page.get_by_role("img", name="Chart: Runs over time")).to_be_visible()
        expect(page.locator("canvas")).to_have_count(3)
        flows = page.get_by_role("region", name="By flow").first
        expect(flows.get_by_role("row", name="Counted 3 0")).to_be_visible()
        chart = page.get_by_role("region", name="Runs over time").first
        chart.get_by_role("button", name="As a table").click()
        expect(chart.get_by_role("row")).to_have_count(25)
        page.get_by_role("radio", name="30 days").click()
        expect(chart.get_by_role("row")).to_have_count(31)
        failures = page.get_by_role("region", name="Most frequent failures")
        failures.get_by_role("link", name="Latest run").first.click()
        expect(page).to_have_url(f"/flows/{runs['breaks']['flow_id']}/runs/{runs['breaks']['id']}")

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_is_for_everybody(
        self, browser: Browser, studio: Studio, console: Console, runs: dict[str, Any], dark: bool
    ) -> None:
        with open_page(browser, studio.url, console, dark=dark, narrow=dark) as page:
            page.goto("/observe")
            expect(page.locator("canvas")).to_have_count(3)
            page.get_by_role("button", name="As a table").last.click()
            expect(page.locator("canvas")).to_have_count(2)
            check_accessible(page)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= page.evaluate("innerWidth")
        console.check()


class TestNeedsAttention:
    def test_shows_failures_of_a_published_flow_until_they_are_dismissed(self, studio: Studio, page: Page) -> None:
        flow_id = studio.flow(BREAKS.replace("Broken", "Import of orders"))
        studio.post(f"/flows/{flow_id}/publish", {})
        for _ in range(2):
            studio.post(f"/flows/{flow_id}/runs", {"text": "Hello", "wait": True, "version": "published"})
        page.goto("/observe")
        attention = page.get_by_role("region", name="Needs attention")
        expect(attention.get_by_text("Import of orders: 2 failed runs")).to_be_visible()
        expect(page.get_by_text("Run writer")).to_be_visible()
        check_accessible(page)
        attention.get_by_role("listitem").filter(has_text="Import of orders").get_by_role(
            "button", name="Dismiss"
        ).click()
        expect(attention.get_by_text("Import of orders: 2 failed runs")).not_to_be_visible()
        page.get_by_role("button", name="Undo").click()
        attention.get_by_role("listitem").filter(has_text="Import of orders").get_by_role(
            "link", name="All of them"
        ).click()
        expect(page.get_by_text("Import of orders").first).to_be_visible()

    def test_is_the_place_of_alert_rules_in_the_navigation(self, page: Page, studio: Studio) -> None:
        page.goto("/alerts")
        navigation = page.get_by_role("navigation", name="Main", exact=True)
        expect(navigation.get_by_role("link", name="Observe")).to_have_attribute("aria-current", "true")
        page.goto("/runs")
        expect(navigation.get_by_role("link", name="Runs")).to_have_attribute("aria-current", "page")
        expect(navigation.get_by_role("link", name="Observe")).not_to_have_attribute("aria-current", "true")
