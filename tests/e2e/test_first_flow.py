"""A stranger's way: from nothing to a flow that a program calls, timed, with no dead end and nothing on the console."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.support.studio import Studio

SENTENCE = "list the installed packages and count them per licence"


class Clock:
    """How long each stretch of the way took."""

    def __init__(self) -> None:
        self.stretches: list[tuple[str, float]] = []

    @contextmanager
    def of(self, stretch: str) -> Iterator[None]:
        """Time a stretch."""
        began = time.perf_counter()
        yield
        self.stretches.append((stretch, time.perf_counter() - began))

    def told(self) -> str:
        """The sum, and each stretch."""
        told = ", ".join(f"{stretch} {seconds:.1f} s" for stretch, seconds in self.stretches)
        return f"{sum(seconds for _, seconds in self.stretches):.1f} s: {told}"


class TestAStranger:
    def test_says_a_sentence_adds_the_proposal_runs_publishes_and_calls_it(
        self, page: Page, studio: Studio, record_property: Callable[[str, object], None]
    ) -> None:
        clock = Clock()
        with clock.of("opens the page"):
            page.goto("/")
            page.get_by_role("textbox", name="Describe what the flow should do").fill(SENTENCE)
        with clock.of("says a sentence, sees a proposal"):
            page.get_by_role("button", name="Build it").click()
            proposal = page.get_by_role("button", name="Add", exact=True)
            expect(proposal).to_be_visible()
        with clock.of("adds it"):
            proposal.click()
            expect(page.locator(".react-flow__node")).not_to_have_count(0)
            expect(page.get_by_role("button", name="Undo", exact=True).last).to_be_focused()
            expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        with clock.of("runs it, sees the result"):
            page.keyboard.press("Escape")
            page.keyboard.press("ControlOrMeta+Enter")
            panel = page.get_by_role("complementary", name="Run")
            expect(panel.get_by_text("Completed").first).to_be_visible()
            expect(panel.get_by_text("MIT", exact=True).first).to_be_visible()
        with clock.of("publishes it"):
            page.get_by_role("link", name="Publish").click()
            page.get_by_role("button", name="Publish the draft").click()
            expect(page.get_by_text("Published as release 1", exact=True)).to_be_visible()
        with clock.of("calls it with curl"):
            answer = self.called(page, studio)
        assert answer["status"] == "completed"
        record_property("figures", clock.told())

    def called(self, page: Page, studio: Studio) -> dict[str, object]:
        """What the shown curl command answers, with a key of one's own in it."""
        shown = page.locator("pre", has_text="curl").first.inner_text()
        made = studio.post("/api-keys", {"name": f"curl {time.time()}"})
        done = subprocess.run(
            ["bash", "-c", shown.replace("hg_YOUR_KEY", made["key"])],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found


pytestmark = pytest.mark.timeout(180)
