"""Events that runs wait for, and the state of a flow, in the page."""

from playwright.sync_api import Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

PAYMENT = """name: Payment
nodes:
  heard: ChatInput
  paid: WaitForEvent
    event: payment.received
    correlation: "{{heard.text}}"
  said: ChatOutput
edges:
  heard.text -> paid.value
  paid.data -> said.input
"""


class TestEvents:
    def test_a_waiting_run_shows_what_it_waits_for_and_continues(self, page: Page, studio: Studio) -> None:
        flow = studio.flow(PAYMENT)
        run = studio.post(f"/flows/{flow}/runs", {"text": "order-7"})["id"]
        until(lambda: studio.get(f"/flow-runs/{run}")["status"], "waiting")
        page.goto(f"/flows/{flow}/runs")
        expect(page.get_by_text("Event payment.received · order-7")).to_be_visible()
        page.goto(f"/flows/{flow}/runs/{run}")
        waits = page.get_by_role("list", name="Waiting for an event")
        expect(waits).to_contain_text("with the correlation order-7")
        waits.get_by_role("button", name="Send the event").click()
        dialog = page.get_by_role("dialog", name="Send an event")
        expect(dialog.get_by_role("textbox", name="Correlation")).to_have_value("order-7")
        check_accessible(page)
        dialog.get_by_role("textbox", name="Data").fill('{"amount": 12}')
        dialog.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("1 step received the event", exact=True)).to_be_visible()
        until(lambda: studio.get(f"/flow-runs/{run}")["status"], "completed")
        assert "12" in studio.get(f"/flow-runs/{run}")["text"]

    def test_of_the_flow_menu_is_kept_without_a_waiting_step(self, page: Page, studio: Studio) -> None:
        flow = studio.flow(PAYMENT)
        page.goto(f"/flows/{flow}")
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Send an event").click()
        dialog = page.get_by_role("dialog", name="Send an event")
        dialog.get_by_role("textbox", name="Event name").fill("nobody.waits")
        dialog.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("No step waits for it yet: the event is kept", exact=True)).to_be_visible()
        assert studio.get("/events?name=nobody.waits")["items"][0]["status"] == "kept"


class TestState:
    def test_is_shown_changed_with_compare_and_swap_and_deleted(
        self, page: Page, studio: Studio, console: Console
    ) -> None:
        flow = studio.flow(PAYMENT)
        page.goto(f"/flows/{flow}")
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="State").click()
        dialog = page.get_by_role("dialog", name="State of the flow")
        expect(dialog).to_contain_text("No run has written a value yet")
        page.keyboard.press("Escape")
        studio.api.put(f"/flows/{flow}/state/last_order", json={"value": {"no": 7}}).raise_for_status()
        page.reload()
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="State").click()
        dialog.get_by_role("button", name="last_order").click()
        value = dialog.get_by_role("textbox", name="Value")
        expect(value).to_have_value('{\n  "no": 7\n}')
        check_accessible(page)
        value.fill('{"no": 8}')
        studio.api.put(f"/flows/{flow}/state/last_order", json={"value": {"no": 9}}).raise_for_status()
        console.allow("409")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        assert studio.get(f"/flows/{flow}/state/last_order")["value"] == {"no": 9}
        expect(dialog.get_by_role("list", name="History")).to_contain_text("Version 2")
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_text("last_order was changed", exact=True)).to_be_visible()
        assert studio.get(f"/flows/{flow}/state/last_order")["value"] == {"no": 8}
        dialog.get_by_role("button", name="Delete last_order").click()
        expect(dialog).to_contain_text("No run has written a value yet")
