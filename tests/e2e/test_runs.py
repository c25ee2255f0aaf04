"""Running flows in the page: form, chat, live states, stopping, failing, parts, history, rerun, compare, lost lines."""

import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import PATIENCE_MS, Console, open_page
from tests.e2e.support.studio import Studio, start_studio
from tests.e2e.support.waiting import until
from tests.support.images import png
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Hold

FORM = """name: Letter
nodes:
  start: FormInput
    label: The order
  count: Python
    label: Count the letters
    source: |
      def run(inputs):
          return [{"word": w, "letters": len(w)} for w in str(inputs).split()]
  letter: PromptTemplate
    label: Write the letter
    template: "# Dear {{flow_input.name}}\\n\\nYour **{{flow_input.amount}}** things. {facts}"
  pause: Wait
    label: Think about it
    seconds: SECONDS
  out: ChatOutput
    label: The letter
edges:
  start.text -> letter.facts
  start.text -> count.inputs
  letter.text -> pause.value
  pause.value -> out.input
form:
  name: text
    label: Who ordered?
    required: true
  amount: number
    label: How many
  photo: image
    label: A photo
"""
CHAT = """name: Talk
nodes:
  ask: ChatInput
  answer: AIStep
    label: The model
    prompt: "Answer: {{ask.text}}"
    model: openai/gpt-5-mini
  out: ChatOutput
edges:
  ask.text -> answer.input
  answer.output -> out.input
"""
BRIEF = """name: Brief
nodes:
  text: TextInput
    label: The text
  brief: AIStep
    label: Summarise
    prompt: "In three words: {{text.text}}"
    model: openai/gpt-5-mini
  out: ChatOutput
    label: The result
edges:
  text.text -> brief.input
  brief.output -> out.input
"""


expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.xdist_group("runs")  # one server for all of them


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """A model provider on loopback."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, model: OpenAIServer) -> Iterator[Studio]:
    """A studio whose OpenAI is the scripted one."""
    folder = tmp_path_factory.mktemp("runs")
    with start_studio(folder, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="sk-test-only") as found:
        # The first call of a model loads its packages: no test waits for that.
        says(model, model.text("Ready"))
        run_over(found, found.flow(BRIEF), text="warm up")
        yield found


@pytest.fixture
def page(browser: Browser, own: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, own.url, console) as page:
        yield page
    console.check()


def panel_of(page: Page, flow_id: str) -> Locator:
    """The run panel of a flow's canvas, open."""
    page.goto(f"/flows/{flow_id}")
    page.get_by_role("banner").or_(page.locator("header")).get_by_role("button", name="Run", exact=True).first.click()
    panel = page.get_by_role("complementary", name="Run", exact=True)
    expect(panel).to_be_visible()
    return panel


def fill(panel: Locator, name: str = "Eva") -> None:
    panel.get_by_role("textbox", name="Who ordered?").fill(name)
    panel.get_by_role("textbox", name="How many").fill("3")


def run_over(own: Studio, flow_id: str, **body: Any) -> Any:
    found = own.post(f"/flows/{flow_id}/runs", {"wait": True, **body})
    assert found["status"] == "completed", found
    return found


ASKS_NOTHING = """name: Packages
nodes:
  packages: InstalledPackages
  out: SaveFile
    name: packages.csv
edges:
  packages.table -> out.content
"""


