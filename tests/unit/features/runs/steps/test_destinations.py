"""Which addresses somebody else than content from outside has chosen."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.features.runs.steps.destinations import chosen_by_author, chosen_by_clean_values, host_listed
from headgate.sdk import Message

CONTEXT: dict[str, JsonValue] = {"clean": {"output": "https://api.example.org"}, "foul": {"output": "evil"}}
TEMPLATE = "https://api.example.org/items/{{foul.output}}/price?of={{foul.output}}"


def by_author(url: str, *texts: str) -> bool:
    return chosen_by_author(url, texts, CONTEXT, lambda root: root != "foul")


class TestChosenByAuthor:
    @pytest.mark.parametrize(
        "url",
        [
            "https://api.example.org/items/tea/price",
            "https://api.example.org/items/green%20tea/price?of=x&more=y",
            "HTTPS://API.EXAMPLE.ORG/items/tea/price",
        ],
    )
    def test_lets_a_value_fill_one_segment_and_the_query(self, url: str) -> None:
        assert by_author(url, TEMPLATE)

    @pytest.mark.parametrize(
        "url",
        [
            "https://api.example.org/items/tea/more/price",
            "https://api.example.org/items/../price",
            "https://api.example.org/items/./price",
            "https://api.example.org/items/%2e%2e/price",
            "https://api.example.org/items/a%2fb/price",
            "https://api.example.org/items/a\\b/price",
            "https://api.example.org/items/tea",
            "http://api.example.org/items/tea/price",
            "https://api.example.org:8443/items/tea/price",
            "https://api.example.org@evil.example/items/tea/price",
            "https://evil.example/items/tea/price",
        ],
    )
    def test_lets_it_choose_nothing_else(self, url: str) -> None:
        assert not by_author(url, TEMPLATE)

    def test_puts_clean_values_in(self) -> None:
        assert by_author("https://api.example.org/a", "{{clean.output}}/a")
        assert by_author("https://api.example.org/", "api.example.org")

    @pytest.mark.parametrize(
        "text",
        [
            "https://{{foul.output}}/a",
            "https://{{foul.output}}.example.org/a",
            "{{foul.output}}",
            "https://a.b{{foul.output}}",
        ],
    )
    def test_knows_no_host_from_outside(self, text: str) -> None:
        assert not by_author("https://evil/a", text)
        assert not by_author("https://evil.example.org/a", text)
        assert not by_author("https://a.b.evil/a", text)

    @given(st.text(max_size=40))
    def test_whatever_fills_a_segment_the_host_and_the_other_segments_stay(self, value: str) -> None:
        url = f"https://api.example.org/items/{value}/price"
        if by_author(url, TEMPLATE):
            _, *segments = urlsplit(url).path.split("/")
            assert [segments[0], segments[2:]] == ["items", ["price"]]
            assert segments[1] not in {".", ".."}
            assert urlsplit(url).netloc == "api.example.org"


class TestChosenByCleanValues:
    def test_finds_addresses_in_texts_messages_and_lists(self) -> None:
        url = "https://example.org/a?b=c"
        for value in (url, f"See {url}, please.", Message(text=f"({url})"), [{"link": url}], "example.org/a?b=c"):
            assert chosen_by_clean_values(url, [value], whole=True), value

    def test_holds_a_model_to_the_whole_address(self) -> None:
        assert not chosen_by_clean_values("https://example.org/a?d=secret", ["https://example.org/a"], whole=True)
        assert chosen_by_clean_values("https://example.org/a?d=1", ["https://example.org/a"], whole=False)
        assert not chosen_by_clean_values("https://example.org/a/secret", ["https://example.org/a"], whole=False)


class TestHostListed:
    def test_knows_names_and_everything_below_one(self) -> None:
        assert host_listed("Example.org.", ["example.org"])
        assert host_listed("a.b.example.org", ["*.example.org"])
        assert not host_listed("example.org", ["*.example.org"])
        assert not host_listed("evilexample.org", ["example.org", "*.example.org"])
        assert not host_listed("", ["*."])
