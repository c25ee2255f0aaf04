"""A knowledge base from the first document to the measures of its search."""

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.support.pdfs import pdf_of

LEAVE: FilePayload = {
    "name": "leave.md",
    "mimeType": "text/markdown",
    "buffer": b"# Leave\n\nEmployees have 27 days of holiday each year.",
}


class TestKnowledge:
    def test_is_uploaded_searched_cited_and_evaluated(self, page: Page) -> None:
        page.goto("/knowledge")
        page.get_by_role("button", name="New knowledge base").click()
        dialog = page.get_by_role("dialog", name="New knowledge base")
        dialog.get_by_label("Name").fill("Handbook")
        dialog.get_by_role("button", name="Create").click()
        page.get_by_label("Drop documents here").set_input_files(LEAVE)
        expect(page.get_by_text("1 passage")).to_be_visible()
        page.get_by_role("tab", name="Search").click()
        page.get_by_label("Question or words").fill("How many days of holiday?")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Employees have 27 days")).to_be_visible()
        page.get_by_role("button", name="This document answers the question").click()
        expect(page.get_by_text("Added to the questions of the evaluation", exact=True)).to_be_visible()
        page.get_by_role("link", name="Open in the document").click()
        expect(page.get_by_text("Cited passage")).to_be_visible()
        page.go_back()
        page.get_by_role("tab", name="Evaluation").click()
        page.get_by_role("button", name="Evaluate").click()
        expect(page.get_by_role("cell", name="1 of 1")).to_be_visible()
        expect(page.get_by_text("leave.md: rank 1")).to_be_visible()
        check_accessible(page)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.get_by_role("table").evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")

    def test_shows_a_cited_passage_on_the_picture_of_its_page(
        self, browser: Browser, studio: Studio, console: Console
    ) -> None:
        base = studio.post("/knowledge-bases", {"name": "Pictured"})
        text = "Trains are preferred for all travel within Europe."
        content = pdf_of(["Leave is booked in March.", text])
        with open_page(browser, studio.url, console) as page:
            page.goto(f"/knowledge/{base['id']}")
            page.get_by_label("Drop documents here").set_input_files(
                {"name": "travel.pdf", "mimeType": "application/pdf", "buffer": content}
            )
            expect(page.get_by_text("2 passages")).to_be_visible()
            page.get_by_role("tab", name="Search").click()
            page.get_by_label("Question or words").fill("trains")
            page.keyboard.press("Enter")
            page.get_by_role("link", name="Open in the document").click()
            self._check_marked(page, text)
            address = page.url
            page.get_by_role("button", name="Previous page").focus()
            page.keyboard.press("Enter")
            expect(page.get_by_role("img", name="Page 1 of travel.pdf")).to_be_visible()
            expect(page.get_by_test_id("mark")).to_have_count(0)
            page.get_by_role("button", name="Leave is booked in March.").press("Enter")
            expect(page.get_by_test_id("mark")).to_have_count(1)
        with open_page(browser, studio.url, console, dark=True, narrow=True) as page:
            page.goto(address)
            self._check_marked(page, text)
            assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
        console.check()

    def _check_marked(self, page: Page, text: str) -> None:
        """The mark is where the PDF has the text: 72 points from the left, 72 from the top."""
        picture = page.get_by_role("img", name="Page 2 of travel.pdf")
        expect(picture).to_be_visible()
        expect(page.get_by_role("button", name=text)).to_have_attribute("aria-pressed", "true")
        mark = page.get_by_test_id("mark")
        expect(mark).to_have_count(1)
        drawn, sheet = mark.bounding_box(), picture.bounding_box()
        assert drawn is not None
        assert sheet is not None
        scale = sheet["width"] / 612
        assert abs(drawn["x"] - sheet["x"] - 72 * scale) <= 4 * scale
        assert abs(drawn["y"] + drawn["height"] - sheet["y"] - 72 * scale) <= 6 * scale
        check_accessible(page)

    def test_says_why_a_source_was_not_read(self, page: Page, studio: Studio) -> None:
        base = studio.post("/knowledge-bases", {"name": "Followed"})
        page.goto(f"/knowledge/{base['id']}?view=sources")
        expect(page.get_by_text("No sources yet")).to_be_visible()
        page.get_by_role("button", name="Add source").click()
        dialog = page.get_by_role("dialog", name="Add source")
        dialog.get_by_label("Name").fill("Site")
        dialog.get_by_label("Address").fill("http://127.0.0.1:9/page")
        check_accessible(page)
        dialog.get_by_role("button", name="Add source").click()
        page.get_by_text("1 item was not understood completely").click()
        expect(page.get_by_text("Connections to 127.0.0.1 are not allowed")).to_be_visible()
        check_accessible(page)

    def test_is_for_phones(self, browser: Browser, studio: Studio, console: Console) -> None:
        base = studio.post("/knowledge-bases", {"name": "Narrow"})
        with open_page(browser, studio.url, console, dark=True, narrow=True) as page:
            page.goto(f"/knowledge/{base['id']}?view=evaluation")
            expect(page.get_by_text("No questions yet")).to_be_visible()
            expect(page.get_by_text("Not evaluated yet")).to_be_visible()
            check_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
        console.check()
