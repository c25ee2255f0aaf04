"""Data of the last run beside the settings: kept after a reload, put into fields, marked when outdated."""

from playwright.sync_api import Page, expect


class TestDataOfTheLastRun:
    def test_stays_goes_into_fields_and_is_marked_when_it_is_outdated(self, page: Page) -> None:
        page.goto("/templates")
        page.get_by_text("Quote with VAT").first.click()
        page.get_by_role("button", name="Use").first.click()
        expect(page.locator(".react-flow__node")).to_have_count(5)
        page.get_by_role("button", name="Run", exact=True).first.click()
        panel = page.get_by_role("complementary", name="Run")
        expect(panel.get_by_role("textbox", name="Customer")).to_have_value("Nordia")
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_text("Completed").first).to_be_visible()

        page.reload()
        template = page.locator(".react-flow__node").nth(3)
        template.click()
        value = page.get_by_text("2700", exact=True).first
        field = page.get_by_role("textbox", name="Template")
        value.drag_to(field)
        expect(field).to_contain_text("{{vat.text}}")
        expect(template.get_by_text("Outdated")).to_be_visible()
        expect(page.locator(".react-flow__node").nth(0).get_by_text("Outdated")).to_have_count(0)

        page.locator(".react-flow__node").nth(4).click()
        page.get_by_role("tab", name="Last run").click()
        expect(page.get_by_text("Outdated result")).to_be_visible()
