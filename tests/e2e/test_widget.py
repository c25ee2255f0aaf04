"""A published flow on a page of somebody else: really another origin, really a sandboxed frame."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, FrameLocator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.support.web_server import WebServer, answer, web_server

FORM = [
    {"id": "who", "label": "Your name", "required": True},
    {"id": "many", "label": "How many", "type": "number"},
    {"id": "which", "label": "Which", "type": "select", "options": ["Red", "Blue"]},
    {"id": "photo", "label": "A photo", "type": "image"},
    {"id": "sound", "label": "A sound", "type": "audio"},
    {"id": "paper", "label": "A paper", "type": "document"},
    {"id": "any", "label": "Any file", "type": "file"},
]
THANKS = "# Thanks {{flow_input.who}}\n\n- [a link](https://example.org)\n- <img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def outside() -> Iterator[WebServer]:
    """Another site, on a port of its own."""
    started, found, loop = threading.Event(), [], asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with web_server() as server:
            found.append(server)
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    started.wait(10)
    yield found[0]
    loop.call_soon_threadsafe(over.set)
    thread.join(10)
    loop.close()


Embed = Callable[..., str]


@pytest.fixture
def embed(studio: Studio, outside: WebServer) -> Embed:
    """Publish a flow with a widget and put it on a page outside; the page's address."""

    def made(kind: str, *, origins: list[str] | None = None, more: str = "", **widget: Any) -> str:
        first: dict[str, Any] = {"id": "heard", "type": "ChatInput"}
        if kind == "form":
            first = {"id": "heard", "type": "TextInput", "params": {"text": THANKS}}
        allowed = [outside.origin] if origins is None else origins
        settings = {"widget": {"enabled": True, "kind": kind, "title": "Ask us", "origins": allowed, **widget}}
        definition = {
            "name": "Outside",
            "nodes": [first, {"id": "said", "type": "ChatOutput"}],
            "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
            "form": FORM if kind == "form" else [],
            "settings": settings,
        }
        flow_id = studio.post("/flows", {"definition": definition})["id"]
        studio.post(f"/flows/{flow_id}/publish", {})
        line = f'<script src="{studio.url}/widget.js" data-flow="{flow_id}" {more} async></script>'
        body = f"<!doctype html><html lang=en><title>Other</title><main><h1>Other site</h1>{line}</main></html>"
        outside.on(f"/{flow_id}", answer(200, body, content_type="text/html; charset=utf-8"))
        outside.on("/favicon.ico", answer(204))
        return outside.url(f"/{flow_id}")

    return made


@pytest.fixture
def page(browser: Browser, studio: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, studio.url, console) as page:
        yield page
    console.check()


def frame_of(page: Page) -> FrameLocator:
    return page.frame_locator("iframe")


def wait_until_whole(page: Page) -> None:
    """Wait until the frame is as high as what it holds, so that nothing in it moves under the pointer."""
    height = frame_of(page).locator("main").evaluate("element => element.offsetHeight")
    expect(page.locator("iframe")).to_have_css("height", f"{height}px")


class TestForm:
    def test_is_filled_in_on_another_site(self, page: Page, embed: Embed) -> None:
        page.goto(embed("form", welcome_text="Write **here**.", color="#ffe600"))
        frame = frame_of(page)
        frame.get_by_role("button", name="Send").click()
        expect(frame.get_by_role("alert").filter(has_text="Answer this first.")).to_be_visible()
        frame.get_by_label("Your name").fill("Åsa")
        frame.get_by_label("How many").fill("3")
        frame.get_by_label("Which").select_option("Blue")
        photo: FilePayload = {"name": "p.png", "mimeType": "image/png", "buffer": b"\x89PNG"}
        frame.get_by_label("A photo").set_input_files(photo)
        expect(frame.get_by_text("p.png")).to_be_visible()
        wait_until_whole(page)
        frame.get_by_role("button", name="Send").click()
        expect(frame.get_by_role("heading", name="Thanks Åsa")).to_be_visible()
        expect(frame.get_by_role("link", name="a link")).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(frame.locator("img")).to_have_count(0)

    def test_cannot_touch_the_page_around_it(self, page: Page, embed: Embed) -> None:
        page.goto(embed("form"))
        expect(frame_of(page).get_by_label("Your name")).to_be_visible()
        inner = next(one for one in page.frames if one != page.main_frame)
        assert inner.evaluate("origin") == "null"
        with pytest.raises(Exception, match=r"cookie|SecurityError|sandboxed"):
            inner.evaluate("document.cookie")
        with pytest.raises(Exception, match="SecurityError"):
            page.evaluate("frames[0].document.body")
        assert page.frame_locator("iframe").owner.get_attribute("sandbox") == (
            "allow-scripts allow-forms allow-downloads"
        )


