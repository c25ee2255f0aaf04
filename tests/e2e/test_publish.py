"""Publishing in the browser: checks, versions, what changed, restoring, calls that work, and files."""

import io
import json
import os
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from pypdf import PdfReader

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

LETTER = """
name: A letter & more
nodes:
  letter: PromptTemplate
    label: Letter
    template: |
      Dear {{flow_input.name}},
      your case {{flow_input.number}} is done.
  out: ChatOutput
edges:
  letter.text -> out.input
form:
  name: text
    label: Who's "asking"
    required: true
  number: number
    label: Number
"""


@pytest.fixture
def flow(studio: Studio) -> str:
    """A flow that can be published."""
    return studio.flow(LETTER)


def publish(studio: Studio, flow: str, notes: str = "") -> int:
    version: int = studio.post(f"/flows/{flow}/publish", {"notes": notes})["version"]
    return version


def change(studio: Studio, flow: str, text: str) -> None:
    """Another draft: a text changed, a node gone, another one there."""
    draft = studio.get(f"/flows/{flow}")
    definition = draft["definition"]
    definition["nodes"][0]["params"]["template"] = text
    definition["nodes"][1] = {"id": "note", "type": "Note", "params": {"text": "Hi"}, "position": {"x": 0, "y": 400}}
    definition["edges"] = []
    answer = studio.api.patch(f"/flows/{flow}/draft", json={"revision": draft["revision"], "definition": definition})
    answer.raise_for_status()


def test_a_draft_that_is_fine_is_published_with_a_note(page: Page, studio: Studio, flow: str) -> None:
    page.goto(f"/flows/{flow}/publish")
    expect(page.get_by_text("No versions yet")).to_be_visible()
    expect(page.get_by_text("Dry run: no model was called")).to_be_visible()
    page.get_by_label("What's new").fill("The first letter")
    page.get_by_role("button", name="Publish the draft").click()
    expect(page.get_by_text("Published as release 1", exact=True)).to_be_visible()
    expect(page.get_by_title("Published", exact=True)).to_be_visible()
    versions = page.get_by_role("region", name="Versions")
    expect(versions.get_by_text("Version 1")).to_be_visible()
    expect(versions.get_by_text("The first letter")).to_be_visible()
    expect(versions.get_by_text("published", exact=True)).to_be_visible()
    expect(versions.get_by_text("release 1", exact=True)).to_be_visible()
    stored = studio.get(f"/flows/{flow}/versions/1")
    expect(versions.get_by_text(stored["checksum"][:12])).to_be_visible()


def test_publishing_what_is_published_says_that_nothing_is_new_and_keeps_the_note(
    page: Page, studio: Studio, flow: str
) -> None:
    publish(studio, flow, "The first letter")
    page.goto(f"/flows/{flow}/publish")
    note = page.get_by_label("What's new")
    note.fill("The second letter")
    page.get_by_role("button", name="Publish the draft").click()
    expect(page.get_by_text("The draft is identical to release 1", exact=True)).to_be_visible()
    expect(note).to_have_value("The second letter")


