"""Pictures of pages, compared with those that were looked at and kept in `tests/e2e/pictures`."""

import io
import os
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page

KEPT = Path(__file__).parents[1] / "pictures"
FOUND = Path(".pictures")
"""Where a picture that differs is put, beside one that shows where."""
NEW = os.environ.get("HEADGATE_PICTURES") == "new"
MOST_DIFFERENT = 0.02
"""Share of a picture's dots that may differ: letters are drawn a little differently by each version of a browser."""
NOTICEABLE = 40
"""Of 255: by how much a dot must differ in one colour to count."""


def check_picture(page: Page, name: str) -> None:
    """Fail where the page does not look as it did; `HEADGATE_PICTURES=new` keeps how it looks now."""
    page.evaluate("document.fonts.ready")
    drawn = page.screenshot(animations="disabled", caret="hide")
    now = Image.open(io.BytesIO(drawn)).convert("RGB")
    kept = KEPT / f"{name}.png"
    if NEW:
        kept.parent.mkdir(exist_ok=True)
        # Keeps colours of few dots, such as the red of an edge.
        now.quantize(128, method=Image.Quantize.MAXCOVERAGE).save(kept, optimize=True)
        return
    assert kept.is_file(), f"There is no picture {kept}: make it with HEADGATE_PICTURES=new, and look at it."
    share, shown = differing(now, Image.open(kept).convert("RGB"))
    if share > MOST_DIFFERENT:
        FOUND.mkdir(exist_ok=True)
        now.save(FOUND / f"{name}.png")
        shown.save(FOUND / f"{name}-differs.png")
    assert share <= MOST_DIFFERENT, f"{share:.1%} of '{name}' looks different; see {FOUND.resolve()}"


def differing(one: Image.Image, other: Image.Image) -> tuple[float, Image.Image]:
    """The share of dots that differ noticeably, and a picture of them."""
    if one.size != other.size:
        return 1.0, one
    channels = ImageChops.difference(one, other).split()
    most = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    noticed = most.point(lambda value: 255 if value > NOTICEABLE else 0)
    return noticed.histogram()[255] / (one.width * one.height), noticed
