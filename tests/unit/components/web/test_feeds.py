"""Feeds, sitemaps and extraction as steps."""

from typing import Any

import pytest

from headgate.components.web.extraction import ExtractHTML, ExtractXML
from headgate.components.web.feeds import ReadFeed, ReadSitemap
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness
from tests.unit.components.readers.test_feed import RSS, SITEMAP, URL


def serving(**pages: str) -> StepHarness:
    harness = StepHarness()
    for name, content in pages.items():
        harness.http.answer(f"https://example.org/{name}", content, media_type="application/xml")
    return harness


class TestReadFeed:
    async def test_gives_entries_as_rows_and_lines(self) -> None:
        outputs = await serving(feed=RSS).run(ReadFeed, {"url": "example.org/feed"})
        assert outputs["items"].columns[:2] == ["title", "url"]
        assert outputs["text"].splitlines()[0] == "- [One bold](<https://example.org/one>) (2026-01-31)"
        assert outputs["data"]["title"] == "News & notes"

    async def test_leaves_out_older_entries(self) -> None:
        for since, count in (("2026-01-31T09:30+01:00", 0), ("2026-01-31", 1)):
            outputs = await serving(feed=RSS).run(ReadFeed, {"url": URL, "since": since}, outputs=["items"])
            assert len(outputs["items"].rows) == count
        with pytest.raises(ComponentError, match="is not a date and time"):
            await serving(feed=RSS).run(ReadFeed, {"url": URL, "since": "soon"})

    async def test_says_that_it_was_not_served(self) -> None:
        harness = StepHarness()
        harness.http.answer(URL, "gone", status=410)
        with pytest.raises(UpstreamFailed, match="answered 410"):
            await harness.run(ReadFeed, {"url": URL})


class TestReadSitemap:
    async def test_follows_an_index_once(self) -> None:
        entries = "".join(f"<sitemap><loc>https://example.org/{name}</loc></sitemap>" for name in ("a", "index", "a"))
        harness = serving(index=f"<sitemapindex>{entries}</sitemapindex>", a=SITEMAP)
        rows = (await harness.run(ReadSitemap, {"url": "https://example.org/index"}))["urls"].rows
        assert [row[0] for row in rows] == ["https://example.org/a", "https://example.org/b"]
        assert len(harness.http.requests) == 2

    @pytest.mark.parametrize(("values", "count"), [({"most_urls": 1}, 1), ({"most_sitemaps": 1}, 0)])
    async def test_stops_at_its_limits(self, values: dict[str, Any], count: int) -> None:
        index = "<sitemapindex><sitemap><loc>https://example.org/a</loc></sitemap></sitemapindex>"
        outputs = await serving(index=index, a=SITEMAP).run(ReadSitemap, {"url": "https://example.org/index", **values})
        assert len(outputs["urls"].rows) == count


class TestExtraction:
    async def test_gives_columns_of_html(self) -> None:
        values = {"html": "<p><a href=/x>One</a></p>", "selector": "p", "columns": {"name": "a", "link": "a@href"}}
        outputs = await StepHarness().run(ExtractHTML, values)
        assert outputs["data"] == [{"name": "One", "link": "/x"}]
        assert outputs["text"] == "One\t/x"
        plain = await StepHarness().run(ExtractHTML, {"html": "<b>1</b><b>2</b>", "selector": "b"})
        assert (plain["data"], plain["text"]) == (["1", "2"], "1\n2")

    async def test_gives_values_of_xml(self) -> None:
        xml = '<?xml version="1.0" encoding="ISO-8859-1"?><a><b>Å</b><b c="1"/></a>'
        outputs = await StepHarness().run(ExtractXML, {"xml": xml, "expression": "//b"})
        assert outputs["data"] == [
            {"tag": "b", "text": "Å", "attributes": {}},
            {"tag": "b", "text": "", "attributes": {"c": "1"}},
        ]
        assert outputs["text"] == "Å\n"
