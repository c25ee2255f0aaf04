"""Bodies of calls."""

import pytest
from pydantic import JsonValue

from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import event_key, parse_body, selected, text_of
from headgate.foundation.errors import Invalid


class TestBodies:
    @pytest.mark.parametrize(
        ("media_type", "content", "value"),
        [
            ("application/json", b'{"a": [1, null]}', {"a": [1, None]}),
            ("application/problem+json; charset=utf-8", b"[]", []),
            ("application/x-www-form-urlencoded", b"a=1&b=&a=2&c=%C3%A5", {"a": ["1", "2"], "b": "", "c": "å"}),
            ("text/plain", "grüß".encode(), "grüß"),
            ("", b"plain", "plain"),
            ("application/json", b"", ""),
            ("text/xml", b"<a x='1'><b>t</b><b/><!-- c --></a>", {"a": {"@x": "1", "b": ["t", ""]}}),
            ("text/xml", b"<a>one<b>t</b> two <!-- c -->three</a>", {"a": {"b": "t", "#text": "one two three"}}),
            ("application/soap+xml", b'<s:a xmlns:s="urn:x">hi<c>1</c></s:a>', {"a": {"c": "1", "#text": "hi"}}),
        ],
    )
    def test_are_read_by_their_media_type(self, media_type: str, content: bytes, value: object) -> None:
        assert parse_body(media_type, content).value == value

    def test_that_are_not_text_are_binary(self) -> None:
        assert parse_body("image/png", b"\x89PNG\x00\xff").binary
        assert parse_body("text/plain", b"a\x00b").binary

    @pytest.mark.parametrize(
        ("media_type", "content"),
        [
            ("application/json", b"{"),
            ("application/json", b'{"a": "\\u0000"}'),
            ("application/json", b"[" * 100 + b"]" * 100),
            ("application/x-www-form-urlencoded", b"&".join(b"a=1" for _ in range(1_001))),
            ("application/x-www-form-urlencoded", b"\xff=1"),
            ("text/xml", b"<a"),
            ("text/xml", b"<a>" * 200 + b"</a>" * 200),
            ("text/xml", b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>'),
            ("text/xml", b'<!DOCTYPE a [<!ENTITY e "x"><!ENTITY f "&e;&e;">]><a>&f;</a>'),
        ],
    )
    def test_that_are_malformed_or_hostile_are_refused(self, media_type: str, content: bytes) -> None:
        with pytest.raises(Invalid):
            parse_body(media_type, content)


class TestKeys:
    def test_come_from_a_header_or_the_body(self) -> None:
        headers = {"x-id": "h1"}
        body: JsonValue = {"data": {"id": 7}}
        assert event_key("header:X-Id", headers, body, name="t") == "h1"
        assert event_key("body:data.id", headers, body, name="t") == "7"
        assert event_key("body:data.other", headers, body, name="t") is None
        assert event_key("header:X-Other", headers, body, name="t") is None

    def test_wrong_expressions_name_the_trigger(self) -> None:
        with pytest.raises(TriggerInvalid, match="The trigger Orders"):
            selected("a[", {}, name="Orders")

    def test_text_is_json_unless_it_is_text(self) -> None:
        values: list[JsonValue] = [None, "a", {"a": 1}, 4]
        assert [text_of(value) for value in values] == ["", "a", '{"a":1}', "4"]
