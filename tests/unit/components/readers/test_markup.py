"""HTML into Markdown."""

import time

import pytest

from headgate.components.readers import markup
from headgate.components.readers.document import Unreadable
from headgate.components.readers.markup import read_html

PAGE = """<html><head><title> The  title </title><style>p{}</style></head><body>
<nav><a href="/home">Home</a></nav><header>Banner</header>
<main><article><header><h1>Head_line</h1></header><p>One <b>two</b><br>three * four.</p><script>alert(1)</script>
<ul><li>a</li><li>b</li></ul><table><tr><th>k</th></tr><tr><td>v</td></tr></table>
<a href="../next?q=1#x">next  page</a> <a href="/other">o</a><a href="../next?q=1#x">again</a>
<a href="javascript:alert(1)">bad</a><a href=" JAVA&#10;SCRIPT:alert(1)">bad</a><a href="http://[bad">worse</a>
<img src="p.png" alt="pic"><img src="data:image/png;base64,AAAA"></article></main>
<footer>Foot</footer></body></html>"""


class TestReadHtml:
    def test_keeps_what_people_read(self) -> None:
        page = read_html(PAGE, url="https://a.test/docs/x/")
        assert page.title == "The title"
        for kept in (
            "# Head_line",
            "One **two**\nthree * four.",
            "- a\n- b",
            "| k |",
            "![pic](https://a.test/docs/x/p.png)",
        ):
            assert kept in page.markdown
        for gone in ("Home", "Banner", "Foot", "alert", "base64", "p{}"):
            assert gone not in page.markdown

    def test_makes_links_absolute_and_single(self) -> None:
        assert read_html(PAGE, url="https://a.test/docs/x/").links == [
            {"text": "next page", "url": "https://a.test/docs/next?q=1#x"},
            {"text": "o", "url": "https://a.test/other"},
        ]

    def test_keeps_everything_when_told(self) -> None:
        page = read_html(PAGE, url="https://a.test/", main_only=False)
        assert "Banner" in page.markdown
        assert page.links[0]["url"] == "https://a.test/home"

    def test_takes_the_body_when_main_is_empty(self) -> None:
        assert read_html("<main> </main><p>text</p>").markdown == "text"

    @pytest.mark.parametrize("html", ["", "plain text", "<p>unclosed", "<<<>>>", "\x00"])
    def test_takes_any_text(self, html: str) -> None:
        assert isinstance(read_html(html).markdown, str)

    @pytest.mark.parametrize(
        "html",
        [
            "<div>" * 20_000 + "deep",
            "<a " * 100_000,
            "<p>" + " " * 500_000 + "x",
            "<p>" + "&#32;" * 100_000 + "x",
            "<!--" * 50_000,
            "<b>" * 5_000 + "x",
            "<table><tr><td>" * 1_000 + "x",
        ],
    )
    def test_stays_fast_on_hostile_pages(self, html: str) -> None:
        began = time.process_time()
        read_html(html)
        assert time.process_time() - began < 10

    def test_bounds_the_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(markup, "MOST_MARKUP", 3)
        with pytest.raises(Unreadable, match="the limit is 3"):
            read_html("<p>x")
