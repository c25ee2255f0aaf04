"""The canvas in a real browser: flows of 100, 500 and 1,000 nodes, panned, zoomed, dragged and connected.

The page is the built one, served by a real `headgate serve`; the browser is Chromium without a graphics card, so every
pixel is drawn by the processor. Frame times are what `requestAnimationFrame` says while the mouse moves as a hand
would move it. `--page URL` measures a page that runs already.

    python -m benchmarks.canvas [--quick | --smoke] [--json FILE]
"""

import json
import os
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from tests.e2e.support.browser import BROWSER_OPTIONS, WIDE

from benchmarks.measure import Report, arguments, percentile
from benchmarks.rest import HEADGATE
from benchmarks.serving import serving
from benchmarks.startup import free_port

SIZES = {100: 150, 500: 750, 1000: 1500}
"""Nodes to edges."""
LEAST_FPS = 50.0
LONGEST_PAINT_MS = 1500.0
LONGEST_START_MS = 1000.0
_COLUMN, _ROW = 380, 300
_RECORD = """
() => {
  const times = [];
  let last = performance.now(), on = true;
  const step = now => { times.push(now - last); last = now; if (on) requestAnimationFrame(step); };
  requestAnimationFrame(now => { last = now; requestAnimationFrame(step); });
  const enough = done => times.length > 2 ? done(times) : setTimeout(enough, 5, done);
  window.stopFrames = () => new Promise(enough).finally(() => { on = false; });
}
"""
_STARTED = """
() => new Promise(done => {
  const wait = () => document.querySelector(".react-flow__node, canvas")
    ? requestAnimationFrame(() => {
        const drawn = performance.now();
        requestIdleCallback(() => done({drawn, idle: performance.now(),
          paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null}));
      })
    : requestAnimationFrame(wait);
  wait();
})
"""
Gesture = Callable[[Page, float], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """How long each gesture lasts, how often the page is opened, and how long it comes to rest before a gesture."""

    seconds: float
    repeats: int
    settle: float = 0.4


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__ or "")
    effort = options.choose(Effort(4.0, 3), Effort(1.5, 3), Effort(0.02, 1, settle=0.05))
    sizes = options.choose(SIZES, SIZES, {20: 24})
    report = Report("The canvas (Chromium, software rendering)", ("nodes", "what", "median", "p95", "worst frame"))
    with _page_address() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**BROWSER_OPTIONS)
        for nodes, edges in sizes.items():
            _measure(report, browser, f"{url}/flows/{_imported(url, nodes, edges)}", nodes, effort)
        browser.close()
    report.finish(options, picture="canvas.png")


@contextmanager
def _page_address() -> Iterator[str]:
    """A server of our own, unless `HEADGATE_E2E_URL` names a page that runs already."""
    running = os.environ.get("HEADGATE_E2E_URL")
    if running:
        yield running
        return
    port = free_port()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving([HEADGATE, "serve", "--port", str(port)], {"HEADGATE_DATA_DIR": folder}, port, "/docs") as (port, _pid),
    ):
        yield f"http://127.0.0.1:{port}"


def _measure(report: Report, browser: Browser, address: str, nodes: int, effort: Effort) -> None:
    starts = [_start(browser, address) for _ in range(effort.repeats)]
    for what, aim in (("drawn", LONGEST_PAINT_MS), ("idle", LONGEST_START_MS)):
        took = sorted(one[what] for one in starts)
        name = {"drawn": "first picture of the flow", "idle": "ready for the hand"}[what]
        bar = (f"{nodes} nodes: {name}, {aim:.0f} ms", statistics.median(took) / aim) if nodes == max(SIZES) else None
        values = {"nodes": nodes, "what": what, "ms": took}
        report.add(
            f"{nodes:,}", name, f"{statistics.median(took):.0f} ms", f"{took[-1]:.0f} ms", "", values=values, bar=bar
        )
    context = browser.new_context(viewport={"width": WIDE["width"], "height": WIDE["height"]}, locale="en-GB")
    page = context.new_page()
    page.goto(address)
    page.evaluate(_STARTED)
    for name, prepare, gesture in GESTURES:
        prepare(page)
        time.sleep(effort.settle)
        _pause_pointer(page)
        time.sleep(effort.settle)
        frames = _frames(page, gesture, effort.seconds)
        fps = 1000 / statistics.median(frames)
        slow = percentile(frames, 0.95)
        bar = (f"{nodes} nodes: {name} at {LEAST_FPS:.0f} fps", LEAST_FPS / fps) if nodes == max(SIZES) else None
        report.add(
            f"{nodes:,}",
            name,
            f"{fps:.0f} fps",
            f"{1000 / slow:.0f} fps",
            f"{max(frames):.0f} ms",
            values={"nodes": nodes, "what": name, "fps": fps, "p95_ms": slow, "worst_ms": max(frames)},
            bar=bar,
        )
    context.close()


