"""From a question in the chat to the cited passage, on its page of the document."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio, start_studio
from tests.support.openai_server import OpenAIServer
from tests.support.pdfs import pdf_of

TRAVEL: FilePayload = {
    "name": "travel.pdf",
    "mimeType": "application/pdf",
    "buffer": pdf_of(["This handbook is for all employees.", "The daily allowance in Lisbon is 68 EUR."]),
}
SPEC = """name: Ask the handbook
nodes:
  ask: ChatInput
  reply: AnswerFromKnowledge
    base: Handbook
    model: openai/gpt-5-mini
  out: ChatOutput
edges:
  ask.text -> reply.question
  reply.answer -> out.input
"""


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """A model provider on loopback."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, model: OpenAIServer) -> Iterator[Studio]:
    """A studio whose OpenAI is the scripted one."""
    folder = tmp_path_factory.mktemp("citations")
    with start_studio(folder, OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="sk-test-only") as found:
        yield found


@pytest.fixture
def page(browser: Browser, own: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, own.url, console) as page:
        yield page
    console.check()


def test_a_citation_opens_the_document_at_the_page_with_the_passage_marked(
    page: Page, own: Studio, model: OpenAIServer
) -> None:
    base = own.post("/knowledge-bases", {"name": "Handbook"})
    page.goto(f"/knowledge/{base['id']}")
    page.get_by_label("Drop documents here").set_input_files(TRAVEL)
    expect(page.get_by_text("2 passages")).to_be_visible()
    flow_id = own.flow(SPEC)
    own.post(f"/flows/{flow_id}/publish", {})
    model.sort = lambda _asked: model.text("The daily allowance in Lisbon is 68 EUR [1].")
    page.goto(f"/chat/{flow_id}")
    page.get_by_role("textbox", name="Message").fill("What is the daily allowance in Lisbon?")
    page.keyboard.press("Enter")
    messages = page.get_by_role("region", name="Messages")
    expect(messages.get_by_role("link", name=re.compile(r"\[1\] travel\.pdf, page 2"))).to_be_visible()
    messages.get_by_role("button", name="Verify").click()
    expect(messages.get_by_text("Verified", exact=True)).to_be_visible()
    check_accessible(page)
    messages.get_by_role("link", name="[1]", exact=True).click()
    expect(page.get_by_role("heading", name="travel.pdf")).to_be_visible()
    expect(page.get_by_role("img", name="Page 2 of travel.pdf")).to_be_visible()
    expect(page.get_by_test_id("mark")).to_be_visible()
    page.get_by_text("Text", exact=True).click()
    marked = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Page 2"))
    expect(marked.locator("mark")).to_have_text("The daily allowance in Lisbon is 68 EUR.")
    expect(marked.get_by_text("Cited passage")).to_be_in_viewport()
    expect(page.locator("mark")).to_have_count(1)
    check_accessible(page)
