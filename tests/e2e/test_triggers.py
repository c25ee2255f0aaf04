"""Triggers in the page: a schedule and a webhook are added, fire, and are listed with what comes up."""

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.studio import Studio

FLOW = "name: Morning report\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
pytestmark = pytest.mark.skipif("HEADGATE_E2E_URL" in os.environ, reason="needs a server of its own")


@pytest.fixture
def flow_id(studio: Studio) -> str:
    """A published flow."""
    flow: str = studio.flow(FLOW)
    studio.post(f"/flows/{flow}/publish", {})
    return flow


def shot(page: Page, name: str) -> None:
    """Keep a picture where `HEADGATE_SHOTS` names a folder."""
    if folder := os.environ.get("HEADGATE_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


class TestTriggers:
    def test_a_schedule_is_previewed_added_started_and_paused(self, page: Page, studio: Studio, flow_id: str) -> None:
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        expect(page.get_by_text("No triggers")).to_be_visible()
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Weekdays")
        dialog.get_by_label("Time zone").fill("Europe/Stockholm")
        preview = dialog.get_by_role("region", name="Next occurrences")
        expect(preview).to_contain_text("Every weekday at 07:00 (Europe/Stockholm)")
        expect(preview.get_by_role("listitem")).to_have_count(10)
        check_accessible(page)
        shot(page, "add-schedule")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog).to_be_hidden()
        row = page.get_by_role("list", name="Triggers").get_by_role("listitem").first
        expect(row).to_contain_text("Every weekday at 07:00 (Europe/Stockholm)")
        page.get_by_role("button", name="Actions for Weekdays").click()
        page.get_by_role("menuitem", name="Start now").click()
        page.get_by_role("button", name="Show details of Weekdays").click()
        expect(page.get_by_role("link", name="Open run")).to_be_visible()
        expect(page.get_by_text("Runs as")).to_be_visible()
        check_accessible(page)
        shot(page, "flow-triggers")
        page.get_by_role("switch", name="Weekdays: on or off").click()
        expect(page.get_by_text("Paused", exact=True)).to_be_visible()
        page.get_by_role("switch", name="Weekdays: on or off").click()
        page.get_by_role("link", name="Open run").click()
        expect(page).to_have_url(f"{studio.url}/flows/{flow_id}/runs/{page.url.rsplit('/', 1)[1]}")

    def test_a_kafka_topic_is_read_over_a_connection(self, page: Page, studio: Studio, flow_id: str) -> None:
        fields = {"host": "kafka.example.org", "brokers": "*.kafka.example.org:9092"}
        studio.post("/connections", {"name": "events", "kind": "kafka", "fields": fields})
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Orders")
        dialog.get_by_label("Starts", exact=True).click()
        page.get_by_role("option", name="For messages of a Kafka topic").click()
        dialog.get_by_label("Connection").click()
        page.get_by_role("option", name="events").click()
        dialog.get_by_label("Topic").fill("orders")
        dialog.get_by_label("After messages that Kafka deleted unread").click()
        page.get_by_role("option", name="Continue with what is new").click()
        check_accessible(page)
        shot(page, "add-topic")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog).to_be_hidden()
        row = page.get_by_role("list", name="Triggers").get_by_role("listitem").first
        expect(row).to_contain_text("For messages of orders on events · Every 5 minutes")
        (made,) = studio.get(f"/triggers?flow_id={flow_id}")["items"]
        assert (made["config"]["missing"], made["config"]["topic"]) == ("latest", "orders")

    def test_a_schedule_skips_the_holidays_of_a_calendar(
        self, page: Page, studio: Studio, flow_id: str, tmp_path: Path
    ) -> None:
        day = datetime.now(UTC) + timedelta(days=1)
        event = ["BEGIN:VEVENT", "UID:1@example.org", "SUMMARY:Holiday", f"DTSTART;VALUE=DATE:{day:%Y%m%d}"]
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN", *event, "END:VEVENT", "END:VCALENDAR", ""]
        (tmp_path / "days.ics").write_text("\r\n".join(lines))
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Working days")
        dialog.get_by_label("Repeat", exact=True).click()
        page.get_by_role("option", name="Every day", exact=True).click()
        dialog.get_by_label("Time zone").fill("UTC")
        dialog.get_by_label("On weekends and holidays").click()
        page.get_by_role("option", name="Does not run").click()
        dialog.get_by_label("Choose a calendar").set_input_files(tmp_path / "days.ics")
        expect(dialog.get_by_text("1 day", exact=True)).to_be_visible()
        preview = dialog.get_by_role("region", name="Next occurrences")
        expect(preview).to_contain_text("Every day at 07:00 (UTC) · not on weekends and holidays")
        expect(preview.get_by_role("listitem")).to_have_count(10)
        check_accessible(page)
        shot(page, "add-business-days")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog).to_be_hidden()
        (stored,) = studio.get(f"/triggers?flow_id={flow_id}")["items"]
        assert (stored["config"]["days"], stored["config"]["holidays"]) == ("business", [f"{day:%Y-%m-%d}"])

    def test_a_folder_that_does_not_exist_is_waited_for(self, page: Page, studio: Studio, flow_id: str) -> None:
        config = {"kind": "folder", "folder": "in", "every_seconds": 3600}
        studio.post(f"/flows/{flow_id}/triggers", {"name": "Files", "config": config})
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        waiting = page.get_by_text("Waiting for the folder in, which does not exist yet.")
        for _ in range(20):
            if waiting.is_visible():
                break
            page.wait_for_timeout(500)
            page.reload()
        expect(waiting.first).to_be_visible()
        shot(page, "waiting-folder")

    def test_a_webhook_shows_its_secret_once_and_catches_the_next_call(
        self, page: Page, studio: Studio, flow_id: str
    ) -> None:
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Orders")
        dialog.get_by_label("Starts").click()
        page.get_by_role("option", name="When a service calls it").click()
        shot(page, "add-webhook")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog.locator("code")).to_have_count(2)
        address, secret = dialog.locator("code").all_inner_texts()
        check_accessible(page)
        dialog.get_by_role("button", name="Done").click()
        page.get_by_role("button", name="Show details of Orders").click()
        page.get_by_role("button", name="Catch the next call").click()
        expect(page.get_by_text("Waiting for a call")).to_be_visible()
        call: dict[str, Any] = {"timeout": 60, "json": {"order": "A 7"}, "headers": {"x-api-key": secret}}
        assert httpx2.post(address, **call).json() == {"status": "caught"}
        shown = page.get_by_role("region", name="Caught call")
        expect(shown).to_contain_text("Verified")
        expect(shown).to_contain_text('{"order":"A 7"}')
        expect(shown).not_to_contain_text(secret)
        check_accessible(page)
        shot(page, "caught-call")
        assert httpx2.post(address, **call).json()["status"] == "started"
        expect(page.get_by_role("link", name="Open run")).to_be_visible()

    def test_all_triggers_are_listed_with_what_comes_up(self, page: Page, studio: Studio, flow_id: str) -> None:
        body = {"name": "Daily", "config": {"kind": "schedule", "cron": "0 6 * * *", "time_zone": "Europe/Stockholm"}}
        studio.post(f"/flows/{flow_id}/triggers", body)
        feed = {"kind": "feed", "url": f"https://example.invalid/{'a-long-address' * 8}.xml"}
        studio.post(f"/flows/{flow_id}/triggers", {"name": "Feed", "config": feed, "enabled": False})
        page.goto(f"{studio.url}/triggers")
        expect(page.get_by_role("heading", name="Triggers")).to_be_visible()
        coming = page.get_by_role("region", name="Coming up")
        expect(coming).to_contain_text("Daily")
        check_accessible(page)
        shot(page, "all-triggers")
        for width, height in ((1280, 720), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            box = page.get_by_role("button", name="Show details of Daily").first.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width  # long addresses push nothing out of the screen
            shot(page, f"all-triggers-{width}")

    def test_a_poll_is_added_and_dry_run_also_on_a_phone(self, page: Page, studio: Studio, flow_id: str) -> None:
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Inbox folder")
        dialog.get_by_label("Starts").click()
        page.get_by_role("option", name="For new files in a folder").click()
        dialog.get_by_label("File name pattern").fill("*.txt")
        check_accessible(page)
        shot(page, "add-poll")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog).to_be_hidden()
        row = page.get_by_role("list", name="Triggers").get_by_role("listitem").first
        expect(row).to_contain_text("For new files *.txt in / · Every 5 minutes")
        page.get_by_role("button", name="Show details of Inbox folder").click()
        page.get_by_role("button", name="Dry run").click()
        outcome = page.get_by_role("region", name="What the next poll would start")
        expect(outcome).to_be_visible()
        expect(page.get_by_text("Last poll")).to_be_visible()
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        shot(page, "poll-details")