def _start(browser: Browser, address: str) -> dict[str, float]:
    context = browser.new_context(viewport={"width": WIDE["width"], "height": WIDE["height"]}, locale="en-GB")
    page = context.new_page()
    page.goto(address, wait_until="commit")
    found: dict[str, float] = page.evaluate(_STARTED)
    context.close()
    return found


def _frames(page: Page, gesture: Gesture, seconds: float) -> list[float]:
    page.evaluate(_RECORD)
    gesture(page, seconds)
    times: list[float] = page.evaluate("() => window.stopFrames()")
    return times[2:]


def _middle(page: Page) -> tuple[float, float]:
    box = page.locator(".react-flow").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _swing(page: Page, x: float, y: float, seconds: float, reach: float) -> None:
    """Move the pressed mouse to and fro, as a hand does."""
    end, step = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        step += 1
        phase = abs((step % 120) - 60) / 60
        page.mouse.move(x + reach * (1 - 2 * phase), y + reach / 2 * (phase - 0.5))
        time.sleep(0.006)


def _whole(page: Page) -> None:
    page.get_by_role("button", name="Fit to window").click()


def _close(page: Page) -> None:
    page.get_by_role("button", name="Fit to window").click()
    page.get_by_role("button", name="set to 100").click()


def _pause_pointer(page: Page) -> None:
    x, y = _middle(page)
    page.mouse.move(x, y)


def _pan(page: Page, seconds: float) -> None:
    x, y = _empty_spot(page)
    page.mouse.move(x, y)
    page.mouse.down()
    _swing(page, x, y, seconds, 350)
    page.mouse.up()