class TestRunning:
    def test_the_button_runs_a_flow_that_asks_for_nothing(self, page: Page, own: Studio) -> None:
        panel = panel_of(page, own.flow(ASKS_NOTHING))
        expect(panel.get_by_text("Completed").first).to_be_visible()
        expect(panel.get_by_role("textbox")).to_have_count(0)

    def test_the_button_leads_to_the_first_field_that_is_asked_for(self, page: Page, own: Studio) -> None:
        flow_id = own.flow(FORM.replace("SECONDS", "0"))
        panel = panel_of(page, flow_id)
        expect(panel.get_by_role("textbox", name="Who ordered?")).to_be_focused()
        assert own.get(f"/flow-runs?flow_id={flow_id}")["items"] == []

    def test_a_form_with_an_uploaded_file_and_the_same_data_again(
        self, page: Page, own: Studio, tmp_path: Path
    ) -> None:
        flow_id = own.flow(FORM.replace("SECONDS", "0.1"))
        (tmp_path / "photo.png").write_bytes(png())
        panel = panel_of(page, flow_id)
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_text("This field is required")).to_be_visible()
        fill(panel)
        panel.locator("input[type=file]").set_input_files(str(tmp_path / "photo.png"))
        expect(panel.get_by_role("link", name="Download photo.png")).to_be_visible()
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(
            panel.get_by_role("region", name="Result").locator("p", has_text=re.compile("^Dear Eva$"))
        ).to_be_visible()
        expect(panel.get_by_role("columnheader", name="letters")).to_be_visible()
        run = own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]
        given = own.get(f"/flow-runs/{run['id']}")["input"]
        assert (given["form_data"]["amount"], len(given["file_ids"])) == (3, 1)
        page.reload()
        again = panel_of(page, flow_id)
        again.get_by_role("button", name="Reuse last data").click()
        expect(again.get_by_role("textbox", name="Who ordered?")).to_have_value("Eva")
        expect(again.get_by_role("link", name="Download photo.png")).to_be_visible()

    def test_a_template_that_reads_a_file_is_given_one(self, page: Page, own: Studio) -> None:
        definition = own.get("/templates/csv-totals")["definition"]
        panel = panel_of(page, own.post("/flows", {"definition": definition})["id"])
        bill = FilePayload(name="bill.csv", mimeType="text/csv", buffer=b"category,amount\nfood,3\nfood,4\n")
        panel.get_by_label("Files", exact=True).set_input_files(bill)
        expect(panel.get_by_role("link", name="Download bill.csv")).to_be_visible()
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_text("Completed", exact=True).first).to_be_visible()

    def test_states_are_live_on_the_canvas_and_a_run_can_be_stopped(self, page: Page, own: Studio) -> None:
        flow_id = own.flow(FORM.replace("SECONDS", "60"))
        panel = panel_of(page, flow_id)
        fill(panel)
        panel.get_by_role("textbox", name="Who ordered?").press("Control+Enter")
        steps = panel.get_by_role("list", name="Steps")
        expect(steps.get_by_role("button", name=re.compile("Waiting.*Think about it"))).to_be_visible()
        thinking = page.locator(".react-flow__node", has_text="Think about it")
        expect(thinking.get_by_text("Waiting").first).to_be_visible()
        panel.get_by_role("button", name="Stop").click()
        expect(panel.get_by_text("Cancelled").first).to_be_visible()
        assert own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]["status"] == "cancelled"

    def test_a_look_ahead_says_what_would_run_in_words(self, page: Page, own: Studio) -> None:
        panel = panel_of(page, own.flow(BRIEF))
        panel.get_by_role("button", name="Dry run").click()
        ahead = page.get_by_role("dialog", name="What this run would do")
        expect(ahead.get_by_text("3 of 3 steps are certain to run")).to_be_visible()
        expect(ahead.get_by_text("calls openai/gpt-5-mini")).to_be_visible()
        expect(ahead.get_by_text("127.0.0.1").first).to_be_visible()

    def test_a_run_goes_on_over_a_lost_connection(
        self, page: Page, own: Studio, model: OpenAIServer, console: Console
    ) -> None:
        console.allow("ERR_INTERNET_DISCONNECTED")
        console.allow("ERR_NETWORK_CHANGED")
        held = Hold()
        says(model, model.held_text("Dear Åsa", held))
        flow_id = own.flow(BRIEF)
        panel = panel_of(page, flow_id)
        panel.get_by_role("button", name="Run", exact=True).click()
        steps = panel.get_by_role("list", name="Steps")
        expect(steps.get_by_role("button", name=re.compile("Running.*Summarise"))).to_be_visible()
        page.context.set_offline(True)
        expect(panel.get_by_text(re.compile("Connection lost"))).to_be_visible()
        held.release()
        until(lambda: own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]["status"], "completed")
        page.context.set_offline(False)
        expect(panel.get_by_role("region", name="Result").get_by_text("Dear Åsa", exact=True).first).to_be_visible()
        expect(panel.get_by_text(re.compile("Connection lost"))).to_be_hidden()


