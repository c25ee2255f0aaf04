"""Schedules whose holidays are read from the address of a calendar, in the real application, on both databases."""

from collections.abc import AsyncIterator
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from headgate.features.runs.transitions import clock
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.database import now
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.triggers.conftest import add, published, until
from tests.integration.features.triggers.test_polls import reply, web
from tests.support.people import LOOPBACK
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer

__all__ = ["web"]


def weekday(number: int) -> date:
    """The so manieth weekday from the day after tomorrow on."""
    days = [now().date() + timedelta(days=ahead) for ahead in range(2, 40)]
    return [day for day in days if day.weekday() < 5][number]


def calendar(*days: date) -> bytes:
    events = [
        f"BEGIN:VEVENT\r\nUID:{day}\r\nDTSTART;VALUE=DATE:{day:%Y%m%d}\r\nSUMMARY:x\r\nEND:VEVENT" for day in days
    ]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:test", *events, "END:VCALENDAR", ""]
    return reply("\r\n".join(lines).encode(), "text/calendar")


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
        yield people


def config_of(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "schedule", "cron": "0 7 * * *", "days": "business", "calendar_url": url} | more


async def shown(us: Team, trigger: dict[str, Any], days: list[date], error: str = "") -> dict[str, Any]:
    """The trigger once these days were read, or the error."""

    async def done() -> Any:
        now = await us.get("publisher", f"/triggers/{trigger['id']}")
        shows = error in now["poll_error"] if error else not now["poll_error"]
        return now if shows and now["calendar_days"] == [f"{day}" for day in days] else None

    found: dict[str, Any] = await until(done)
    return found


async def a_day_later(us: Team, trigger: dict[str, Any]) -> None:
    async with us.database.writing() as session:
        change = update(TriggerRow).where(TriggerRow.id == trigger["id"])
        await session.execute(change.values(due_at=clock(), polled_at=clock() - 86_401_000_000))


class TestCalendar:
    async def test_of_an_address_is_read_at_once_and_every_day(self, us: Team, web: WebServer) -> None:
        first, second = weekday(0), weekday(1)
        web.on("/c.ics", calendar(first))
        trigger = await add(us, await published(us), config=config_of(web.url("/c.ics")))
        assert "calendar of 127.0.0.1" in (await shown(us, trigger, [first]))["sentence"]
        ahead = await us.get("publisher", f"/triggers/{trigger['id']}/next", params={"count": 20})
        days = {entry["due_at"][:10] for entry in ahead["items"]}
        assert (f"{first}" in days, f"{second}" in days) == (False, True)
        web.on("/c.ics", calendar(second))
        await a_day_later(us, trigger)
        await shown(us, trigger, [second])
        agenda = (await us.get("publisher", "/triggers/agenda", params={"days": 31}))["items"]
        days = {entry["due_at"][:10] for entry in agenda}
        assert (f"{first}" in days, f"{second}" in days) == (True, False)

    async def test_that_cannot_be_read_keeps_its_last_copy_and_says_why(self, us: Team, web: WebServer) -> None:
        web.on("/c.ics", calendar(weekday(0)))
        trigger = await add(us, await published(us), config=config_of(web.url("/c.ics")))
        await shown(us, trigger, [weekday(0)])
        for broken, reason in ((answer(500, b""), "500"), (calendar(), "0 days")):
            web.on("/c.ics", broken)
            await a_day_later(us, trigger)
            failed = await shown(us, trigger, [weekday(0)], reason)
            assert failed["poll_error"]
            assert failed["next_at"] is not None
        web.on("/c.ics", calendar(weekday(1)))
        await a_day_later(us, trigger)
        async with us.database.writing() as session:
            await session.execute(update(TriggerRow).values(polled_at=0))
        await shown(us, trigger, [weekday(1)])

    async def test_is_kept_when_the_time_changes_and_read_again_when_the_address_does(
        self, us: Team, web: WebServer
    ) -> None:
        web.on("/c.ics", calendar(weekday(0)))
        web.on("/d.ics", calendar(weekday(1)))
        trigger = await add(us, await published(us), config=config_of(web.url("/c.ics")))
        await shown(us, trigger, [weekday(0)])
        web.on("/c.ics", answer(500, b""))
        path = f"/triggers/{trigger['id']}"
        for config, day in (
            (config_of(web.url("/c.ics"), cron="0 8 * * *"), weekday(0)),
            (config_of(web.url("/d.ics")), weekday(1)),
        ):
            changed = await us.ask("publisher", "PATCH", path, json={"config": config})
            assert changed.status_code == 200, changed.text
            await shown(us, trigger, [day])

    async def test_of_an_address_that_is_not_allowed_is_refused(self, us: Team) -> None:
        url = "http://169.254.169.254/c.ics"
        trigger = await add(us, await published(us), config=config_of(url))
        await shown(us, trigger, [], "169.254.169.254")
        body = {"config": config_of(url), "read_calendar": True}
        assert (await us.ask("publisher", "POST", "/triggers/preview", json=body)).status_code in {400, 403, 422}

    async def test_is_previewed_by_who_manages_triggers(self, us: Team, web: WebServer) -> None:
        web.on("/c.ics", calendar(weekday(0)))
        body = {"config": config_of(web.url("/c.ics")), "read_calendar": True}
        previewed = await us.ask("publisher", "POST", "/triggers/preview", json=body)
        assert previewed.json()["holidays"] == [f"{weekday(0)}"]
        assert (await us.ask("viewer", "POST", "/triggers/preview", json=body)).status_code == 403

    async def test_is_for_business_days(self, us: Team) -> None:
        body = {"name": "x", "config": config_of("https://example.org/c.ics", days="every")}
        refused = await us.ask("publisher", "POST", f"/flows/{await published(us)}/triggers", json=body)
        assert refused.status_code == 422
