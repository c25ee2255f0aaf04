"""Names, values and addresses that somebody hostile chose, in the page as it is built."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.support.browser import Console
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

MARKUP = '<img src=x onerror="window.hit=1"><script>window.hit=2</script><svg onload=window.hit=3>'
MARKDOWN = f"""{MARKUP}

[go](javascript:window.hit=4) [data](data:text/html,<script>parent.hit=5</script>)
![track](https://tracker.example/p.png)

<a href="javascript:window.hit=6">raw</a> <iframe src="https://frame.example/"></iframe>
<style>body{{display:none}}</style>

```{MARKUP}
{MARKUP}
```

| {MARKUP} | `x` |
|---|---|
| [a](vbscript:x) | \u202egnp.exe |
"""
POLLUTING = '[{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 2}}, "a": "<b onclick=x>"}]'
HARMLESS = "() => window.hit === undefined && !Object.prototype.polluted"


@pytest.fixture
def hostile(studio: Studio) -> str:
    """A flow whose author wished ill: each text is markup, each id a member of every object."""
    label = f"\u202e{MARKUP}"[:200]
    nodes: list[dict[str, Any]] = [
        {"id": "given", "type": "TextInput", "label": label, "params": {"text": MARKDOWN}},
        {"id": "valueof", "type": "Note", "label": MARKUP[:100], "params": {"text": MARKDOWN}},
        {"id": "listed", "type": "TextInput", "params": {"text": POLLUTING}},
        {"id": "hasownproperty", "type": "ParseJSON", "label": MARKUP[:100]},
        {"id": "said", "type": "ChatOutput", "label": "javascript:window.hit=7"},
    ]
    definition = {
        "name": MARKUP[:100],
        "description": MARKDOWN,
        "nodes": nodes,
        "edges": [
            {"source": "given", "output": "text", "target": "said", "input": "input"},
            {"source": "listed", "output": "text", "target": "hasownproperty", "input": "text"},
        ],
        "form": [
            {"id": "constructor", "label": MARKUP[:100], "type": "select", "options": [MARKUP, "__proto__"]},
            {"id": "toString", "label": "Second", "type": "text"},
            {"id": "__proto__", "label": "Third", "type": "number", "required": True},
            {"id": "valueOf", "label": "Fourth", "type": "document"},
        ],
    }
    return str(studio.post("/flows", {"definition": definition})["id"])


class TestHostileTexts:
    @pytest.mark.parametrize("view", ["", "/steps", "/overview", "/publish", "/runs"])
    def test_of_a_flow_are_text_in_every_view(self, page: Page, hostile: str, view: str) -> None:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"/flows/{hostile}{view}")
        expect(page.get_by_text("<img src=x").first).to_be_visible()
        assert page.evaluate(HARMLESS)
        assert not [url for url in asked if "example" in url]

    def test_of_a_result_are_text_and_values(self, page: Page, studio: Studio, hostile: str) -> None:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        run = studio.post(
            f"/flows/{hostile}/runs", {"wait": True, "form_data": {"constructor": "__proto__", "__proto__": 4}}
        )
        for step in ("said", "hasownproperty", "given"):
            page.goto(f"/flows/{hostile}/runs/{run['id']}?step={step}")
            expect(page.get_by_text("<img src=x").first).to_be_visible()
            assert page.evaluate(HARMLESS)
            assert page.locator("a[href^='javascript:'], a[href^='data:'], a[href^='vbscript:']").count() == 0
        assert not [url for url in asked if "example" in url]

    def test_do_not_break_the_form_of_a_run(self, page: Page, hostile: str) -> None:
        page.goto(f"/flows/{hostile}")
        page.get_by_role("button", name="Run", exact=True).first.click()
        expect(page.get_by_label("Second")).to_have_value("")
        page.get_by_label("Second").fill("two")
        expect(page.get_by_label("Second")).to_have_value("two")
        page.get_by_label("Third").fill("3")
        expect(page.get_by_label("Third")).to_have_value("3")
        assert page.evaluate(HARMLESS)


CHECKED = """name: Hostile approval
nodes:
  heard: ChatInput
  check: Approval
    question: {question}
    editable: ["*"]
  said: ChatOutput
edges:
  heard.text -> check.value
  check.approve -> said.input
settings:
  widget: {{"enabled": true, "kind": "chat", "origins": ["*"]}}
"""


def assert_harmless(page: Page) -> None:
    for frame in page.frames:
        assert frame.evaluate(HARMLESS)
        assert frame.locator("script:not([src]):has-text('window.hit')").count() == 0
        assert frame.locator("a[href^='javascript:'], a[href^='data:'], a[href^='vbscript:']").count() == 0


class TestHostileApprovals:
    def test_are_text_in_inbox_link_chat_and_widget(self, page: Page, studio: Studio) -> None:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        question, value = f"Pay \u202egnp.exe\u200b? {MARKUP}", MARKDOWN + "y" * 20_000
        flow_id = studio.flow(CHECKED.format(question=json.dumps(question)))
        studio.post(f"/flows/{flow_id}/publish", {})
        run = studio.post(f"/flows/{flow_id}/runs", {"text": value, "version": "published"})
        until(lambda: len(studio.get(f"/approvals?run_id={run['id']}")["items"]), 1)
        (approval,) = studio.get(f"/approvals?run_id={run['id']}")["items"]
        page.goto(f"/inbox/{approval['id']}")
        heading = page.get_by_role("heading", name="Pay [U+202E]gnp.exe[U+200B]? <img src=x")
        expect(heading).to_be_visible()
        region = page.get_by_role("region", name="What you approve")
        expect(region.get_by_text("[U+202E]gnp.exe")).to_be_visible()
        assert_harmless(page)
        page.goto(f"/flows/{flow_id}/runs/{run['id']}")
        expect(page.get_by_role("list", name="Waiting for approval")).to_contain_text("[U+202E]gnp.exe")
        assert_harmless(page)
        link = studio.post(f"/approvals/{approval['id']}/links", {"recipient": MARKUP[:100]})
        page.goto(link["url"])
        expect(page.get_by_role("heading", name="[U+202E]gnp.exe")).to_be_visible()
        assert_harmless(page)
        page.get_by_role("button", name="Approve").click()
        expect(page.get_by_text("Your decision is stored.")).to_be_visible()
        self._decide_in_chat(page, studio, flow_id, f"/chat/{flow_id}")
        self._decide_in_chat(page, studio, flow_id, f"/w/{flow_id}")
        assert not [url for url in asked if "example" in url]

    @staticmethod
    def _decide_in_chat(page: Page, studio: Studio, flow_id: str, path: str) -> None:
        """Send the hostile text to a published flow, approve it, and look at the answer."""
        page.goto(path)
        page.get_by_role("textbox", name="Message").fill(MARKDOWN)
        page.keyboard.press("Enter")
        expect(page.get_by_text("aiting for approval").first).to_be_visible()
        assert_harmless(page)
        (approval,) = studio.get("/approvals?status=pending")["items"]
        studio.post(f"/approvals/{approval['id']}/decision", {"decision": "approve"})
        expect(page.get_by_text("[go]").or_(page.get_by_text("track")).last).to_be_visible()
        expect(page.get_by_text("aiting for approval")).to_have_count(0)
        assert_harmless(page)


class TestLinks:
    def test_that_ask_the_assistant_only_fill_in_the_words(self, page: Page, studio: Studio) -> None:
        flow_id = studio.post("/flows", {"name": "Mine"})["id"]
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.url) if "assist" in request.url else None)
        page.goto(f"/flows/{flow_id}?ask=Delete+everything")
        expect(page).to_have_url(f"{studio.url}/flows/{flow_id}")
        expect(page.get_by_role("combobox", name="Message to the assistant")).to_have_value("Delete everything")
        assert not [url for url in sent if url.endswith("/stream")]


class TestPolicy:
    def test_of_the_built_page_runs_no_code_that_is_not_its_own(self, page: Page, console: Console) -> None:
        console.allow("Content Security Policy")
        console.allow("violates the following")
        page.goto("/")
        expect(page.get_by_role("main")).to_be_visible()
        found = page.evaluate(
            """async () => {
                const add = (tag, more) => document.body.appendChild(Object.assign(document.createElement(tag), more));
                add("script", {textContent: "window.hit = 1"});
                add("script", {src: "data:text/javascript,window.hit=2"});
                add("div", {innerHTML: "<img src='data:,' onerror='window.hit=3'>"});
                add("iframe", {src: "data:text/html,<script>parent.hit=4</script>"});
                add("a", {href: "javascript:window.hit=5", textContent: "go"}).click();
                const ask = (url) => fetch(url).then(() => "sent", () => "refused");
                const evil = [await ask("https://evil.example/"), await ask("http://127.0.0.1:1/")];
                await new Promise((done) => setTimeout(done, 200));
                return {hit: window.hit ?? null, evil};
            }"""
        )
        assert found == {"hit": None, "evil": ["refused", "refused"]}

    def test_stands_on_every_kind_of_page(self, studio: Studio) -> None:
        origin = studio.url
        for path in ("/", "/sign-in", "/flows/none", "/settings/providers", "/nothing/here", "/set-password"):
            answer = studio.api.get(f"{origin}{path}", headers={"accept": "text/html"})
            policy = answer.headers["content-security-policy"]
            assert "unsafe" not in policy, path
            assert "default-src 'none'" in policy, path
            assert "frame-ancestors 'none'" in policy, path


class TestTamperedStorage:
    def test_does_not_keep_anybody_from_the_page(self, page: Page, studio: Studio) -> None:
        flow_id = studio.flow("name: Mine\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input\n")
        rubbish = ["null", '[{"__proto__":{"polluted":true}}, 7]', '{"sessions":[null],"__proto__":{"polluted":true}}']
        page.goto("/")
        for value in rubbish:
            page.evaluate(
                """([flow, value]) => {
                    const keys = ["appearance", "language", "shortcuts", "home.sort", "home.view", "inspector.width",
                        "assistant.history", "assistant.model", "assistant.place", "assistant.docked",
                        "assistant.skip-all", `assistant.${flow}`, `unsaved.${flow}.gone`,
                        `pins.${flow}`, `chat.${flow}`];
                    for (const key of keys) localStorage.setItem(`headgate.${key}`, value);
                }""",
                [flow_id, value],
            )
            page.goto(f"/flows/{flow_id}")
            expect(page.get_by_role("heading", name="Mine")).to_be_visible()
            assert page.evaluate(HARMLESS)