class TestList:
    def test_is_filtered_and_a_frequent_schedule_is_one_line_a_day(
        self, page: Page, studio: Studio, flow_id: str
    ) -> None:
        frequent = {"kind": "schedule", "cron": "* 14 * * *", "time_zone": "UTC"}
        studio.post(f"/flows/{flow_id}/triggers", {"name": "Quotes by the minute", "config": frequent})
        studio.post(f"/flows/{flow_id}/triggers", {"name": "Quotes by hand", "config": {"kind": "manual"}})
        page.goto(f"{studio.url}/triggers")
        lines = page.get_by_role("list", name="Triggers").get_by_role("listitem")
        page.get_by_role("searchbox", name="Search triggers and flows").fill("quotes")
        expect(lines).to_have_count(2)
        page.get_by_role("combobox", name="Kind").click()
        page.get_by_role("option", name="By hand, with saved input").click()
        expect(lines).to_have_count(1)
        expect(lines.first).to_contain_text("Quotes by hand")
        expect(page).to_have_url(re.compile("kind=manual"))
        page.get_by_role("combobox", name="State").click()
        page.get_by_role("option", name="Off", exact=True).click()
        expect(page.get_by_text("No matching triggers")).to_be_visible()
        check_accessible(page)
        shot(page, "triggers-filtered")
        page.get_by_role("link", name="Clear the filter").click()
        expect(page.get_by_role("button", name="Show details of Quotes by hand")).to_be_visible()
        expect(page.get_by_role("searchbox", name="Search triggers and flows")).to_have_value("")
        coming = page.get_by_role("region", name="Coming up")
        expect(coming.get_by_text(re.compile("Every minute, 60 times until")).first).to_be_visible()
        check_accessible(page)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            shot(page, f"triggers-list-{width}")


