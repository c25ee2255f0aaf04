"""Every page as it looks, light and wide, dark and narrow, beside pictures that were looked at.

`HEADGATE_PICTURES=new uv run pytest tests/e2e/test_pictures.py` takes them anew; look at each before it is committed.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.pictures import check_picture
from tests.e2e.support.studio import Studio, start_studio

TEMPLATE = "expense-check"
PLACES = {
    "first-visit": ("/", "What should it do?"),
    "canvas": ("/flows/{flow}", "Over the limit?"),
    "steps": ("/flows/{flow}/steps", "The same flow as a list"),
    "overview": ("/flows/{flow}/overview", "Over the limit?"),
    "flow-runs": ("/flows/{flow}/runs", "Runs"),
    "publish": ("/flows/{flow}/publish", "Publish the draft"),
    "templates": ("/templates", "Templates"),
    "runs": ("/runs", "Runs"),
    "observe": ("/observe", "Observe"),
    "settings": ("/settings", "Settings"),
    "appearance": ("/settings/appearance", "Appearance"),
    "shortcuts": ("/settings/shortcuts", "Shortcuts"),
    "design": ("/design", "Colour"),
}
EMPTY = ("first-visit", "runs", "observe", "templates")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server on which nothing was done yet."""
    with start_studio(tmp_path_factory.mktemp("empty")) as found:
        yield found


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, str]]:
    """A server with one flow."""
    with start_studio(tmp_path_factory.mktemp("furnished")) as found:
        definition = found.get(f"/templates/{TEMPLATE}")["definition"]
        yield found, found.post("/flows", {"definition": definition})["id"]


@pytest.mark.xdist_group("pictures")
@pytest.mark.timeout(180)
class TestEveryPage:
    @pytest.mark.parametrize(("dark", "narrow"), [(False, False), (True, True)], ids=["light-wide", "dark-narrow"])
    def test_looks_as_it_did(
        self, browser: Browser, empty: Studio, furnished: tuple[Studio, str], *, dark: bool, narrow: bool
    ) -> None:
        console = Console()
        for name, (path, sign) in PLACES.items():
            studio = empty if name in EMPTY else furnished[0]
            with open_page(browser, studio.url, console, dark=dark, narrow=narrow) as page:
                page.goto(path.format(flow=furnished[1]))
                expect(page.get_by_text(sign).locator("visible=true").first).to_be_visible()
                if name != "design":  # shows what waiting looks like
                    expect(page.locator("[aria-hidden=true].animate-pulse")).to_have_count(0)
                check_picture(page, f"{name}-{'dark' if dark else 'light'}-{'narrow' if narrow else 'wide'}")
        console.check()
