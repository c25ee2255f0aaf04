"""The documentation site builds without a warning, and a reader's browser asks no other server for anything."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from docs.hooks import decisions, sections

from tests.architecture.source import ROOT

OUTSIDE = re.compile(r"(https?:)?//")
LOADED = {
    "link": "href",
    "script": "src",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "video": "src",
    "use": "href",
}
"""Elements that make a browser fetch something, and the attribute with the address."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def pages(site: Path) -> list[Path]:
    """The pages of the built site."""
    return sorted(page for page in site.rglob("*.html") if page.name != "404.html")


def outside(page: Path) -> list[str]:
    """What a page makes a browser fetch from other servers."""
    tree = BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")
    addresses = [
        str(element.get(LOADED[element.name], "")) for element in tree.find_all(LOADED) if isinstance(element, Tag)
    ]
    return [address for address in addresses if OUTSIDE.match(address)]


def styles(text: str) -> list[str]:
    """What a style sheet fetches from other servers."""
    return re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^)\"']+)", text)


class TestSite:
    def test_has_every_page_of_every_section(self, site: Path) -> None:
        listed = {path for _, links in sections() for link in links for path in link.values()}
        listed |= {path for record in decisions() for path in record.values()} | {"index.md"}
        assert {page.relative_to(site).with_suffix(".md").as_posix() for page in pages(site)} == listed

    def test_pages_fetch_nothing_from_other_servers(self, site: Path) -> None:
        assert {page.name: outside(page) for page in pages(site) if outside(page)} == {}

    def test_styles_fetch_nothing_from_other_servers(self, site: Path) -> None:
        sheets = list(site.rglob("*.css"))
        assert len(sheets) > 1
        assert [found for sheet in sheets for found in styles(sheet.read_text(encoding="utf-8"))] == []

    def test_has_no_diagram_whose_script_comes_from_the_network(self, site: Path) -> None:
        """Material fetches Mermaid from a server as soon as a page has a diagram of it."""
        assert [page.name for page in pages(site) if BeautifulSoup(page.read_bytes(), "lxml").select(".mermaid")] == []

    def test_can_be_searched(self, site: Path) -> None:
        index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
        places = {entry["location"].partition("#")[0] for entry in index["docs"]}
        assert {page.relative_to(site).as_posix() for page in pages(site)} - places == set()

    def test_has_a_light_and_a_dark_theme(self, site: Path) -> None:
        tree = BeautifulSoup((site / "index.html").read_bytes(), "lxml")
        schemes = {element["data-md-color-scheme"] for element in tree.select("input[data-md-color-scheme]")}
        assert schemes == {"default", "slate"}

    def test_images_have_a_text_and_exist(self, site: Path) -> None:
        faults = [
            f"{page.name}: {image['src']}"
            for page in pages(site)
            for image in BeautifulSoup(page.read_bytes(), "lxml").select("article img")
            if not image.get("alt") or not (page.parent / str(image["src"])).is_file()
        ]
        assert faults == []


class TestChecks:
    """What the tests above look for would be found."""

    @pytest.mark.parametrize(
        "text",
        [
            '<script src="https://cdn.test/a.js"></script>',
            '<link href="//cdn.test/a.css">',
            '<img src="http://a.test/b">',
        ],
    )
    def test_of_pages(self, text: str, tmp_path: Path) -> None:
        page = tmp_path / "page.html"
        page.write_text(text, encoding="utf-8")
        assert len(outside(page)) == 1

    @pytest.mark.parametrize(
        "text", ["@import 'https://a.test/b.css'", "src: url(//a.test/b.woff2)", 'url("http://a/b")']
    )
    def test_of_styles(self, text: str) -> None:
        assert len(styles(text)) == 1
