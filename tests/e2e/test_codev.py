"""Development sessions: from a wish to an accepted flow, with a model that a scripted server speaks for."""

import json
import re
from collections import deque
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio, start_studio
from tests.e2e.support.waiting import until
from tests.support.openai_server import OpenAIServer
from tests.support.own_place import GREETING
from tests.support.scripted_server import Hold, Script

CASE = {"name": "Greets by name", "text": "Ann", "expect": {"equals": "Hello Ann!"}}
PLAN = f"**Three nodes**: who, words, out.\n\n```tests\n{json.dumps([CASE])}\n```"
MISSING = "ChatInput, PromptTemplate, ChatOutput.\n\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: CRM_TOKEN"
OK = "Nothing is there.\n\nCREDENTIALS_STATUS: OK"
PHASES = ["Clarify", "Discover", "Credentials", "Plan", "Approve"]
TOKEN = "crm-neverseenagain123456"


@pytest.fixture(scope="module")
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory, openai: OpenAIServer) -> Iterator[Studio]:
    """A server whose model is the scripted one."""
    environment = {
        "OPENAI_API_KEY": "sk-of-a-test",
        "OPENAI_BASE_URL": openai.base_url,
        "HEADGATE_CODEV__MODEL": "openai/gpt-5-mini",
    }
    with start_studio(tmp_path_factory.mktemp("builder"), **environment) as found:
        yield found


@pytest.fixture
def window(browser: Browser, builder: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, builder.url, console) as page:
        yield page
    console.check()


@pytest.fixture
def says(openai: OpenAIServer, builder: Studio) -> "deque[Script]":
    """What the model says next, line by line. Nothing is left of the tests before."""
    for one in builder.get("/codev/sessions")["items"]:
        builder.api.delete(f"/codev/sessions/{one['thread_id']}").raise_for_status()
    lines: deque[Script] = deque()
    openai.sort = lambda _asked: lines.popleft() if lines else None
    return lines


def card(page: Page, name: str) -> Locator:
    """What the session waits for."""
    return page.get_by_role("region", name=name)


def begin(page: Page, wanted: str) -> None:
    """Start a session from the form."""
    page.goto("/develop/new")
    page.get_by_label("What should the flow do?").fill(wanted)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(re.compile(r"/develop/[0-9a-f-]{36}"))


def edit_and_approve(page: Page) -> None:
    """Add a line to the plan and a test, and approve with the keyboard."""
    plan = card(page, "A plan to approve")
    plan.get_by_role("radio", name="Edit").click()
    plan.get_by_role("textbox", name="Plan").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n\nKeep it short.")
    plan.get_by_role("button", name="Add a test").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Any script")
    dialog.get_by_label("Input", exact=True).fill("Åsa 李")
    dialog.get_by_label("contains", exact=True).fill("Åsa 李")
    check_accessible(page)
    dialog.get_by_role("button", name="Save test").click()
    plan.get_by_role("button", name="Approve as edited").focus()
    page.keyboard.press("Control+Enter")


def roll_back(page: Page) -> None:
    """Roll a session back whose flow nobody else changed, after its preview."""
    page.get_by_role("button", name="Roll back").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("“Greeting” is removed: the session created it.")).to_be_visible()
    check_accessible(page)
    dialog.get_by_role("button", name="Roll back").click()


