"""A flow's tests in the browser: one is added, run and seen to pass, and publishing opens."""

import re

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

ECHO = "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
READS = (
    "name: Reads\nnodes:\n  given: FileInput\n  read: ReadFile\n  said: ChatOutput\nedges:\n"
    "  given.file -> read.file\n  read.text -> said.input\n"
)


def test_a_test_is_added_and_run_and_publishing_opens(page: Page, studio: Studio) -> None:
    flow = studio.flow(ECHO)
    page.goto(f"/flows/{flow}/tests")
    page.get_by_label("Require passing tests before publishing").click()
    page.get_by_role("button", name="Add a test").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("greets")
    dialog.get_by_label("Input", exact=True).fill("hello there")
    dialog.get_by_label("contains", exact=True).fill("Hello")
    check_accessible(page)
    dialog.get_by_role("button", name="Save test").click()
    expect(page.get_by_text("The answer contains “Hello”")).to_be_visible()

    page.goto(f"/flows/{flow}/publish")
    button = page.get_by_role("button", name="Publish the draft")
    expect(page.get_by_text("has not been tested as often")).to_be_visible()
    expect(button).to_be_disabled()
    page.get_by_role("link", name="Run the tests").click()

    page.get_by_role("button", name="Run the tests").click()
    passed = page.get_by_role("link", name="greets, trial 1: passed")
    expect(passed).to_be_visible()
    expect(page.get_by_text("The current draft passed its tests.")).to_be_visible()
    check_accessible(page)

    page.get_by_role("link", name="Publish", exact=True).click()
    button.click()
    expect(page.get_by_text("Published as release 1", exact=True)).to_be_visible()

    page.goto(f"/flows/{flow}/tests")
    passed.click()
    page.get_by_role("link", name="Save as test").click()
    dialog.get_by_role("button", name="Expect exactly this").click()
    dialog.get_by_role("button", name="Save test").click()
    expect(page.get_by_text("The answer is exactly “hello there”")).to_be_visible()
    expect(page).to_have_url(re.compile(f"/flows/{flow}/tests$"))


def test_a_test_is_given_a_file_and_a_run_is_kept_with_its_own(page: Page, studio: Studio) -> None:
    flow = studio.flow(READS)
    page.goto(f"/flows/{flow}/tests")
    page.get_by_role("button", name="Add a test").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("reads")
    note = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"the word is swordfish")
    dialog.get_by_label("Files", exact=True).set_input_files([note])
    expect(dialog.get_by_role("link", name="Download note.txt")).to_be_visible()
    dialog.get_by_label("contains", exact=True).fill("swordfish")
    check_accessible(page)
    dialog.get_by_role("button", name="Save test").click()
    expect(page.get_by_text("No input with a file")).to_be_visible()

    page.get_by_role("button", name="Run the tests").click()
    page.get_by_role("link", name="reads, trial 1: passed").click()
    page.get_by_role("link", name="Save as test").click()
    expect(dialog.get_by_role("link", name="Download note.txt")).to_be_visible()
    dialog.get_by_label("Name").fill("kept")
    dialog.get_by_role("button", name="Save test").click()
    expect(page.get_by_text("No input with a file")).to_have_count(2)


def test_tests_fit_a_telephone(browser: Browser, studio: Studio, console: Console) -> None:
    flow = studio.flow(ECHO)
    wrong = {"name": "a case with a name that is rather long", "text": "hello", "expect": {"contains": ["good day"]}}
    sent = {"revision": studio.api.get(f"/flows/{flow}/tests").json()["revision"], "cases": [wrong]}
    studio.api.put(f"/flows/{flow}/tests", json=sent).raise_for_status()
    studio.post(f"/flows/{flow}/tests/run", {"trials": 5, "wait": True})
    with open_page(browser, studio.url, console, narrow=True) as page:
        page.goto(f"/flows/{flow}/tests")
        expect(page.get_by_text("5 of 5 trials failed")).to_be_visible()
        expect(page.get_by_text("Trials 1, 2, 3, 4, 5: the answer does not contain “good day”")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        check_accessible(page)