class TestChanges:
    def test_a_schedule_is_edited_and_what_is_not_shown_stays(self, page: Page, studio: Studio, flow_id: str) -> None:
        config = {"kind": "schedule", "cron": "0 7 * * MON-FRI", "time_zone": "UTC", "jitter_seconds": 9}
        made = studio.post(f"/flows/{flow_id}/triggers", {"name": "Weekdays", "config": config})
        page.goto(f"{studio.url}/triggers")
        page.get_by_role("button", name="Actions for Weekdays").first.click()
        page.get_by_role("menuitem", name="Edit").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("At", exact=True)).to_have_value("07:00")
        dialog.get_by_label("At", exact=True).fill("08:30")
        dialog.get_by_label("Name").fill("Mornings")
        check_accessible(page)
        shot(page, "edit-schedule")
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()
        changed = studio.get(f"/triggers/{made['id']}")
        assert (changed["name"], changed["config"]["cron"]) == ("Mornings", "30 8 * * MON-FRI")
        assert changed["config"]["jitter_seconds"] == 9

    def test_a_schedule_runs_for_past_times(self, page: Page, studio: Studio, flow_id: str) -> None:
        config = {"kind": "schedule", "cron": "0 7 * * *", "time_zone": "UTC"}
        made = studio.post(f"/flows/{flow_id}/triggers", {"name": "Daily", "config": config})
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Actions for Daily").click()
        page.get_by_role("menuitem", name="Run for past times").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("From").fill("2026-01-05T00:00")
        dialog.get_by_label("To").fill("2026-01-07T23:00")
        dialog.get_by_role("button", name="Show due times").click()
        expect(dialog.get_by_role("region", name="Due times").get_by_role("listitem")).to_have_count(3)
        check_accessible(page)
        shot(page, "backfill")
        assert studio.get(f"/triggers/{made['id']}/occurrences")["items"] == []
        dialog.get_by_role("button", name="Run 3").click()
        expect(page.get_by_text("Due times queued: 3", exact=True)).to_be_visible()
        rows = studio.get(f"/triggers/{made['id']}/occurrences")["items"]
        assert len({row["backfill_id"] for row in rows}) == 1
        assert len(rows) == 3


class TestCanvas:
    def test_triggers_are_drawn_at_the_start_of_the_flow_and_added_there(
        self, page: Page, studio: Studio, flow_id: str
    ) -> None:
        page.goto(f"{studio.url}/flows/{flow_id}")
        start = page.get_by_role("region", name="Triggers")
        start.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Weekdays")
        dialog.get_by_label("Time zone").fill("Europe/Stockholm")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog).to_be_hidden()
        trigger = start.get_by_role("button", name="Weekdays")
        expect(trigger).to_contain_text("Every weekday at 07:00 (Europe/Stockholm)")
        expect(trigger).to_contain_text("On · Next")
        check_accessible(page)
        shot(page, "canvas-triggers")
        trigger.click()
        page.get_by_role("dialog").get_by_role("switch", name="Weekdays: on or off").click()
        expect(page.get_by_role("dialog").get_by_text("Paused", exact=True)).to_be_visible()
        check_accessible(page)
        page.keyboard.press("Escape")
        expect(trigger).to_contain_text("Off")

    def test_they_are_drawn_on_a_phone_in_swedish_and_the_dark_theme(
        self, page: Page, studio: Studio, flow_id: str
    ) -> None:
        config = {"kind": "schedule", "every_seconds": 3600}
        made = studio.post(f"/flows/{flow_id}/triggers", {"name": "Timvis", "config": config})
        studio.post(f"/triggers/{made['id']}/pause", {"reason": "Servern byts ut"})
        page.set_viewport_size({"width": 390, "height": 844})
        page.emulate_media(color_scheme="dark")
        page.add_init_script("localStorage.setItem('headgate.language', JSON.stringify('sv'))")
        page.goto(f"{studio.url}/flows/{flow_id}")
        trigger = page.get_by_role("region", name="Utlösare").get_by_role("button", name="Timvis")
        expect(trigger).to_contain_text("Misslyckas")
        expect(trigger).to_be_in_viewport(ratio=1)
        shot(page, "canvas-triggers-phone")
        trigger.click()
        expect(page.get_by_role("dialog")).to_contain_text("Servern byts ut")