class TestASession:
    def test_goes_from_a_wish_to_an_accepted_flow(
        self, window: Page, builder: Studio, openai: OpenAIServer, says: "deque[Script]"
    ) -> None:
        page = window
        page.goto("/develop")
        expect(page.get_by_role("heading", name="Develop a flow with the agent")).to_be_visible()
        check_accessible(page)
        page.get_by_role("link", name="Start the first session").click()
        says.append(openai.text("SCORE: 6\n1. In which words?"))
        begin(page, "Greet whoever writes, by name")

        questions = card(page, "Questions for you")
        questions.get_by_label("1. In which words?").fill("Just hello.")
        check_accessible(page)
        says.extend((openai.tool_call("search_components", {"query": "fill a text"}), openai.text(MISSING)))
        questions.get_by_role("button", name="Answer", exact=True).click()

        missing = card(page, "Credentials are missing")
        missing.get_by_role("textbox", name="CRM_TOKEN").fill(TOKEN)
        missing.get_by_role("button", name="Save").click()
        expect(missing.get_by_text("Added: CRM_TOKEN")).to_be_visible()
        assert TOKEN not in page.content()
        says.append(openai.text(PLAN))
        missing.get_by_role("button", name="Continue", exact=True).click()

        expect(card(page, "A plan to approve").get_by_text("The answer is exactly “Hello Ann!”")).to_be_visible()
        assert builder.get("/flows")["items"] == []
        build = openai.tool_call("build_flow", {"spec": GREETING})
        says.extend((build, openai.text("Built as planned."), openai.text("DONE")))
        edit_and_approve(page)

        review = card(page, "A result to review")
        expect(review.get_by_text("2 of 2 runs passed")).to_be_visible()
        assert "Keep it short." in json.dumps([asked.body for asked in openai.asked])
        happened = page.get_by_role("log", name="Log")
        expect(happened.get_by_text("Searches components")).to_be_visible()
        check_accessible(page)
        review.get_by_role("button", name="Any script").click()
        run = re.compile(r"^/flows/.+/runs/.+")
        expect(review.get_by_role("link", name="Open the run")).to_have_attribute("href", run)
        review.get_by_role("tab", name="Changes").click()
        expect(review.get_by_text("words", exact=True)).to_be_visible()
        page.reload()
        expect(happened.get_by_role("button", name="Writes the flow")).to_have_count(1)
        review.get_by_role("button", name="Accept").click()
        expect(page.get_by_text("You accepted the result.")).to_be_visible()
        (flow,) = builder.get("/flows")["items"]

        def names() -> list[str]:
            return [case["name"] for case in builder.get(f"/flows/{flow['id']}/tests")["cases"]]

        until(names, ["Greets by name", "Any script"])  # the session keeps them after it has noted the decision

        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Summary").click()
        expect(page.get_by_role("dialog").get_by_text("Greet whoever writes, by name").first).to_be_visible()
        page.keyboard.press("Escape")
        roll_back(page)
        expect(page.get_by_text("“Greeting” was removed: the session created it", exact=True)).to_be_visible()
        assert builder.get("/flows")["items"] == []

    def test_that_was_answered_in_another_tab_says_so(
        self, window: Page, builder: Studio, openai: OpenAIServer, says: "deque[Script]", console: Console
    ) -> None:
        console.allow("409")
        page = window
        says.append(openai.text("SCORE: 6\n1. For whom?"))
        begin(page, "Greet guests")
        questions = card(page, "Questions for you")
        questions.get_by_label("1. For whom?").fill("Guests.")
        waits = page.get_by_role("link", name="Develop").get_by_text("1 waiting for you")
        says.extend((openai.text(OK), openai.text(PLAN)))
        session = page.url.rsplit("/", 1)[-1]
        builder.post(f"/codev/sessions/{session}/resume", {"response": {"type": "clarification", "text": "Everybody"}})
        questions.get_by_role("button", name="Answer", exact=True).click()
        expect(page.get_by_text("Already answered", exact=True)).to_be_visible()
        expect(card(page, "A plan to approve")).to_be_visible()
        page.goto("/develop")
        expect(waits).to_be_attached()
        expect(page.get_by_role("list", name="Waiting for you").get_by_role("listitem")).to_have_count(1)

    def test_goes_on_being_told_when_the_network_was_away(
        self, window: Page, builder: Studio, openai: OpenAIServer, says: "deque[Script]", console: Console
    ) -> None:
        console.allow("ERR_")
        page = window
        says.append(openai.text("SCORE: 6\n1. For how long?"))
        begin(page, "Greet while the line is cut")
        search = openai.tool_call("search_components", {"query": "fill a text"})
        found = Hold()
        says.extend((search, openai.held_text(OK, found), openai.text(PLAN)))
        card(page, "Questions for you").get_by_role("button", name="Continue without answers").click()
        happened = page.get_by_role("log", name="Log")
        expect(happened.get_by_role("button", name="Searches components")).to_be_visible()
        page.context.set_offline(True)
        expect(page.get_by_text("Connection lost.")).to_be_visible()
        found.release()
        session = f"/codev/sessions/{page.url.rsplit('/', 1)[-1]}"
        until(lambda: builder.get(session)["status"], "pending_interrupt")
        page.context.set_offline(False)
        expect(card(page, "A plan to approve")).to_be_visible()
        expect(page.get_by_text("Connection lost.")).to_be_hidden()
        expect(happened.get_by_role("button", name="Searches components")).to_have_count(1)
        expect(happened.get_by_role("heading")).to_have_text(PHASES)

    def test_is_answered_on_a_phone_and_stopped(
        self,
        browser: Browser,
        builder: Studio,
        openai: OpenAIServer,
        says: "deque[Script]",
        console: Console,
    ) -> None:
        says.append(openai.text("SCORE: 6\n1. How long?"))
        with open_page(browser, builder.url, console, narrow=True, dark=True) as page:
            begin(page, "Greet, shortly")
            expect(card(page, "Questions for you").get_by_role("button", name="Answer", exact=True)).to_be_in_viewport()
            check_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_role("button", name="Continue from here")).to_be_visible()
            check_accessible(page)
        console.check()


class TestTheForm:
    def test_is_filled_with_the_flow_it_was_opened_from(self, window: Page, builder: Studio) -> None:
        page = window
        flow = builder.flow(GREETING)
        page.goto(f"/flows/{flow}")
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Develop with the agent").click()
        expect(page.get_by_role("radio", name="An existing flow")).to_be_checked()
        expect(page.get_by_label("Flow", exact=True)).to_contain_text("Greet")
        check_accessible(page)
        builder.api.delete(f"/flows/{flow}").raise_for_status()