class TestChat:
    def test_opens_from_a_button_and_answers(self, page: Page, embed: Embed) -> None:
        page.goto(embed("chat", more='data-place="corner" data-label="Chat with us" data-color="#ffe600"'))
        expect(page.get_by_role("button", name="Chat with us")).to_have_css("color", "rgb(0, 0, 0)")
        page.get_by_role("button", name="Chat with us").click()
        frame = frame_of(page)
        frame.get_by_label("Message").fill("hello **you**")
        page.keyboard.press("Enter")
        expect(frame.get_by_role("log").locator("strong", has_text="you")).to_be_visible()
        frame.get_by_label("Message").fill("again")
        page.keyboard.press("Enter")
        expect(frame.get_by_role("log").get_by_text("again")).to_have_count(2)
        frame.get_by_role("button", name="Not helpful").last.click()
        frame.get_by_label("What would be a correct answer? (optional)").last.fill("never")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(frame.get_by_text("Thank you for your feedback.")).to_be_visible()
        expect(frame.get_by_label("What would be a correct answer? (optional)")).to_have_count(2)
        expect(frame.get_by_label("What would be a correct answer? (optional)").last).to_be_hidden()
        page.get_by_role("button", name="Chat with us").press("Escape")
        expect(page.locator("iframe")).to_be_hidden()


class TestOffered:
    def test_not_on_pages_that_are_not_allowed(self, page: Page, embed: Embed, console: Console) -> None:
        console.allow("frame-ancestors")
        console.allow("Refused to frame")
        console.allow("Framing")
        page.goto(embed("form", origins=["https://www.example.org"]))
        expect(page.get_by_role("heading", name="Other site")).to_be_visible()
        page.wait_for_timeout(500)
        expect(frame_of(page).get_by_label("Your name")).to_have_count(0)

    def test_not_when_it_is_switched_off(self, page: Page, embed: Embed, studio: Studio, console: Console) -> None:
        console.allow("404")
        address = embed("form")
        flow = studio.get(f"/flows/{address.rpartition('/')[2]}")
        flow["definition"]["settings"]["widget"]["enabled"] = False
        body = {"revision": flow["revision"], "definition": flow["definition"]}
        studio.api.patch(f"/flows/{flow['id']}/draft", json=body).raise_for_status()
        page.goto(address)
        expect(frame_of(page).get_by_role("heading", name="Not available")).to_be_visible()

    @pytest.mark.parametrize("dark", [False, True])
    def test_so_that_everybody_can_use_it(
        self, browser: Browser, studio: Studio, console: Console, embed: Embed, dark: bool
    ) -> None:
        address = embed("form", welcome_text="Hello")
        flow_id = address.rpartition("/")[2]
        with open_page(browser, studio.url, console, dark=dark, narrow=True, bypass_csp=True) as page:
            page.goto(f"/w/{flow_id}")
            expect(page.get_by_label("Your name")).to_be_visible()
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            check_accessible(page)
        console.check()


class TestSettings:
    def test_show_how_it_will_look_and_give_the_line(self, page: Page, studio: Studio) -> None:
        flow_id = studio.flow("name: Look\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input\n")
        page.goto(f"/flows/{flow_id}/publish")
        page.get_by_role("tab", name="Widget").click()
        page.get_by_label("Allow embedding on other sites").click()
        page.get_by_label("Title").fill("Ask the library")
        preview = page.get_by_role("region", name="Preview")
        expect(preview.get_by_role("heading", name="Ask the library")).to_be_visible()
        expect(page.get_by_text(f'data-flow="{flow_id}"').first).to_be_visible()
        page.get_by_label("Allowed origins").fill("example.org")
        expect(page.get_by_role("alert").filter(has_text="is not an origin such as")).to_be_visible()
