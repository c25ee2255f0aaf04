"""Opening the page: first paint, usable, script, waiting for scripts, layout shift; a new browser window each time.

The raw floor in the same run: the same browser on the same server, opening an answer of ten words (`/health`).

    python -m benchmarks.page [--quick | --smoke] [--json FILE]
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from tests.e2e.support.browser import BROWSER_OPTIONS, Console, open_page
from tests.e2e.support.studio import Studio, start_studio

from benchmarks.measure import Report, arguments, median

AIM_MS = 1000
AIM_KB = 350
NODES = 12
_WATCH = """
window.seen = {shift: 0, blocked: 0};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.seen.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.seen.blocked += Math.max(0, entry.duration - 50);
}).observe({type: "longtask", buffered: true});
"""
_READ = """() => ({
  ...window.seen,
  now: performance.now(),
  paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now(),
  bytes: performance.getEntriesByType("resource").filter((one) => one.name.endsWith(".js"))
    .reduce((sum, one) => sum + one.encodedBodySize, 0),
})"""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the page, and what is there once it can be used."""

    name: str
    path: str
    sign: str


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    repeats = options.choose(10, 3, 1)
    with tempfile.TemporaryDirectory() as folder, start_studio(Path(folder)) as studio:
        places = (
            Place("flows", "/", "a[href*='/flows/']"),
            Place(f"canvas, {NODES} nodes", f"/flows/{_flow(studio)}", ".react-flow__node"),
            Place("runs", "/runs", "main h1"),
            Place("settings", "/settings", "main h1, main h2"),
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(**BROWSER_OPTIONS)
            floor = median([_opened(browser, studio, "/health", "body")["now"] for _ in range(repeats)])
            found = {one: [_opened(browser, studio, one.path, one.sign) for _ in range(repeats)] for one in places}
            browser.close()
    columns = ("place", "first paint", "usable", "aim", "floor", "ratio", "script", "waiting", "layout shift")
    report = Report("Opening the page (ms; script in KB, as it is sent)", columns)
    for place, opened in found.items():
        _row(report, place.name, opened, floor)
    report.finish(options, picture="page.png")


def _flow(studio: Studio) -> str:
    names = [f"step_{number}" for number in range(NODES - 1)]
    nodes = "".join(f"  {name}: CombineText\n" for name in names)
    pairs = zip(["ask", *names], names, strict=False)
    edges = "".join(f"  {one}.{'message' if one == 'ask' else 'text'} -> {two}.parts\n" for one, two in pairs)
    return studio.flow(f"name: Twelve\nnodes:\n  ask: ChatInput\n{nodes}edges:\n{edges}")


def _opened(browser: Browser, studio: Studio, path: str, sign: str) -> Mapping[str, float]:
    with open_page(browser, studio.url, Console()) as page:
        page.add_init_script(_WATCH)
        page.goto(path, wait_until="commit")
        page.wait_for_selector(sign)
        found: Any = page.evaluate(_READ)
        return {name: float(value) for name, value in found.items()}


def _row(report: Report, name: str, opened: list[Mapping[str, float]], floor: float) -> None:
    middle = {key: median([one[key] for one in opened]) for key in opened[0]}
    kilobytes = middle["bytes"] / 1000
    report.add(
        name,
        f"{middle['paint']:.0f}",
        f"{middle['now']:.0f}",
        f"{AIM_MS}",
        f"{floor:.0f}",
        f"{middle['now'] / floor:.1f}x",
        f"{kilobytes:.0f} of {AIM_KB}",
        f"{middle['blocked']:.0f}",
        f"{middle['shift']:.3f}",
        values={**middle, "floor": floor},
        bar=(f"{name}: usable", middle["now"] / AIM_MS),
    )
    report.bars.append((f"{name}: script", kilobytes / AIM_KB))


if __name__ == "__main__":
    main()
