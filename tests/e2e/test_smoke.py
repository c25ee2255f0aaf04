"""The page comes up."""

from playwright.sync_api import Page, expect


class TestThePage:
    def test_opens_on_the_flows(self, page: Page) -> None:
        page.goto("/")
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()
