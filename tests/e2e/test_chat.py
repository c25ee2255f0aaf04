"""The chat with a published flow, in a real browser."""

from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

SPEC = (
    "name: Echo chat\ndescription: Says what you say\nnodes:\n  heard: ChatInput\n  said: ChatOutput\n"
    "edges:\n  heard.message -> said.input\n"
)


def published(studio: Studio) -> str:
    flow_id = studio.flow(SPEC)
    studio.post(f"/flows/{flow_id}/publish", {})
    return flow_id


class TestChat:
    def test_answers_keeps_and_finds_conversations(self, page: Page, studio: Studio) -> None:
        flow_id = published(studio)
        page.goto("/chat")
        page.get_by_role("link", name="Echo chat").first.click()
        page.goto(f"/chat/{flow_id}")
        expect(page.get_by_role("heading", name="Echo chat").first).to_be_visible()
        expect(page.get_by_role("textbox", name="Message")).to_be_focused()
        page.keyboard.type("How many **days** of leave?")
        page.keyboard.press("Enter")
        messages = page.get_by_role("region", name="Messages")
        expect(messages.locator("strong", has_text="days")).to_be_visible()
        entries = page.get_by_role("list", name="Conversations")
        expect(entries.get_by_role("link", name="How many **days** of leave?")).to_be_visible()
        messages.get_by_role("button", name="Send again").click()
        expect(messages.locator("strong", has_text="days")).to_have_count(2)
        check_accessible(page)
        page.get_by_role("link", name="New chat").click()
        expect(page.get_by_text("Says what you say")).to_be_visible()
        page.reload()
        entries.get_by_role("link").first.click()
        expect(messages.locator("strong", has_text="days")).to_have_count(2)
        page.get_by_role("button", name="Time, tokens and cost").last.click()
        expect(page.get_by_role("link", name="Open the run")).to_be_visible()

    def test_is_for_phones_and_in_swedish(self, browser: Browser, studio: Studio, console: Console) -> None:
        flow_id = published(studio)
        with open_page(browser, studio.url, console, dark=True, narrow=True, locale="sv-SE") as page:
            page.goto(f"/chat/{flow_id}")
            page.get_by_role("textbox", name="Meddelande").fill("Hej " + "långtord" * 40)
            page.get_by_role("button", name="Skicka").click()
            expect(page.get_by_role("button", name="Kopiera svaret")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
            check_accessible(page)
            page.get_by_role("button", name="Visa konversationer").click()
            expect(page.get_by_role("list", name="Konversationer").get_by_role("link")).to_have_count(1)
            check_accessible(page)
            page.get_by_role("link", name="Ny chatt").click()
            expect(page.get_by_text("Says what you say")).to_be_visible()
        console.check()
