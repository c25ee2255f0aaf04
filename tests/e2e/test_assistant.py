"""The assistant beside the canvas, played against the real server with a scripted model behind it.

Conversations are those of `tests/data/assistant_scenarios`; each test is named after the scenarios that it plays.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until
from tests.integration.agents.assistant.scenarios.model import Model, is_classification, speaking
from tests.integration.agents.assistant.scenarios.script import Answer, Intent, Said, Scenario, scenarios
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Hold, Script

KEY = "sk-test-0123456789abcdef"
PANEL = "section[aria-label=Assistant]"
ECHO = "name: Echo\nnodes:\n  ask: ChatInput\n  answer: ChatOutput\nedges:\n  ask.text -> answer.input\n"


@pytest.fixture
def model(studio: Studio) -> Iterator[Model]:
    """A scripted model that the studio is connected to while the test goes on."""
    with speaking("openai") as model:
        variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model.server.base_url}
        for name, value in variables.items():
            studio.api.put(f"/variables/{name}", json={"value": value}).raise_for_status()
        yield model
        for name in variables:
            studio.api.delete(f"/variables/{name}")


class Talk:
    """A conversation in an open flow."""

    def __init__(self, page: Page, studio: Studio, flow_id: str) -> None:
        self.page, self.studio, self.flow_id = page, studio, flow_id
        self.panel = page.get_by_role("region", name="Assistant", exact=True)
        self.field = page.get_by_role("combobox", name="Message to the assistant")

    def open(self) -> "Talk":
        self.page.goto(f"/flows/{self.flow_id}")
        self.page.get_by_role("button", name="Assistant").first.click()
        expect(self.field).to_be_focused()
        return self

    def say(self, text: str) -> None:
        self.field.fill(text)
        self.field.press("Enter")

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name, exact=True)

    def card(self, name: str) -> Locator:
        return self.panel.get_by_role("region", name=name)

    def answers(self) -> Locator:
        return self.panel.get_by_role("article", name="Assistant")

    def rest(self) -> None:
        """Wait until nothing is being worked on."""
        expect(self.button("Send")).to_be_visible()

    def draft(self) -> dict[str, Any]:
        found: dict[str, Any] = self.studio.get(f"/flows/{self.flow_id}")["definition"]
        return found

    def nodes(self) -> list[str]:
        """Ids of the nodes that the server has."""
        return [node["id"] for node in self.draft()["nodes"]]

    def expect_nodes(self, *ids: str) -> None:
        """The server has these nodes, at once or when the draft is saved."""
        until(self.nodes, list(ids))


@pytest.fixture
def begin(page: Page, studio: Studio) -> Callable[..., Talk]:
    """Opens a new flow with the assistant; of spec text, or empty."""

    def begin(spec: str = "", at: Page = page) -> Talk:
        flow = studio.flow(spec) if spec else studio.post("/flows", {"definition": {"name": "New"}})["id"]
        return Talk(at, studio, flow).open()

    return begin


def scenario(name: str) -> Scenario:
    return next(one for one in scenarios() if one.name == name)


def play(talk: Talk, model: Model, said: Said) -> None:
    """Say one turn of a scenario, and wait for its end."""
    prepare(model, said)
    before = talk.answers().count()
    talk.say(said.user)
    expect(talk.answers()).to_have_count(before + 1)
    talk.rest()


def prepare(model: Model, said: Said) -> None:
    model.begin(said.intent if isinstance(said.intent, Intent) else Intent(intent=said.intent), said.model)


def turns(name: str) -> list[Said]:
    return [turn for turn in scenario(name).turns if isinstance(turn, Said)]


class TestProposals:
    def test_build_a_new_flow_on_an_empty_canvas_gated_continue_applies_it(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        play(talk, model, turns("Build a new flow on an empty canvas (gated)")[0])
        card = talk.card("Proposed flow")
        expect(card.get_by_role("img", name="Diagram of the proposed flow Chatbot")).to_be_visible()
        assert talk.nodes() == []
        talk.button("Add").click()
        expect(card.get_by_text("Added", exact=True)).to_be_visible()
        expect(card.get_by_text("Added to the canvas: 2 steps, 1 connection.")).to_be_visible()
        talk.expect_nodes("heard", "said")
        expect(talk.button("Add again")).to_be_visible()  # three seconds later it can be taken again
        talk.field.press("Escape")
        expect(talk.panel).to_be_hidden()
        talk.page.keyboard.press("Control+z")
        talk.expect_nodes()

    def test_dismiss_discards_the_proposed_flow_and_the_next_request_dismisses_what_waits(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        first, second = turns("Pending proposal is auto-dismissed on next send")
        play(talk, model, first)
        expect(talk.button("Add")).to_be_visible()
        play(talk, model, second)
        expect(talk.card("Proposed flow")).to_have_count(2)
        expect(talk.button("Add")).to_have_count(1)
        talk.button("Dismiss").click()
        expect(talk.card("Proposed flow").get_by_text("Dismissed", exact=True)).to_have_count(2)
        assert talk.nodes() == []

    def test_build_plus_run_lands_on_the_canvas_regardless_of_how_the_user_phrased_it(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        play(talk, model, turns("Build + run lands on the canvas regardless of how the user phrased it")[0])
        expect(talk.panel.get_by_text("Ele disse olá.")).to_be_visible()
        expect(talk.card("Proposed flow")).to_have_count(0)
        expect(talk.card("Run").get_by_text("Completed").first).to_be_visible()
        talk.rest()
        talk.expect_nodes("heard", "said")
        expect(talk.page.get_by_text("Saved", exact=True)).to_be_visible()


class TestPlans:
    def test_plan_proposal_dismiss_is_refining_reset_closes_it_continue_resumes_the_build(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        plan, approval = turns("Plan proposal — Continue resumes the build")
        play(talk, model, plan)
        talk.card("Plan").get_by_role("button", name="Dismiss").click()
        expect(talk.card("Refining the plan")).to_be_visible()
        expect(talk.field).to_have_attribute("placeholder", "Describe what to change…")
        talk.button("Reset").click()
        expect(talk.card("Plan").get_by_text("Dismissed")).to_be_visible()
        play(talk, model, plan)
        prepare(model, approval)
        talk.button("Continue").click()
        expect(talk.card("Proposed flow")).to_be_visible()
        expect(talk.panel.get_by_text("The plan is approved. Build it.")).to_be_visible()

    def test_refining_the_next_message_carries_the_dismissed_plan_and_the_agent_replans(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        plan, refined = turns("Refining — next user message prepends dismissed plan as quoted context")
        play(talk, model, plan)
        talk.card("Plan").get_by_role("button", name="Dismiss").click()
        prepare(model, refined)
        talk.say("use Claude instead of GPT")
        expect(talk.card("Plan").last.get_by_text("Use Claude")).to_be_visible()
        sent = str(model.asked[-1].body)
        assert all(text in sent for text in ("[Previous plan you proposed", "Use GPT", "User refinement:"))
        expect(talk.panel.get_by_role("article", name="You").last).to_have_text("use Claude instead of GPT")

    def test_skip_all_hides_the_plan_card_reuses_one_message_slot_and_applies_set_flow_directly(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        talk.say("/skip-all")
        expect(talk.panel.get_by_text("Skip-all", exact=True)).to_be_visible()
        plan, approval = turns("Plan proposal — Continue resumes the build")
        model.begin(Intent(intent="build_flow"), [*plan.model, *approval.model])
        talk.say(plan.user)
        expect(talk.answers()).to_have_count(1)
        expect(talk.panel.get_by_text("Built.")).to_be_visible()
        expect(talk.answers()).to_have_count(1)
        expect(talk.card("Plan")).to_have_count(0)
        expect(talk.card("Proposed flow")).to_have_count(0)
        talk.expect_nodes("page", "said")
        talk.page.reload()
        expect(talk.panel.get_by_text("Skip-all", exact=True)).to_be_hidden()
        talk.open()
        expect(talk.panel.get_by_text("Skip-all", exact=True)).to_be_visible()
        expect(talk.panel.get_by_text("Built.")).to_be_visible()


class TestEdits:
    def test_inline_build_tasks_for_live_canvas_mutations_are_one_step_to_undo(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin(ECHO)
        play(talk, model, turns("Inline build tasks for live canvas mutations")[0])
        expect(talk.panel.get_by_text("Done.")).to_be_visible()
        tasks = talk.panel.get_by_role("list", name="Changes made").get_by_role("listitem")
        expect(tasks).to_have_text(
            [
                "Disconnected ask → answer",
                re.compile("Added Agent", re.IGNORECASE),
                "Connected ask → agent",
                "Connected agent → answer",
                re.compile("Set model, instructions of agent|Set instructions, model of agent"),
            ]
        )
        talk.expect_nodes("ask", "answer", "agent")
        talk.field.press("Escape")
        talk.page.keyboard.press("Control+z")
        talk.expect_nodes("ask", "answer")

    def test_live_edits_are_on_the_canvas_with_a_line_each_while_the_turn_goes_on(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        """Settings of one step that change twice are one line of the checklist."""
        talk, hold = begin(ECHO), Hold()
        asked = turns("Inline build tasks for live canvas mutations")[0]
        calls = [answer for answer in asked.model if answer.call]
        again = Answer(call="configure_component", given={"node_id": "agent", "params": {"instructions": "Be kind."}})
        model.begin(Intent(intent="build_flow"), [*calls, again])
        server, scripted = model.server, model.server.sort
        assert isinstance(server, OpenAIServer)
        assert scripted is not None

        def held_at_the_end(request: Asked) -> Script | None:
            if model.left or is_classification(request):
                return scripted(request)
            return server.held_text("Done.", hold)

        server.sort = held_at_the_end
        try:
            talk.say(asked.user)
            tasks = talk.panel.get_by_role("list", name="Changes made").get_by_role("listitem")
            expect(tasks).to_have_count(5)
            expect(tasks.last).to_have_text(re.compile("Set (model, instructions|instructions, model) of agent"))
            talk.page.get_by_role("button", name="Fit to window").click()  # nodes out of sight are not drawn
            expect(talk.page.locator(".react-flow__node")).to_have_count(3)
            expect(talk.button("Stop")).to_be_visible()
            expect(talk.panel.get_by_text("Done.")).to_have_count(0)
        finally:
            hold.release()
        talk.rest()
        expect(talk.panel.get_by_text("Done.")).to_be_visible()
        expect(tasks).to_have_count(5)
        talk.expect_nodes("ask", "answer", "agent")
        assert talk.draft()["nodes"][-1]["params"]["instructions"] == "Be kind."
        places = [talk.page.locator(f'.react-flow__node[data-id="{name}"]') for name in ("ask", "agent", "answer")]
        for place in places:
            expect(place).to_be_in_viewport()
        from_left = {one["id"]: one["position"]["x"] for one in talk.draft()["nodes"]}
        assert sorted(from_left, key=from_left.__getitem__) == ["ask", "agent", "answer"]

    def test_edit_and_run_continuation_approve_edits_flow_runs_in_the_same_request(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        name = "Edit + run continuation — approve edits, flow runs in the same request, no duplicate message"
        talk = begin(scenario(name).canvas)
        asked, going_on = turns(name)
        play(talk, model, asked)
        expect(talk.card("Proposed edits").get_by_text("The rest of your request continues")).to_be_visible()
        prepare(model, going_on)
        talk.button("Accept").click()
        expect(talk.panel.get_by_text("It said new.")).to_be_visible()
        expect(talk.answers()).to_have_count(1)
        expect(talk.card("Run").get_by_text("Completed").first).to_be_visible()
        assert talk.draft()["nodes"][0]["params"] == {"text": "new"}


class TestCards:
    def test_a_written_file_opens_without_a_request_and_downloads_as_a_blob(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin(ECHO)
        play(talk, model, turns("Create a documentation file (manage_files intent)")[0])
        expect(talk.button("Open")).to_be_visible()
        talk.rest()
        asked: list[str] = []
        talk.page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
        talk.button("Open").click()
        dialog = talk.page.get_by_role("dialog", name="FLOW_DOCS.md")
        expect(dialog.get_by_text("Repeats.")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        with talk.page.expect_download() as download:
            talk.button("Download").click()
        assert download.value.path().read_text() == "# Echo\n\nRepeats.\n"
        assert [url for url in asked if "files" in url or "workspace" in url] == []

    def test_a_component_has_its_code_and_goes_to_the_canvas(self, begin: Callable[..., Talk], model: Model) -> None:
        talk = begin()
        play(talk, model, turns("User Component — auto-register after generation passes Layer-2")[0])
        card = talk.card("Component SumComponent")
        expect(card.get_by_text("Passed its checks")).to_be_visible()
        expect(card.get_by_text("class SumComponent")).to_be_visible()
        expect(card.get_by_role("region", name="What it can access")).to_contain_text("None: no network access")
        card.get_by_role("button", name="Save component").click()
        card.get_by_role("button", name="Add to the canvas").click()
        expect(card.get_by_text("On the canvas")).to_be_visible()
        talk.expect_nodes("sum_component")
        expect(talk.panel.get_by_role("note", name="Tokens and duration of this answer")).to_contain_text("tokens")

    def test_a_failure_says_what_and_what_to_do_and_a_turn_can_be_stopped(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        model.begin(Intent(intent="build_flow"), [Answer(fault="wrong_key", always=True)])
        talk.say("build an echo")
        expect(talk.panel.get_by_role("alert")).to_contain_text("Incorrect API key provided.")
        model.begin(Intent(intent="build_flow"), [Answer(fault="hangs", always=True)])
        talk.say("build an echo again")
        expect(talk.panel.get_by_text("Generating flow…")).to_be_visible()
        talk.button("Stop").click()
        expect(talk.panel.get_by_text("Stopped. Changes made so far can be undone.")).to_be_visible()
        talk.rest()


class TestInput:
    def test_input_history_and_mentions_by_keyboard(self, begin: Callable[..., Talk], model: Model) -> None:
        talk = begin(ECHO)
        play(talk, model, turns("Current flow context is injected into the prompt")[0])
        expect(talk.panel.get_by_text("Three steps.")).to_be_visible()
        talk.rest()
        talk.field.press("ArrowUp")
        expect(talk.field).to_have_value("what is there?")
        talk.field.press("ArrowDown")
        expect(talk.field).to_have_value("")
        talk.field.press_sequentially("explain @an")
        talk.field.press("Enter")
        talk.field.press_sequentially(".")
        expect(talk.page.get_by_role("listbox", name="Fields of answer")).to_be_visible()
        talk.field.press("Tab")
        expect(talk.field).to_have_value(re.compile(r"^explain 'answer\.\w+' $"))

    def test_input_history_degrades_gracefully_where_the_browser_stores_nothing(
        self, begin: Callable[..., Talk], model: Model, page: Page
    ) -> None:
        page.add_init_script(
            "const refuse = () => { throw new DOMException('no', 'SecurityError') };"
            "Storage.prototype.setItem = refuse; Storage.prototype.getItem = refuse;"
        )
        talk = begin()
        play(talk, model, turns("Off-topic and Q&A intents bypass the flow builder entirely (question)")[0])
        expect(talk.panel.get_by_text("With the WebhookOut component.")).to_be_visible()

    def test_ten_saved_sessions_come_back_and_a_new_one_resets_the_server(
        self, begin: Callable[..., Talk], model: Model
    ) -> None:
        talk = begin()
        question = turns("Off-topic and Q&A intents bypass the flow builder entirely (question)")[0]
        play(talk, model, question)
        expect(talk.panel.get_by_text("With the WebhookOut component.")).to_be_visible()
        talk.rest()
        with talk.page.expect_response(re.compile("/sessions/reset")) as reset:
            talk.button("New conversation").click()
        assert reset.value.ok
        expect(talk.panel.get_by_text("What should this flow do?")).to_be_visible()
        talk.button("Earlier conversations").click()
        talk.page.get_by_role("button", name=re.compile("^how does Headgate integrate")).click()
        expect(talk.panel.get_by_text("With the WebhookOut component.")).to_be_visible()


class TestOffline:
    def test_without_a_model_a_sentence_is_built_added_and_run(
        self, begin: Callable[..., Talk], browser: Browser, studio: Studio, console: Console
    ) -> None:
        talk = begin()
        expect(talk.panel.get_by_text("No language model is connected")).to_be_visible()
        check_accessible(talk.page, within=PANEL)
        talk.say("build an echo flow")
        talk.button("Add").click()
        expect(talk.card("Proposed flow").get_by_text("Added", exact=True)).to_be_visible()
        check_accessible(talk.page, within=PANEL)
        talk.say("run it with the text hej")
        expect(talk.card("Run").get_by_text("Completed").first).to_be_visible()
        talk.rest()
        with open_page(browser, studio.url, console, dark=True, narrow=True) as phone:
            small = Talk(phone, studio, talk.flow_id).open()
            expect(small.button("Connect a model")).to_be_visible()
            check_accessible(phone, within=PANEL)
            box = small.panel.bounding_box()
            assert box is not None
            assert (round(box["x"]), round(box["width"])) == (0, 390)  # a sheet from edge to edge
