"""Feeds and sitemaps in their formats, with the faults that real ones have."""

import gzip
import json

import pytest

from headgate.components.readers.document import Unreadable
from headgate.components.readers.feed import read_feed, read_sitemap

URL = "https://example.org/feed"
RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><atom:link href="https://example.org/feed" rel="self"/><title>News &amp; notes</title>
<link>https://example.org/</link><description>All of it</description>
<item><title>One &lt;b&gt;bold&lt;/b&gt;</title><link>/one</link><pubDate>Sat, 31 Jan 2026 09:00:00 +0100</pubDate>
<dc:creator>Åsa</dc:creator><description><![CDATA[<p>First  text</p>]]></description><category>a</category>
<guid isPermaLink="false">id-1</guid><enclosure url="https://example.org/1.mp3" type="audio/mpeg" length="1"/></item>
<item><guid>https://example.org/two</guid><title>Two</title><pubDate>yesterday</pubDate></item>
<item><title>Evil</title><link>javascript:alert(1)</link></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><link href="https://example.org/"/>
<entry><title type="html">A &amp;amp; B</title><id>urn:1</id><link rel="edit" href="/edit"/><link href="/a"/>
<updated>2026-01-31T08:00:00Z</updated><author><name>Bo</name></author>
<content type="html">&lt;p&gt;x&lt;/p&gt;</content>
<category term="t"/></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Old</title><link>https://example.org/</link></channel>
<item><title>R</title><link>https://example.org/r</link><dc:date>2026-01-31</dc:date></item></rdf:RDF>"""
JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "J",
        "home_page_url": "https://example.org/",
        "items": [{"id": "1", "url": "/j", "content_html": "<p>Hi</p>", "date_published": "2026-01-31T09:00:00+01:00",
                   "authors": [{"name": "Cai"}], "tags": ["t"]}],
    }
)  # fmt: skip


class TestReadFeed:
    def test_reads_rss(self) -> None:
        feed = read_feed(RSS.encode(), url=URL)
        assert (feed.title, feed.url, feed.description) == ("News & notes", "https://example.org/", "All of it")
        assert feed.items[0] == {
            "title": "One bold",
            "url": "https://example.org/one",
            "published": "2026-01-31T08:00:00+00:00",
            "updated": None,
            "author": "Åsa",
            "summary": "First text",
            "categories": ["a"],
            "id": "id-1",
            "attachment": "https://example.org/1.mp3",
        }
        assert (feed.items[1]["url"], feed.items[1]["published"]) == ("https://example.org/two", None)
        assert feed.items[2]["url"] == ""

    def test_reads_atom(self) -> None:
        item = read_feed(ATOM.encode(), url=URL).items[0]
        assert (item["title"], item["url"], item["author"], item["summary"]) == (
            "A & B",
            "https://example.org/a",
            "Bo",
            "x",
        )
        assert item["published"] == item["updated"] == "2026-01-31T08:00:00+00:00"

    def test_reads_rss_of_1999(self) -> None:
        item = read_feed(RDF.encode(), url=URL).items[0]
        assert (item["title"], item["published"]) == ("R", "2026-01-31T00:00:00+00:00")

    def test_reads_json(self) -> None:
        feed = read_feed(JSON_FEED.encode(), url=URL)
        item = feed.items[0]
        assert (feed.title, item["url"], item["summary"], item["author"], item["categories"]) == (
            "J",
            "https://example.org/j",
            "Hi",
            "Cai",
            ["t"],
        )

    def test_stops_at_the_limit(self) -> None:
        assert len(read_feed(RSS.encode(), url=URL, most=1).items) == 1

    def test_reads_a_feed_that_is_cut_off(self) -> None:
        assert read_feed(RSS.encode()[:700], url=URL).items[0]["title"] == "One bold"

    @pytest.mark.parametrize("content", [b"", b"<html><body/></html>", b'{"a": 1}', b"plain", b"<rss/>"])
    def test_refuses_what_is_none(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            read_feed(content, url=URL)

    def test_refuses_entities(self) -> None:
        entity = RSS.replace("<rss", '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss', 1)
        with pytest.raises(Unreadable, match="declares entities"):
            read_feed(entity.replace("All of it", "&x;").encode(), url=URL)


SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://example.org/a </loc>
<lastmod>2026-01-31</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url>
<url><loc>https://example.org/b</loc></url><url><loc>ftp://example.org/c</loc></url></urlset>"""


class TestReadSitemap:
    @pytest.mark.parametrize("content", [SITEMAP.encode(), gzip.compress(SITEMAP.encode())])
    def test_reads_urls(self, content: bytes) -> None:
        sitemap = read_sitemap(content, url=URL)
        assert not sitemap.is_index
        assert sitemap.urls == [
            {
                "url": "https://example.org/a",
                "modified": "2026-01-31T00:00:00+00:00",
                "change_frequency": "daily",
                "priority": 0.8,
            },
            {"url": "https://example.org/b", "modified": None, "change_frequency": None, "priority": None},
        ]

    def test_reads_an_index_and_a_list(self) -> None:
        index = "<sitemapindex><sitemap><loc>https://example.org/1.xml</loc></sitemap></sitemapindex>"
        assert read_sitemap(index.encode(), url=URL).is_index
        assert [one["url"] for one in read_sitemap(b"https://example.org/x\nno\n", url=URL).urls] == [
            "https://example.org/x"
        ]

    def test_refuses_a_bomb(self) -> None:
        with pytest.raises(Unreadable, match="unpacks to more than 20 MB"):
            read_sitemap(gzip.compress(b" " * 30_000_000), url=URL)

    @pytest.mark.parametrize("content", [b"<html/>", b"\x1f\x8bno"])
    def test_refuses_what_is_none(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            read_sitemap(content, url=URL)