class TestChat:
    def test_answers_stream_and_the_chat_is_kept(self, page: Page, own: Studio, model: OpenAIServer) -> None:
        flow_id = own.flow(CHAT)
        piece, rest = Hold(), Hold()
        says(model, model.pieces("Good **mor", piece, "ning** to", rest, " you."), model.text("Fine."))
        panel = panel_of(page, flow_id)
        message = panel.get_by_role("textbox", name="Message")
        message.fill("Hello")
        message.press("Enter")
        expect(panel.get_by_text(re.compile(r"Good"))).to_be_visible()
        expect(panel.get_by_role("button", name="Stop")).to_be_visible()
        piece.release()
        expect(panel.locator("strong", has_text="morning")).to_be_visible()
        rest.release()
        expect(panel.get_by_role("button", name="Stop")).to_be_hidden()
        message.fill("How are you?")
        message.press("Enter")
        expect(panel.get_by_text("Fine.")).to_be_visible()
        page.reload()
        kept = panel_of(page, flow_id)
        expect(kept.get_by_text("How are you?")).to_be_visible()
        expect(kept.get_by_text("Fine.")).to_be_visible()
        kept.get_by_role("button", name="New chat").click()
        expect(kept.get_by_text("Talk to your flow")).to_be_visible()


class TestOneRun:
    def test_a_failed_step_says_why_and_goes_on_where_it_failed(
        self, page: Page, own: Studio, model: OpenAIServer
    ) -> None:
        flow_id = own.flow(BRIEF)
        says(model, model.wrong_key("Incorrect API key provided"))
        panel = panel_of(page, flow_id)
        panel.get_by_role("textbox", name="Text").fill("hello")
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_role("alert").first).to_contain_text("key")
        panel.get_by_role("link", name="Open the run").click()
        says(model, model.text("Short and sweet"))
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("Completed").first).to_be_visible()
        page.get_by_role("button", name=re.compile(r"Summarise\W+Completed")).click()
        expect(page).to_have_url(re.compile("step=brief"))
        step = page.get_by_role("complementary", name="Step")
        step.get_by_role("radio", name="Attempts").click()
        expect(step.get_by_text("Attempt 2")).to_be_visible()
        step.get_by_role("radio", name="Prompt").click()
        expect(step.get_by_text(re.compile("In three words: hello"))).to_be_visible()

    def test_a_step_alone_and_from_here_with_a_pinned_output(
        self, page: Page, own: Studio, model: OpenAIServer
    ) -> None:
        flow_id = own.flow(BRIEF)
        says(model, model.text("First words"))
        first = run_over(own, flow_id, text="hello")
        page.goto(f"/flows/{flow_id}/runs/{first['id']}?step=brief")
        step = page.get_by_role("complementary", name="Step")
        step.get_by_role("button", name="Pin", exact=True).click()
        expect(step.get_by_role("button", name="Unpin")).to_be_visible()
        step.get_by_role("button", name=re.compile("The result")).click()
        asked = len(model.asked)
        step.get_by_role("button", name="Run from here", exact=True).click()
        panel = page.get_by_role("complementary", name="Run", exact=True)
        expect(panel.get_by_text("From The result onwards, with pinned outputs")).to_be_visible()
        expect(panel.get_by_text("First words").first).to_be_visible()
        newest = own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]
        assert newest["part"] == {"only_step": None, "from_step": "out", "pinned": ["brief"]}
        assert len(model.asked) == asked
        page.goto(f"/flows/{flow_id}/runs/{first['id']}?step=brief")
        page.get_by_role("complementary", name="Step").get_by_role("button", name=re.compile("Summarise")).click()
        expect(page.get_by_role("button", name="Unpin")).to_be_visible()
        says(model, model.text("Other words"))
        page.get_by_role("button", name="Run this step", exact=True).click()
        expect(
            page.get_by_role("complementary", name="Run", exact=True).get_by_text("Other words").first
        ).to_be_visible()
        newest = own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]
        assert newest["part"] == {"only_step": "brief", "from_step": None, "pinned": []}
        assert "pin" not in json.dumps(own.get(f"/flows/{flow_id}")["definition"])

    def test_an_output_is_edited_and_used_in_place_of_the_step(
        self, page: Page, own: Studio, model: OpenAIServer, tmp_path: Path
    ) -> None:
        flow_id = own.flow(BRIEF)
        says(model, model.text("First words"))
        first = run_over(own, flow_id, text="hello")
        page.goto(f"/flows/{flow_id}/runs/{first['id']}?step=brief")
        step = page.get_by_role("complementary", name="Step")
        step.get_by_role("button", name="Edit", exact=True).click()
        dialog = page.get_by_role("dialog", name="Output of Summarise")
        text = dialog.locator(".cm-content").filter(has_text="First words").first
        text.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Words of mine")
        page.screenshot(path=str(tmp_path / "edit.png"))
        check_accessible(page)
        dialog.get_by_role("button", name="Pin changed output").click()
        expect(step.get_by_role("button", name="Unpin")).to_be_visible()
        step.get_by_role("button", name=re.compile("The result")).click()
        step.get_by_role("button", name="Run from here", exact=True).click()
        panel = page.get_by_role("complementary", name="Run", exact=True)
        expect(panel.get_by_text("Words of mine").first).to_be_visible()
        newest = own.get(f"/flow-runs?flow_id={flow_id}")["items"][0]
        assert newest["part"] == {"only_step": None, "from_step": "out", "pinned": ["brief"]}

    def test_history_timeline_rerun_with_its_price_and_compare(
        self, page: Page, own: Studio, model: OpenAIServer
    ) -> None:
        flow_id = own.flow(BRIEF)
        says(model, model.text("One two three", tokens=(1000, 1000)))
        first = run_over(own, flow_id, text="hello")
        page.goto(f"/flows/{flow_id}/runs")
        page.get_by_role("searchbox", name="Search in input and result").fill("nowhere")
        expect(page.get_by_text("No runs match")).to_be_visible()
        page.get_by_role("button", name="Clear filters").click()
        page.get_by_role("link", name=re.compile("One two three")).click()
        timeline = page.get_by_role("region", name="Timeline")
        timeline.get_by_role("button", name=re.compile(r"The text\W+Completed")).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("step=brief"))
        page.get_by_role("button", name="Rerun from here").click()
        rerun = page.get_by_role("dialog", name="Rerun")
        expect(rerun.get_by_text(re.compile(r"1 result is reused.*2 steps run again.*\$0\.00"))).to_be_visible()
        says(model, model.text("Four five six", tokens=(1000, 1000)))
        rerun.get_by_role("button", name="Rerun").click()
        expect(rerun).to_be_hidden()
        expect(page.get_by_text("Based on an earlier run")).to_be_visible()
        expect(page.get_by_text("Completed").first).to_be_visible()
        page.get_by_role("button", name="Compare with…").click()
        page.get_by_role("menuitem").first.click()
        compared = page.get_by_role("region", name="Comparing two runs")
        expect(compared.get_by_text("Same output")).to_be_visible()
        compared.get_by_role("button", name=re.compile("Summarise")).click()
        expect(compared.get_by_role("region", name=re.compile("Difference"))).to_contain_text("Four five six")
        expect(page).to_have_url(re.compile(f"compare={first['id']}"))


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_it(browser: Browser, own: Studio, console: Console, *, dark: bool) -> None:
    flow_id = own.flow(FORM.replace("SECONDS", "0"))
    run = run_over(own, flow_id, form_data={"name": "Eva"})
    with open_page(browser, own.url, console, dark=dark, narrow=dark) as page:
        for path in (f"/flows/{flow_id}/runs", f"/flows/{flow_id}/runs/{run['id']}?step=count"):
            page.goto(path)
            expect(page.get_by_text("Completed").first).to_be_visible()
            check_accessible(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"/flows/{flow_id}/runs")
        page.get_by_role("button", name="Run", exact=True).first.click()
        expect(page.get_by_role("complementary", name="Run", exact=True)).to_be_visible()
        check_accessible(page, within="aside")
    console.check()


def says(model: OpenAIServer, *answers: Any) -> None:
    """What the model answers from now on, the last again and again."""
    left = deque(answers)

    def next_answer(_asked: Asked) -> Any:
        found = left.popleft() if len(left) > 1 else left[0]
        return found if callable(found) else lambda _: found

    model.sort = next_answer
