"""What a person does on the canvas: with the mouse, with keys alone, on a telephone."""

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

ECHO = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.text -> said.input
"""
LOOSE = json.dumps(
    {
        "headgate_flow": 1,
        "name": "Loose",
        "nodes": [
            {"id": "heard", "type": "ChatInput", "position": {"x": 0, "y": 60}},
            {"id": "sums", "type": "Calculator", "position": {"x": 420, "y": 0}},
            {"id": "files", "type": "ReadFile", "position": {"x": 420, "y": 260}},
            {"id": "said", "type": "ChatOutput", "position": {"x": 840, "y": 100}},
        ],
    }
)


LONG = """name: Long
nodes:
  heard: ChatInput
  first: PromptTemplate
    template: "{{heard.text}} 1"
  second: PromptTemplate
    template: "{{first.text}} 2"
  third: PromptTemplate
    template: "{{second.text}} 3"
  fourth: PromptTemplate
    template: "{{third.text}} 4"
  said: ChatOutput
edges:
  fourth.text -> said.input
"""

PLACES = "() => [...document.querySelectorAll('.react-flow__node')].map(one => one.style.transform).join()"


def opened(page: Page, studio: Studio, spec: str = ECHO) -> str:
    """Open a new flow on the canvas; its id."""
    flow = studio.flow(spec)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"/flows/{flow}")
    expect(node(page, "heard")).to_be_visible()
    settled(page)
    return flow


def settled(page: Page) -> None:
    """Wait until the view rests: it follows what is drawn beside it, and a slow machine draws late."""
    page.wait_for_function(
        """() => new Promise((done) => {
          const view = () => document.querySelector(".react-flow__viewport").style.transform;
          const seen = view();
          setTimeout(() => done(view() === seen), 250);
        })"""
    )


def node(page: Page, name: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{name}"]')


def port(page: Page, name: str, side: str, which: str) -> Locator:
    return node(page, name).locator(f'.{side}[data-handleid="{which}"]')


def edges(page: Page) -> Locator:
    return page.locator(".react-flow__edge")


def drag(page: Page, source: Locator, x: float, y: float, *, drop: bool = True) -> None:
    box = source.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2)
    page.mouse.move(x - 12, y - 6, steps=4)
    page.mouse.move(x, y, steps=2)
    if drop:
        page.mouse.up()


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class TestConnecting:
    def test_shows_what_fits_while_an_edge_is_drawn_and_takes_it(self, page: Page, studio: Studio) -> None:
        opened(page, studio, LOOSE)
        x, y = middle(port(page, "said", "target", "input"))
        drag(page, port(page, "heard", "source", "text"), x, y, drop=False)
        expect(port(page, "said", "target", "input")).to_have_attribute("data-fit", "fits")
        expect(port(page, "sums", "target", "expression")).to_have_attribute("data-fit", "fits")
        expect(port(page, "files", "target", "file")).to_have_attribute("data-fit", "no")
        page.mouse.up()
        expect(edges(page)).to_have_count(1)
        expect(port(page, "files", "target", "file")).to_have_attribute("data-fit", "idle")

    def test_refuses_what_does_not_fit(self, page: Page, studio: Studio) -> None:
        opened(page, studio, LOOSE)
        drag(page, port(page, "heard", "source", "text"), *middle(port(page, "files", "target", "file")))
        expect(port(page, "files", "target", "file")).to_have_attribute("data-fit", "idle")
        expect(edges(page)).to_have_count(0)

    def test_asks_what_fits_where_it_is_dropped_on_nothing(self, page: Page, studio: Studio) -> None:
        opened(page, studio)
        x, y = middle(node(page, "heard"))
        drag(page, port(page, "heard", "source", "text"), x + 60, y + 230)
        menu = page.get_by_role("dialog", name="Compatible nodes")
        expect(menu.get_by_role("option", name="Split text")).to_be_visible()
        expect(menu.get_by_role("option", name="Read file")).to_have_count(0)
        page.keyboard.type("splt")
        page.keyboard.press("Enter")
        expect(node(page, "split_text")).to_be_visible()
        expect(edges(page)).to_have_count(2)
        page.keyboard.press("Control+z")
        expect(edges(page)).to_have_count(1)
        expect(node(page, "split_text")).to_have_count(0)

    def test_puts_a_node_into_an_edge(self, page: Page, studio: Studio) -> None:
        opened(page, studio)
        edges(page).first.focus()
        edges(page).first.dispatch_event("click")
        page.get_by_role("button", name="Insert a node").click()
        page.keyboard.type("combine")
        page.keyboard.press("Enter")
        expect(node(page, "combine_text")).to_be_visible()
        expect(edges(page)).to_have_count(2)


class TestKeyboard:
    def test_builds_a_flow_without_a_mouse(self, page: Page, studio: Studio) -> None:
        """Keyboard only (seed 001): add two nodes, connect them, rename, move, delete and take back."""
        flow = studio.post("/flows", {"name": "Typed"})["id"]
        page.goto(f"/flows/{flow}")
        expect(page.get_by_role("heading", name="What should this flow do?")).to_be_visible()
        for wanted in ("chat input", "chat output"):
            page.keyboard.press("n")
            page.keyboard.type(wanted)
            page.keyboard.press("Enter")
        expect(page.locator(".react-flow__node")).to_have_count(2)
        expect(edges(page)).to_have_count(1)  # what is added leads on from the selected node
        edges(page).first.focus()
        edges(page).first.dispatch_event("click")
        page.keyboard.press("Delete")
        expect(edges(page)).to_have_count(0)
        page.locator(".react-flow__node").first.focus()
        page.keyboard.press("Shift+Tab")
        page.locator(".react-flow__node").last.focus()
        page.keyboard.press("Shift+Tab")
        expect(node(page, "chat_input")).to_be_focused()
        page.keyboard.press("c")
        page.keyboard.type("text")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog", name="Choose an input")).to_be_visible()
        page.keyboard.press("Enter")
        expect(edges(page)).to_have_count(1)
        expect(node(page, "chat_input")).to_be_focused()
        page.keyboard.press("F2")
        page.keyboard.type("Question")
        page.keyboard.press("Enter")
        expect(node(page, "chat_input")).to_contain_text("Question")
        before = middle(node(page, "chat_input"))
        page.keyboard.press("Shift+ArrowDown")
        assert middle(node(page, "chat_input"))[1] > before[1]
        page.keyboard.press("Delete")
        expect(node(page, "chat_input")).to_have_count(0)
        page.keyboard.press("Control+z")
        expect(node(page, "chat_input")).to_contain_text("Question")
        expect(edges(page)).to_have_count(1)

    def test_finds_a_node_by_its_name(self, page: Page, studio: Studio) -> None:
        opened(page, studio)
        page.keyboard.press("Control+f")
        page.keyboard.type("outptu")
        page.keyboard.press("Enter")
        expect(node(page, "said")).to_be_focused()


class TestOrder:
    def test_copies_to_another_flow(self, page: Page, studio: Studio) -> None:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened(page, studio)
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+c")
        page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('headgate')")
        opened(page, studio, LOOSE)
        page.keyboard.press("Control+v")
        expect(page.locator(".react-flow__node")).to_have_count(6)
        expect(edges(page)).to_have_count(1)
        page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps({"nodes": [{"id": "<b>"}]}))
        page.keyboard.press("Control+v")
        expect(page.get_by_text("Nothing to paste", exact=True).first).to_be_visible()
        expect(page.locator(".react-flow__node")).to_have_count(6)

    @pytest.mark.parametrize("clipboard", ["refused", "missing"])
    def test_copies_where_the_browser_gives_no_clipboard(self, page: Page, studio: Studio, clipboard: str) -> None:
        if clipboard == "missing":  # a page of plain http
            page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        opened(page, studio)
        page.keyboard.press("Control+v")
        expect(page.get_by_text("The browser blocks access to the clipboard").first).to_be_visible()
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+c")
        page.keyboard.press("Control+v")
        expect(page.locator(".react-flow__node")).to_have_count(4)
        page.keyboard.press("Control+x")
        expect(page.locator(".react-flow__node")).to_have_count(2)

    def test_groups_aligns_notes_and_tidies_up(self, page: Page, studio: Studio) -> None:
        opened(page, studio, LOOSE)
        page.keyboard.press("Control+a")
        node(page, "said").click(button="right", position={"x": 100, "y": 20})
        page.get_by_role("menuitem", name="Align left").click()
        expect(page.get_by_role("menu")).to_have_count(0)
        lefts = {round(middle(node(page, one))[0]) for one in ("heard", "sums", "said")}
        assert len(lefts) == 1
        before = page.evaluate(PLACES)
        page.keyboard.press("Shift+l")
        page.wait_for_function(f"before => ({PLACES})() !== before", arg=before)
        settled(page)
        page.keyboard.press("Control+a")
        page.keyboard.press("Control+g")
        expect(node(page, "group")).to_be_visible()
        settled(page)
        grip = node(page, "group").locator(".group-grip")
        start, (x, y) = middle(node(page, "sums")), middle(grip)
        drag(page, grip, x + 90, y + 40)
        settled(page)
        carried, (far, _) = middle(node(page, "sums")), middle(grip)
        assert far - x > 40
        assert carried[0] - start[0] == pytest.approx(far - x, abs=1)
        page.keyboard.press("Control+z")
        expect(page.get_by_role("button", name="Redo").first).to_be_enabled()
        page.wait_for_function(
            """x => {
              const box = document.querySelector('.react-flow__node[data-id="sums"]').getBoundingClientRect();
              return Math.abs(box.x + box.width / 2 - x) <= 1;
            }""",
            arg=start[0],
        )
        page.keyboard.press("Shift+n")
        expect(node(page, "note")).to_be_visible()

    def test_makes_room_for_a_thousand_nodes(self, page: Page, studio: Studio) -> None:
        nodes = [
            {"id": f"n{n}", "type": "TextInput", "position": {"x": n % 40 * 380, "y": n // 40 * 300}}
            for n in range(1000)
        ]
        content = json.dumps({"headgate_flow": 1, "name": "Large", "nodes": nodes, "edges": []})
        flow = studio.post("/flows/import", {"content": content})["id"]
        page.goto(f"/flows/{flow}")
        picture = page.get_by_role("img", name=re.compile("1000 nodes"))
        expect(picture).to_be_visible()
        expect(page.locator(".react-flow__node")).to_have_count(0)
        x, y = middle(picture)
        page.mouse.dblclick(x, y)
        expect(page.locator(".react-flow__node").first).to_be_visible()
        assert page.locator(".react-flow__node").count() < 60


class TestPinning:
    def test_runs_from_a_node_with_an_output_that_was_pinned(self, page: Page, studio: Studio) -> None:
        flow = opened(page, studio)
        header = page.locator("header").first
        header.get_by_role("button", name="Run", exact=True).click()
        run = page.get_by_role("complementary", name="Run", exact=True)
        run.get_by_role("textbox").first.fill("kept words")
        run.get_by_role("button", name="Send").click()
        expect(run.get_by_text("kept words")).to_have_count(2)
        node(page, "heard").click(button="right", position={"x": 100, "y": 20})
        page.get_by_role("menuitem", name="Pin output").click()
        expect(node(page, "heard").get_by_role("img", name="Pinned")).to_be_visible()
        node(page, "said").click(button="right", position={"x": 100, "y": 20})
        page.get_by_role("menuitem", name="Run from here").click()
        expect(run.get_by_text(re.compile("pinned output")).first).to_be_visible()

        def newest() -> object:
            run = studio.get(f"/flow-runs?flow_id={flow}")["items"][0]
            return run["part"], run["status"]

        until(newest, ({"only_step": None, "from_step": "said", "pinned": ["heard"]}, "completed"))


class TestBeside:
    def test_one_panel_at_a_time_and_a_way_back(self, page: Page, studio: Studio) -> None:
        opened(page, studio)
        inspector = page.get_by_role("complementary", name="Inspector")
        run = page.get_by_role("complementary", name="Run", exact=True)
        expect(inspector).to_have_count(0)
        node(page, "heard").click(position={"x": 100, "y": 20})
        expect(inspector).to_be_visible()
        page.locator("header").first.get_by_role("button", name="Run", exact=True).click()
        expect(run).to_be_visible()
        expect(inspector).to_have_count(0)
        page.get_by_role("tab", name="Inspector").click()
        expect(inspector).to_be_visible()
        expect(run).to_have_count(0)
        page.get_by_role("link", name="Publish").click()
        expect(page.get_by_role("heading", name="Versions", exact=True)).to_be_visible()
        expect(inspector.or_(run)).to_have_count(0)

    def test_keeps_the_whole_flow_in_view_when_a_panel_opens(self, page: Page, studio: Studio) -> None:
        page.set_viewport_size({"width": 1280, "height": 720})
        opened(page, studio, LONG)
        for role, panel in (("aside", "Run"), ("section", "Assistant")):
            page.locator("header").first.get_by_role("button", name=panel, exact=True).click()
            beside = page.locator(f"{role}[aria-label={panel}]")
            expect(beside).to_be_visible()
            settled(page)
            column = beside.bounding_box()
            last = node(page, "said").bounding_box()
            assert column is not None
            assert last is not None
            assert last["x"] + last["width"] <= column["x"]
            expect(node(page, "heard")).to_be_in_viewport(ratio=0.99)

    def test_the_assistant_is_docked_and_can_float(self, page: Page, studio: Studio) -> None:
        opened(page, studio)
        page.locator("header").first.get_by_role("button", name="Assistant", exact=True).click()
        assistant = page.get_by_role("region", name="Assistant", exact=True)
        docked = assistant.bounding_box()
        canvas = page.locator(".react-flow").bounding_box()
        assert docked is not None
        assert canvas is not None
        assert canvas["x"] + canvas["width"] <= docked["x"] + 1
        assistant.get_by_role("button", name="Undock").click()
        settled(page)
        floating = assistant.bounding_box()
        assert floating is not None
        assert floating["y"] > docked["y"]

    def test_shows_what_was_pasted_out_of_sight(self, page: Page, studio: Studio) -> None:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened(page, studio)
        far = {
            "headgate_flow": 1,
            "nodes": [{"id": f"n{n}", "type": "Calculator", "position": {"x": n * 900, "y": 0}} for n in range(4)],
        }
        page.evaluate("text => navigator.clipboard.writeText(text)", json.dumps(far))
        page.keyboard.press("Control+v")
        expect(page.locator(".react-flow__node")).to_have_count(6)
        canvas = page.locator(".react-flow").bounding_box()
        assert canvas is not None
        expect(node(page, "calculator_4").or_(node(page, "n3"))).to_be_in_viewport(ratio=1)


class TestPage:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_can_be_used_by_everybody(self, browser: Browser, studio: Studio, dark: bool) -> None:
        console = Console()
        with open_page(browser, studio.url, console, dark=dark, reduced_motion="reduce") as page:
            opened(page, studio)
            node(page, "heard").click(position={"x": 100, "y": 20})
            check_accessible(page, within="section[aria-label=Canvas]")
            check_accessible(page, within="section[aria-label=Components]")
        console.check()

    def test_works_on_a_narrow_screen(self, browser: Browser, studio: Studio) -> None:
        console = Console()
        with open_page(browser, studio.url, console, narrow=True) as page:
            opened(page, studio)
            page.get_by_role("button", name="Add node").click()
            sheet = page.get_by_role("dialog", name="Components")
            sheet.get_by_role("searchbox", name="Search components").fill("calcul")
            sheet.get_by_role("button", name="Calculator").click()
            expect(node(page, "calculator")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        console.check()
