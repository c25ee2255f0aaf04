"""The 20 tasks: what is there before, what starts each one, what the models of steps answer, and the effect."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from io import BytesIO
from typing import Any

import orjson
from python_calamine import CalamineWorkbook

from headgate.features.catalog.gallery import Recipe, find_recipe
from tests.integration.features.knowledge.conftest import HANDBOOK, Knowledge
from tests.integration.tasks.world import World
from tests.support.pdfs import pdf_of
from tests.support.people import asking
from tests.support.scripted_server import Asked, Script
from tests.support.web_server import answer
from tests.unit.features.triggers.test_signatures import SECRET, github

Step = Callable[[World], Awaitable[None]]
Trigger = dict[str, Any]
Start = Callable[[World, str, "Trigger | None"], Awaitable[dict[str, Any]]]
"""Starts the published flow with its trigger, and returns the run."""
REPORT = "The archive was moved to Lund in April. The move took three days."


async def _nothing(_world: World) -> None:
    pass


async def fired(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    """The run of a schedule that fires now."""
    assert trigger is not None
    await world.call("POST", f"/triggers/{trigger['id']}/fire", json={})
    return await world.run_of(trigger)


async def by_hand(world: World, flow_id: str, recipe: Recipe) -> dict[str, Any]:
    """A run with the sample of a template."""
    body = {"text": recipe.sample.text, "form_data": recipe.sample.form, "wait": True, "session_id": "a chat"}
    run: dict[str, Any] = await world.call("POST", f"/flows/{flow_id}/runs", json=body)
    return run


def mailed(subject: str, text: str, file: tuple[str, bytes] | None = None) -> Start:
    """Deliver a mail to the mailbox that the trigger looks at."""

    async def start(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
        assert trigger is not None
        await world.polled(trigger)
        world.deliver(subject, text, file=file)
        await world.polled(trigger)
        return await world.run_of(trigger)

    return start


@dataclass(frozen=True)
class Case:
    """One of the 20 tasks."""

    key: str
    """Of the template."""
    start: Start
    check: Callable[[World, dict[str, Any]], Awaitable[None]]
    prepare: Step = _nothing
    answers: Callable[[str, Asked], str | Script] = lambda _text, _asked: "No model was expected."
    mailbox: bool = False
    tables: str = ""
    """SQL that creates the tables of the shop."""
    called: tuple[str, ...] = field(default=())
    """Templates of flows that it runs, which must be published."""

    @property
    def recipe(self) -> Recipe:
        """The template."""
        return find_recipe(self.key)


# 1 ------------------------------------------------------------------------------------------------------------------


def _triage(text: str, _asked: Asked) -> str:
    if "Draft a short" in text:
        return "Dear Bo, we look into the double payment."
    return json.dumps({"label": "billing", "confidence": 0.9})


async def _triaged(world: World, _run: dict[str, Any]) -> None:
    to, subject, text, _ = world.mail()
    assert (to, subject) == ("support@example.org", "[billing] Invoice of May")
    assert "charged twice" in text
    assert "bo@example.com" in text
    assert "we look into the double payment" in text
    assert len(world.postbox.received) == 1, "nothing was sent to the sender"


# 2, 3, 17 -----------------------------------------------------------------------------------------------------------


def _summary(text: str, _asked: Asked) -> str:
    assert REPORT in text
    return "The archive moved to Lund; it took three days."


async def _summarised(world: World, _run: dict[str, Any]) -> None:
    assert world.mail()[:2] == ("ann@example.org", "Summary of report.pdf")
    assert "moved to Lund; it took" in world.mail()[2]


def _invoice(text: str, _asked: Asked) -> str:
    assert "F-2231" in text
    return json.dumps({"supplier": "Nordia", "number": "F-2231", "due": "2026-04-30", "total": 1480})


async def _invoiced(world: World, run: dict[str, Any]) -> None:
    to, subject, text, files = world.mail()
    assert (to, subject) == ("accounts@example.org", "Invoice F-2231 of Nordia")
    assert "1480" in text
    assert files == ["invoices.xlsx"]
    assert await _sheet(world, run, "invoices.xlsx") == [
        ("supplier", "number", "due", "total"), ("Nordia", "F-2231", "2026-04-30", 1480),
    ]  # fmt: skip


async def _sheet(world: World, run: dict[str, Any], name: str) -> list[tuple[Any, ...]]:
    """The rows of a spreadsheet that a run has saved; dates as text, numbers as numbers."""
    files = (await world.call("GET", "/files", params={"flow_run_id": run["id"]}))["items"]
    found = next(file for file in files if file["name"] == name)
    content = await world.client.get(f"/api/v1/files/{found['id']}/content")
    rows = CalamineWorkbook.from_filelike(BytesIO(content.content)).get_sheet_by_index(0).to_python()
    return [tuple(str(cell) if isinstance(cell, date) else cell for cell in row) for row in rows]


def _reply(text: str, _asked: Asked) -> str:
    assert REPORT in text
    assert "How long did the move take?" in text
    return "The move took three days."


async def _replied(world: World, _run: dict[str, Any]) -> None:
    assert world.mail()[:2] == ("ann@example.org", "Re: The move")
    assert "three days" in world.mail()[2]
    assert world.postbox.message()["In-Reply-To"] == "<question@example.com>"


# 4, 5, 15, 20, 14: the web ------------------------------------------------------------------------------------------


def _entry(number: int, title: str, *, days: int = 0) -> dict[str, str]:
    at = (datetime.now(UTC) - timedelta(days=days, minutes=5)).isoformat()
    return {
        "id": str(number), "title": title, "url": f"https://example.org/{number}", "summary": f"About {title}",
        "date_published": at,
    }  # fmt: skip


def _feed(*entries: dict[str, str]) -> bytes:
    document = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": list(entries)}
    return answer(200, orjson.dumps(document), content_type="application/feed+json")


async def _with_news(world: World) -> None:
    world.web.on("/feed.xml", _feed(_entry(2, "Tea is here"), _entry(1, "Old news", days=9)))


def _digest(text: str, _asked: Asked) -> str:
    assert "Tea is here" in text
    assert "Old news" not in text
    return "- [Tea is here](https://example.org/2)"


async def _digested(world: World, _run: dict[str, Any]) -> None:
    assert world.mail()[:2] == ("ann@example.org", "News of the day")
    assert "[Tea is here]" in world.mail()[2]


async def _page_changes(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    await world.polled(trigger)
    world.web.on("/news", answer(200, "<main><p>The shop is closed on Monday.</p></main>", content_type="text/html"))
    await world.polled(trigger)
    return await world.run_of(trigger)


async def _with_page(world: World) -> None:
    world.web.on("/news", answer(200, "<main><p>The shop is open.</p></main>", content_type="text/html"))


async def _page_noticed(world: World, _run: dict[str, Any]) -> None:
    (notice,) = world.posted("/chat")
    assert notice["title"] == "The page has changed"
    assert "closed on Monday" in notice["message"]


async def _entry_comes(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    await world.polled(trigger)
    world.web.on("/feed.xml", _feed(_entry(3, "Coffee is here"), _entry(2, "Tea is here")))
    await world.polled(trigger)
    return await world.run_of(trigger)


async def _entry_posted(world: World, _run: dict[str, Any]) -> None:
    (notice,) = world.posted("/chat")
    assert notice["title"] == "Coffee is here"
    assert "https://example.org/3" in notice["message"]


def _price(amount: str) -> bytes:
    return answer(200, f'<p>Green tea <b class="price">{amount} kr</b></p>', content_type="text/html")


async def _with_price(world: World) -> None:
    world.web.on("/tea", _price("45.50"), _price("39.00"))


async def _price_falls(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    await fired(world, _flow_id, trigger)
    assert world.posted("/chat") == []
    answered = await world.call("POST", f"/triggers/{trigger['id']}/fire", json={})
    return await world.over(answered["occurrence"]["run_id"])


async def _price_noticed(world: World, _run: dict[str, Any]) -> None:
    (notice,) = world.posted("/chat")
    assert "39" in notice["message"]
    assert "45.5" in notice["message"]


async def _with_calendar(world: World) -> None:
    at = datetime.now(UTC) + timedelta(hours=3)
    event = f"BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:{at:%Y%m%dT%H%M%SZ}\r\nDTSTART:{at:%Y%m%dT%H%M%SZ}\r\n"
    event += "SUMMARY:Planning\r\nLOCATION:Room 2\r\nEND:VEVENT\r\n"
    text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\n{event}END:VCALENDAR\r\n"
    world.web.on("/team.ics", answer(200, text, content_type="text/calendar"))


async def _reminded(world: World, _run: dict[str, Any]) -> None:
    (notice,) = world.posted("/chat")
    assert notice["title"] == "Events of the next day"
    assert "Planning" in notice["message"]
    assert "Room 2" in notice["message"]


# 6, 9, 12, 13, 18: the database -------------------------------------------------------------------------------------

SALES = """CREATE TABLE sales (region text, amount integer);
INSERT INTO sales VALUES ('North', 120), ('South', 95), ('North', 30)"""
LEADS = """CREATE TABLE leads (id integer PRIMARY KEY, domain text, company text, employees integer);
INSERT INTO leads VALUES (1, 'nordia.example', NULL, NULL), (2, 'unknown.example', NULL, NULL),
  (3, 'fjord.example', 'Fjord', 9)"""
CUSTOMERS = """CREATE TABLE customers (id integer PRIMARY KEY, name text);
INSERT INTO customers VALUES (1, 'Åsa'), (2, 'Bo')"""
REVIEWS = """CREATE TABLE reviews (id integer PRIMARY KEY, text text, sentiment text);
INSERT INTO reviews VALUES (1, 'I love it', NULL), (2, 'It broke at once', NULL), (3, 'Fine', 'neutral')"""
ORDERS = """CREATE TABLE orders (id integer PRIMARY KEY, customer text, amount integer);
INSERT INTO orders VALUES (1, 'Åsa', 40), (2, 'Bo', 25)"""


async def _charted(world: World, _run: dict[str, Any]) -> None:
    to, subject, text, files = world.mail()
    assert (to, subject, files) == ("ann@example.org", "Sales of the week", ["sales.png"])
    assert "150" in text
    image = next(part for part in world.postbox.message().walk() if part.get_filename() == "sales.png")
    assert image.get_payload(decode=True).startswith(b"\x89PNG")  # type: ignore[union-attr]


async def _with_companies(world: World) -> None:
    found = answer(200, '{"name": "Nordia AB", "employees": 40}', content_type="application/json")
    world.web.on("/companies?domain=nordia.example", found)


async def _enriched(world: World, _run: dict[str, Any]) -> None:
    rows = world.sql("SELECT id, company, employees FROM leads ORDER BY id")
    assert rows == [(1, "Nordia AB", 40), (2, None, None), (3, "Fjord", 9)]
    assert world.web.seen("/companies?domain=nordia.example")[0].headers["authorization"] == "Bearer token-of-a-test"


async def _backed_up(world: World, run: dict[str, Any]) -> None:
    name = f"customers-{datetime.now(UTC):%Y-%m-%d}.xlsx"
    assert world.mail()[0] == "ann@example.org"
    assert world.mail()[3] == [name]
    assert await _sheet(world, run, name) == [("id", "name"), (1, "Åsa"), (2, "Bo")]


def _sentiment(text: str, _asked: Asked) -> str:
    return json.dumps({"sentiment": "positive" if "I love it" in text else "negative"})


async def _rated(world: World, _run: dict[str, Any]) -> None:
    rows = world.sql("SELECT id, sentiment FROM reviews ORDER BY id")
    assert rows == [(1, "positive"), (2, "negative"), (3, "neutral")]


async def _with_orders(world: World) -> None:
    world.web.on("/orders", answer(200, '{"ok": true}', content_type="application/json"))


async def _orders_twice(world: World, flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    first = await fired(world, flow_id, trigger)
    assert first["status"] == "completed", first["error"]
    world.sql("INSERT INTO orders VALUES (3, 'Cai', 9)")
    answered = await world.call("POST", f"/triggers/{trigger['id']}/fire", json={})
    return await world.over(answered["occurrence"]["run_id"])


async def _orders_posted(world: World, _run: dict[str, Any]) -> None:
    assert world.posted("/orders") == [
        [{"id": 1, "customer": "Åsa", "amount": 40}, {"id": 2, "customer": "Bo", "amount": 25}],
        [{"id": 3, "customer": "Cai", "amount": 9}],
    ]


# 7: form ------------------------------------------------------------------------------------------------------------


async def _submitted(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    async with asking(world.app) as visitor:
        path = str(visitor.base_url.copy_with(path=trigger["path"]))
        page = await visitor.get(path)
        about = json.loads(page.text.partition('type="application/json">')[2].partition("</script>")[0])
        headers = {"origin": "null", "sec-fetch-site": "cross-site", "x-widget-visit": about["visit"]}
        answers = find_recipe("form-approval-mail").sample.form
        sent = await visitor.post(f"{path}/submissions", headers=headers, json={"form_data": answers})
        assert sent.is_success, sent.text
    run = await world.run_of(trigger)
    assert run["status"] == "waiting", run["error"]
    assert world.postbox.received == []
    (approval,) = (await world.call("GET", "/approvals", params={"status": "pending"}))["items"]
    await world.call("POST", f"/approvals/{approval['id']}/decision", json={"decision": "approve"})

    async def over() -> Any:
        shown = await world.call("GET", f"/flow-runs/{run['id']}")
        return shown if shown["status"] not in {"queued", "running", "waiting"} else None

    ended: dict[str, Any] = await world.until(over)
    return ended


async def _decided(world: World, _run: dict[str, Any]) -> None:
    assert len(world.postbox.received) == 1
    to, subject, text, _ = world.mail()
    assert (to, subject) == ("ann@example.org", "Approved: Office chair")
    assert "2400" in text


# 8, 16: chats -------------------------------------------------------------------------------------------------------


async def _with_handbook(world: World) -> None:
    knowledge = Knowledge(world.client)
    await knowledge.add(await knowledge.base("Handbook"), "handbook.md", HANDBOOK)


async def _answered(world: World, run: dict[str, Any]) -> None:
    assert run["text"] == "You have 27 days of holiday each year [1]."
    assert "27 days of holiday" in str(world.openai.asked[-1].body["messages"])


async def _chatted(world: World, flow_id: str, _trigger: Trigger | None) -> dict[str, Any]:
    await by_hand(world, flow_id, find_recipe("chat-with-tools"))
    body = {"text": "And twice of that?", "wait": True, "session_id": "a chat"}
    run: dict[str, Any] = await world.call("POST", f"/flows/{flow_id}/runs", json=body)
    return run


def _chat(text: str, asked: Asked) -> str | Script:
    if "And twice of that?" in text:
        return "It is 795.6." if "397.8" in text else "I do not remember."
    if asked.body["messages"][-1]["role"] == "tool":
        return f"It is {asked.body['messages'][-1]['content']}."
    return _CALLS.tool_call("calculator", {"expression": "2340 * 17 / 100"})


async def _remembered(_world: World, run: dict[str, Any]) -> None:
    assert run["text"] == "It is 795.6."


# 10: GitHub ---------------------------------------------------------------------------------------------------------


async def _issue_opened(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    world.web.on("/repos/acme/shop/issues/7/labels", answer(200, '[{"name": "bug"}]', content_type="application/json"))
    await world.call("PATCH", f"/triggers/{trigger['id']}", json={"secret": SECRET})
    issue = {"number": 7, "title": "The basket is empty", "body": "after signing in"}
    content = orjson.dumps({"action": "opened", "issue": issue})
    headers = {"content-type": "application/json", "x-github-delivery": "1", **github(content)}
    async with asking(world.app) as caller:
        sent = await caller.post(str(caller.base_url.copy_with(path=trigger["path"])), content=content, headers=headers)
    assert sent.status_code == 202, sent.text
    return await world.run_of(trigger)


def _labels(text: str, _asked: Asked) -> str:
    assert "The basket is empty" in text
    return json.dumps({"labels": ["bug"]})


async def _labelled(world: World, _run: dict[str, Any]) -> None:
    (request,) = world.web.seen("/repos/acme/shop/issues/7/labels")
    assert json.loads(request.body) == {"labels": ["bug"]}
    assert request.headers["authorization"] == "Bearer token-of-a-test"


# 11, 19 -------------------------------------------------------------------------------------------------------------


AREA = {"area": "flows"}
TEXT = "Mötet är flyttat."
CLAIMS = """CREATE TABLE claims (id integer PRIMARY KEY, claimant text, amount integer, decision text);
INSERT INTO claims VALUES (1, 'Åsa', 400, NULL), (2, 'Bo', 25000, NULL), (3, 'Cai', 1, 'Approved')"""


async def _with_folder(world: World) -> None:
    await world.call(
        "PUT", "/workspace/files/content", params=AREA | {"path": "translate/old.txt"}, json={"text": "Gammalt"}
    )


async def _document_comes(world: World, _flow_id: str, trigger: Trigger | None) -> dict[str, Any]:
    assert trigger is not None
    await world.polled(trigger)
    await world.call(
        "PUT", "/workspace/files/content", params=AREA | {"path": "translate/brev.txt"}, json={"text": TEXT}
    )

    async def started() -> Any:
        await world.polled(trigger)
        return (await world.call("GET", f"/triggers/{trigger['id']}/occurrences"))["items"]

    await world.until(started)
    return await world.run_of(trigger)


def _english(text: str, _asked: Asked) -> str:
    assert TEXT in text
    return "The meeting is moved."


async def _translated(world: World, run: dict[str, Any]) -> None:
    assert run["text"] == "The meeting is moved."
    files = (await world.call("GET", "/files", params={"flow_run_id": run["id"]}))["items"]
    assert "translation.docx" in [file["name"] for file in files]


async def _checked_each(world: World, _run: dict[str, Any]) -> None:
    rows = world.sql("SELECT id, decision FROM claims ORDER BY id")
    assert rows == [(1, "Approved"), (2, "Needs review"), (3, "Approved")]


from tests.support.openai_server import OpenAIServer  # noqa: E402

_CALLS = OpenAIServer()
"""Makes answers that call tools; it never listens."""
PDF = ("report.pdf", pdf_of([REPORT]))

CASES = (
    Case(
        "mail-reply-drafts", mailed("Invoice of May", "I was charged twice."), _triaged, answers=_triage, mailbox=True
    ),
    Case("pdf-summary-by-mail", mailed("Report", "See the file.", PDF), _summarised, answers=_summary, mailbox=True),
    Case(
        "invoices-from-mail",
        mailed("Your invoice", "Attached.", ("invoice.txt", b"Nordia\nInvoice F-2231\nTotal 1480\nDue 2026-04-30")),
        _invoiced,
        answers=_invoice,
        mailbox=True,
    ),
    Case("news-digest", fired, _digested, _with_news, _digest),
    Case("page-watch", _page_changes, _page_noticed, _with_page),
    Case("weekly-chart-by-mail", fired, _charted, tables=SALES),
    Case("form-approval-mail", _submitted, _decided),
    Case(
        "document-chat",
        lambda world, flow_id, _trigger: by_hand(world, flow_id, find_recipe("document-chat")),
        _answered,
        _with_handbook,
        lambda _text, _asked: "You have 27 days of holiday each year [1].",
    ),
    Case("lead-enrichment", fired, _enriched, _with_companies, tables=LEADS),
    Case("github-issue-triage", _issue_opened, _labelled, answers=_labels),
    Case("translate-documents", _document_comes, _translated, _with_folder, _english),
    Case("backup-to-spreadsheet", fired, _backed_up, tables=CUSTOMERS),
    Case("review-sentiment", fired, _rated, answers=_sentiment, tables=REVIEWS),
    Case("calendar-reminders", fired, _reminded, _with_calendar),
    Case("feed-to-chat", _entry_comes, _entry_posted, _with_news),
    Case("chat-with-tools", _chatted, _remembered, answers=_chat),
    Case(
        "pdf-questions-by-mail",
        mailed("The move", "How long did the move take?", PDF),
        _replied,
        answers=_reply,
        mailbox=True,
    ),
    Case("nightly-export", _orders_twice, _orders_posted, _with_orders, tables=ORDERS),
    Case("rows-through-flow", fired, _checked_each, tables=CLAIMS, called=("expense-check",)),
    Case("price-monitor", _price_falls, _price_noticed, _with_price),
)
