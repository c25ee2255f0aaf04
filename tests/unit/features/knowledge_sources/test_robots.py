"""Rules of robots.txt, with the examples of RFC 9309."""

import time

import pytest

from headgate.features.knowledge_sources.reading.robots import NOTHING, Rules, rules_of

RFC = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: HeadGate
Disallow: /example/page.html
Disallow: /a%3cd.html
"""


class TestRules:
    def test_of_our_name_replace_those_of_all(self) -> None:
        rules = rules_of(RFC)
        assert not rules.allow("/example/page.html")
        assert rules.allow("/example/other.html")
        assert rules.allow("/x.gif")
        assert not rules.allow("/a%3Cd.html")

    @pytest.mark.parametrize(
        ("path", "allowed"),
        [
            ("/", True),
            ("/example/x", False),
            ("/x.gif", False),
            ("/x.gif?y", True),
            ("/publications/a", True),
            ("/robots.txt", True),
        ],
    )
    def test_of_all_apply_without_ours(self, path: str, allowed: bool) -> None:
        assert rules_of(RFC.replace("HeadGate", "other")).allow(path) is allowed

    @pytest.mark.parametrize(
        ("text", "path", "allowed"),
        [
            ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
            ("User-agent: *\nAllow: /a\nDisallow: /a", "/a", True),
            ("User-agent: *\nDisallow: /*?session=", "/x?session=1", False),
            ("User-agent: *\nDisallow: /*.php$", "/x.php", False),
            ("User-agent: *\nDisallow: /*.php$", "/x.php5", True),
            ("User-agent: *\nDisallow: /a$", "/a", False),
            ("User-agent: *\nDisallow: /a$", "/ab", True),
            ("User-agent: *\nDisallow:", "/a", True),
            ("Disallow: /", "/a", True),
            ("User-agent: *\nDisallow: /ä", "/%C3%A4/x", False),
            ("\x00\xff nonsense\n: :\nUser-agent: *\r\nDisallow: /a # why", "/a", False),
        ],
    )
    def test_match(self, text: str, path: str, allowed: bool) -> None:
        assert rules_of(text).allow(path) is allowed

    def test_where_there_are_none_allow_and_where_they_cannot_be_read_forbid(self) -> None:
        assert Rules().allow("/a")
        assert not NOTHING.allow("/a")

    def test_of_a_hostile_server_take_no_time(self) -> None:
        text = "User-agent: *\n" + ("Disallow: /" + "*a" * 400 + "b\n") * 5_000
        begun = time.monotonic()
        assert rules_of(text).allow("/" + "a" * 8_000)
        assert time.monotonic() - begun < 20
