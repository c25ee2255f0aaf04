"""Secret values are found however they come back, and nothing else is."""

import base64
import html
import json
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.secret_values import (
    REDACTED,
    SecretStream,
    SecretValues,
    is_recognisable,
    read,
    use,
    without_secrets,
)

VALUE = 's3cret/"værde"+&<%> 0123'
SECRETS = st.text(st.characters(codec="utf-8"), min_size=6, max_size=40).map(str.strip).filter(is_recognisable)
WRITTEN: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "after a scheme": lambda value: f"Bearer {value}",
    "as JSON": lambda value: json.dumps({"echo": value}),
    "as JSON of Unicode": lambda value: json.dumps({"echo": value}, ensure_ascii=False),
    "as HTML": html.escape,
    "in a URL": lambda value: f"?k={quote(value, safe='')}&x",
    "in a path": quote,
    "in a form": quote_plus,
    "as base64": lambda value: base64.b64encode(value.encode()).decode(),
    "as base64 for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "as a password": lambda value: base64.b64encode(f"anna:{value}".encode()).decode(),
    "as a name": lambda value: base64.b64encode(f"{value}:pass".encode()).decode(),
    "as hex": lambda value: value.encode().hex(),
}


def known(*values: str) -> SecretValues:
    secrets = SecretValues()
    for value in values:
        secrets.add(value)
    return secrets


class TestText:
    @pytest.mark.parametrize("way", WRITTEN)
    def test_holds_no_value_however_it_is_written(self, way: str) -> None:
        shown = known(VALUE).text(f"a {WRITTEN[way](VALUE)} b")
        assert REDACTED in shown
        assert WRITTEN[way](VALUE) not in shown
        assert shown.startswith("a ")
        assert shown.endswith(" b")

    @given(value=SECRETS, before=st.text(max_size=20), after=st.text(max_size=20))
    def test_holds_no_value_wherever_it_is(self, value: str, before: str, after: str) -> None:
        assert known(value).text(f"{before}{value}{after}").count(value) <= f"{before}{REDACTED}{after}".count(value)

    @pytest.mark.parametrize("value", ["", "abc", "12345", "aaaaaaaaaa", "ababababab"])
    def test_keeps_what_is_too_short_or_too_plain(self, value: str) -> None:
        text = f"a {value} b {value * 3}"
        assert known(value).text(text) == text

    def test_is_as_it_was_without_secrets(self) -> None:
        assert SecretValues().text("anything") == "anything"

    def test_holds_no_password_of_an_address(self) -> None:
        secrets = known("postgres://anna:h%40nter22@db.example/x")
        assert secrets.text("h@nter22 and h%40nter22") == f"{REDACTED} and {REDACTED}"

    def test_takes_out_the_longer_of_two(self) -> None:
        assert known("secret-1", "secret-1-more").text("secret-1-more, secret-1") == f"{REDACTED}, {REDACTED}"


class TestJson:
    def test_is_taken_out_everywhere(self) -> None:
        value = {"a": [VALUE, 1, None, True], VALUE: {"b": f"x{VALUE}"}}
        assert known(VALUE).json(value) == {"a": [REDACTED, 1, None, True], REDACTED: {"b": f"x{REDACTED}"}}

    def test_takes_out_numbers(self) -> None:
        assert known("12345678").json([12345678, 123456789, True]) == [REDACTED, 123456789, True]


class TestContent:
    def test_of_text_is_replaced_and_of_binary_keeps_its_length(self) -> None:
        secrets = known("secret-value")
        assert secrets.content(b"a secret-value b") == f"a {REDACTED} b".encode()
        assert secrets.content(b"\0a secret-value b") == b"\0a ************ b"


class TestStream:
    @given(
        value=SECRETS,
        before=st.text(max_size=12),
        after=st.text(max_size=12),
        cuts=st.lists(st.integers(0, 60), max_size=8),
    )
    def test_gives_the_same_as_the_whole_text_however_it_is_cut(
        self, value: str, before: str, after: str, cuts: list[int]
    ) -> None:
        secrets = known(value)
        text = before + value + after
        edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
        stream = SecretStream(secrets)
        shown = [stream.feed(text[start:end]) for start, end in pairwise(edges)]
        whole = "".join(shown) + stream.rest()
        assert value not in whole.replace(REDACTED, "")

    def test_keeps_back_no_more_than_may_be_the_beginning_of_a_value(self) -> None:
        stream = SecretStream(known("secret-value"))
        assert [stream.feed(piece) for piece in ("a se", "cret", "-valu", "e b", " secre", "tary")] == [
            "a ", "", "", f"{REDACTED} b", " ", "secretary",
        ]  # fmt: skip
        assert stream.rest() == ""

    def test_passes_pieces_on_at_once_without_secrets(self) -> None:
        assert SecretStream(SecretValues()).feed("sec") == "sec"


class TestRuns:
    async def test_know_what_was_read_while_they_execute(self) -> None:
        read("read-outside-a-run")
        assert without_secrets("read-outside-a-run") == "read-outside-a-run"
        values = SecretValues()
        use(values)
        read("read-inside")
        assert without_secrets({"a": "read-inside"}) == {"a": REDACTED}
        assert values.text("read-inside") == REDACTED