def _zoom(page: Page, seconds: float) -> None:
    x, y = _middle(page)
    page.mouse.move(x, y)
    end, step = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        step += 1
        page.mouse.wheel(0, -40 if (step // 40) % 2 == 0 else 40)
        time.sleep(0.012)


def _drag(page: Page, seconds: float) -> None:
    x, y = _spot_of(page, "node")
    page.mouse.move(x, y)
    page.mouse.down()
    _swing(page, x, y, seconds, 220)
    page.mouse.up()
    page.keyboard.press("Control+z")


def _connect(page: Page, seconds: float) -> None:
    x, y = _spot_of(page, "port")
    page.mouse.move(x, y)
    page.mouse.down()
    _swing(page, x, y, seconds, 300)
    page.mouse.move(x, y)
    page.mouse.up()
    page.keyboard.press("Escape")


_SPOT = """
kind => {
  const frame = document.querySelector(".react-flow").getBoundingClientRect();
  const inside = p => p.x > frame.x + 200 && p.x < frame.right - 200 && p.y > frame.y + 150 && p.y < frame.bottom - 170;
  const handles = [...document.querySelectorAll(".react-flow__handle.source")].map(one => one.getBoundingClientRect())
    .map(r => ({x: r.x + r.width / 2, y: r.y + r.height / 2})).filter(inside);
  if (kind === "port") return handles[Math.floor(handles.length / 2)];
  const near = [...document.querySelectorAll(".react-flow__node")].map(one => one.getBoundingClientRect())
    .map(r => ({x: r.x + Math.min(110, r.width / 2), y: r.y + Math.min(18, r.height / 2)})).filter(inside);
  if (near.length) return near[Math.floor(near.length / 2)];
  // Far out nodes are drawn and no elements: the middle of a place of the grid is where one stands.
  const m = new DOMMatrix(document.querySelector(".react-flow__viewport").style.transform);
  for (let column = 0; column < 60; column++) for (let row = 0; row < 60; row++) {
    const p = {x: frame.x + m.e + m.a * (column * COLUMN + 110), y: frame.y + m.f + m.a * (row * ROW + 18)};
    if (inside(p) && p.x > frame.x + frame.width / 2 && p.y > frame.y + frame.height / 2) return p;
  }
}
""".replace("COLUMN", str(_COLUMN)).replace("ROW", str(_ROW))
_EMPTY = """
() => {
  const frame = document.querySelector(".react-flow").getBoundingClientRect();
  const m = new DOMMatrix(document.querySelector(".react-flow__viewport").style.transform);
  const free = (x, y) => (y - frame.y - m.f) / m.a % ROW > 285 || (x - frame.x - m.e) / m.a % COLUMN > 300;
  for (let y = frame.y + frame.height / 2; y < frame.bottom - 80; y += 3)
    for (let x = frame.x + frame.width / 2; x < frame.right - 60; x += 3)
      if (free(x, y) && document.elementFromPoint(x, y)?.closest(".react-flow__pane")) return {x, y};
  return {x: frame.x + 5, y: frame.y + 5};
}
""".replace("COLUMN", str(_COLUMN)).replace("ROW", str(_ROW))


def _spot_of(page: Page, kind: str) -> tuple[float, float]:
    found = page.evaluate(_SPOT, kind)
    return found["x"], found["y"]


def _empty_spot(page: Page) -> tuple[float, float]:
    found = page.evaluate(_EMPTY)
    return found["x"], found["y"]


GESTURES: tuple[tuple[str, Callable[[Page], None], Gesture], ...] = (
    ("pan, all in sight", _whole, _pan),
    ("zoom", _whole, _zoom),
    ("drag a node, all in sight", _whole, _drag),
    ("pan at 100 %", _close, _pan),
    ("drag a node at 100 %", _close, _drag),
    ("connect at 100 %", _close, _connect),
)


def _imported(url: str, nodes: int, edges: int) -> str:
    """A flow of so many nodes through the API; its id."""
    body = json.dumps({"content": json.dumps(_flow(nodes, edges))}).encode()
    request = urllib.request.Request(f"{url}/api/v1/flows/import", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: str = json.load(answer)["id"]
    return found


def _flow(nodes: int, edges: int) -> dict[str, Any]:
    rows = round((nodes * 0.7) ** 0.5)
    kinds = ("TextInput", "CombineText", "AIStep", "CombineText", "Merge")
    types = [kinds[0] if number < rows else kinds[1 + number % 4] for number in range(nodes)]
    ports = {"CombineText": "parts", "AIStep": "input", "Merge": "values"}
    outputs = {"TextInput": "text", "CombineText": "text", "AIStep": "output", "Merge": "text"}
    wires: dict[tuple[int, int], None] = {(number - rows, number): None for number in range(rows, nodes)}
    number = rows
    while len(wires) < edges:
        if types[number] != "AIStep":
            wires[number - rows - 1 if number % rows else number - 1, number] = None
        number = number + 1 if number + 1 < nodes else rows
        if number == rows and len(wires) < edges:
            rows_back = 2 * rows
            wires.update({(n - rows_back, n): None for n in range(rows_back, nodes) if types[n] != "AIStep"})
            wires = dict(list(wires.items())[:edges])
    return {
        "headgate_flow": 1,
        "name": f"{nodes} nodes",
        "nodes": [
            {
                "id": f"n{number}",
                "type": kind,
                "position": {"x": number // rows * _COLUMN, "y": number % rows * _ROW},
                "params": {"prompt": "Say it shorter."} if kind == "AIStep" else {},
            }
            for number, kind in enumerate(types)
        ],
        "edges": [
            {"source": f"n{a}", "output": outputs[types[a]], "target": f"n{b}", "input": ports[types[b]]}
            for a, b in wires
        ],
    }


if __name__ == "__main__":
    main()
