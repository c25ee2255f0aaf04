"""What opening the page costs the browser, as far as it does not depend on the machine's mood."""

import gzip
from typing import Any

import httpx2
from playwright.sync_api import Page, Response, expect

from tests.e2e.support.studio import Studio

MOST_SCRIPT_BYTES = 354_500
"""Of JavaScript, gzipped, until the canvas can be used."""
MOST_SHIFT = 0.02
SPEC = """name: Weight
nodes:
  ask: ChatInput
  answer: ChatOutput
edges:
  ask.message -> answer.input
"""
_SHIFTS = """() => new Promise((resolve) => {
  let sum = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  });
  observer.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 300);
})"""


class TestOpeningTheCanvas:
    def test_loads_little_and_moves_nothing(self, page: Page, studio: Studio) -> None:
        scripts: dict[str, int] = {}

        def weigh(response: Response) -> None:
            if response.url.endswith(".js") and response.ok:
                plain = httpx2.get(response.url, headers={"accept-encoding": "identity"}).content
                scripts[response.url] = len(gzip.compress(plain, 9))

        loaded: list[Response] = []
        page.on("response", lambda response: loaded.append(response))  # noqa: PLW0108 - Playwright asks it for its arguments
        page.goto(f"/flows/{studio.flow(SPEC)}")
        expect(page.locator(".react-flow__node")).to_have_count(2)
        shift: Any = page.evaluate(_SHIFTS)
        for response in loaded:
            weigh(response)
        assert sum(scripts.values()) < MOST_SCRIPT_BYTES, scripts
        assert shift < MOST_SHIFT

    def test_fetches_nothing_from_elsewhere(self, page: Page, studio: Studio) -> None:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto("/")
        page.wait_for_load_state("networkidle")
        assert asked
        assert [url for url in asked if not url.startswith((studio.url, "data:", "blob:"))] == []