def test_a_draft_with_faults_says_what_stands_in_the_way_and_where(page: Page, studio: Studio) -> None:
    flow = studio.flow(LETTER.replace("flow_input.number", "flow_input.age"))
    page.goto(f"/flows/{flow}/publish")
    expect(page.get_by_role("button", name="Publish the draft")).to_be_disabled()
    expect(page.get_by_text("Fix 1 problem first.")).to_be_visible()
    expect(page.get_by_text("1 to fix", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show “Letter”").first.click()
    expect(page).to_have_url(f"{studio.url}/flows/{flow}")


def test_what_changed_is_seen_on_the_picture_and_read_in_words(page: Page, studio: Studio, flow: str) -> None:
    publish(studio, flow)
    change(studio, flow, "Hello {{flow_input.name}},\nyour case {{flow_input.number}} is done.")
    page.goto(f"/flows/{flow}/publish")
    page.get_by_role("button", name="Actions for version 1").click()
    page.get_by_role("menuitem", name="Compare with the draft").click()
    dialog = page.get_by_role("dialog", name="What changed")
    picture = dialog.get_by_role("group", name="Diagram of the changes")
    expect(picture.get_by_role("button", name="Letter, Prompt template, changed")).to_be_visible()
    expect(picture.get_by_role("button", name="Chat output, out, removed")).to_be_visible()
    expect(dialog.get_by_text("Hello {{flow_input.name}},")).to_be_visible()
    expect(dialog.get_by_text("Dear {{flow_input.name}},")).to_be_visible()
    picture.get_by_role("button", name="Chat output, out, removed").focus()
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("heading", name="Changes of “out”")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_version_is_restored_and_the_restoring_taken_back(page: Page, studio: Studio, flow: str) -> None:
    publish(studio, flow)
    change(studio, flow, "Hello {{flow_input.name}}")

    def saved(word: str) -> None:
        """Wait until the server's draft has the word."""
        until(lambda: word in json.dumps(studio.get(f"/flows/{flow}")["definition"]["nodes"]))

    page.goto(f"/flows/{flow}/publish")
    page.get_by_role("button", name="Actions for version 1").click()
    page.get_by_role("menuitem", name="Restore into the draft").click()
    expect(page.get_by_text("Version 1 was restored into the draft", exact=True)).to_be_visible()
    saved("Dear")
    page.get_by_role("button", name="Undo", exact=True).last.click()
    saved("Hello")


def test_the_calls_that_are_shown_work(page: Page, studio: Studio, flow: str, tmp_path: Path) -> None:
    publish(studio, flow)
    key = studio.post("/api-keys", {"name": "e2e"})["key"]
    page.goto(f"/flows/{flow}/publish")
    shown = page.get_by_role("region", name="Use the flow").locator("pre code")
    expect(shown).to_contain_text(f"{studio.url}/api/v1/flows/{flow}/runs")
    curl = shown.inner_text()
    assert "hg_YOUR_KEY" in curl
    done = subprocess.run(
        ["bash", "-e"], check=False, input=curl.replace("hg_YOUR_KEY", key), capture_output=True, text=True, timeout=60
    )
    assert json.loads(done.stdout)["output"]["text"].startswith('Dear Who\'s "asking"'), done.stdout + done.stderr
    page.get_by_role("tab", name="Python").click()
    expect(shown).to_contain_text("urllib.request")
    program = tmp_path / "call.py"
    program.write_text(shown.inner_text())
    environment = {**os.environ, "HEADGATE_API_KEY": key}
    done = subprocess.run(
        [sys.executable, program], check=False, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("completed Dear"), done.stdout + done.stderr
    page.get_by_role("tab", name="OpenAI").click()
    expect(shown).to_contain_text(f'model="{flow}"')
    page.get_by_role("link", name="Create an API key").click()
    expect(page).to_have_url(f"{studio.url}/settings/keys")


def test_files_of_a_flow_open(page: Page, flow: str) -> None:
    page.goto(f"/flows/{flow}/publish")
    files = page.get_by_role("region", name="Files")

    def taken(name: str) -> bytes:
        with page.expect_download() as download:
            files.get_by_role("button", name=name).click()
        return Path(download.value.path()).read_bytes()

    assert json.loads(taken("Flow (JSON)"))["name"] == "A letter & more"
    assert taken("Flow (text)").decode().startswith("name: A letter & more")
    assert ET.fromstring(taken("Diagram (SVG)")).tag.endswith("svg")
    png = taken("Diagram (PNG)")
    assert png.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 400
    assert height > 100
    text = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(taken("Audit report (PDF)"))).pages)
    assert "A letter & more" in text
    assert "Prompt template" in text


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_it(browser: Browser, studio: Studio, console: Console, flow: str, *, dark: bool) -> None:
    publish(studio, flow)
    change(studio, flow, "Hello")
    with open_page(browser, studio.url, console, dark=dark, narrow=dark) as page:
        page.goto(f"/flows/{flow}/publish")
        expect(page.get_by_text("Version 1", exact=True)).to_be_visible()
        expect(page.get_by_text("Dry run")).to_be_visible()
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"/flows/{flow}/publish?before=1&after=draft")
        expect(page.get_by_role("heading", name="changes")).to_be_visible()
        check_accessible(page, within="[role=dialog]")
    console.check()
