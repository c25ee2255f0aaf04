"""Requests and pages."""

from typing import Any

import pytest

from headgate.components.web.requests import URL, HTTPRequest, checked_url, with_query
from headgate.foundation.errors import Cancelled, Forbidden, UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.testing import StepHarness
from tests.unit.components.readers.samples import pdf
from tests.unit.components.readers.test_image import picture

ADDRESS = "https://api.test/v1"


def answering(body: Any = "ok", url: str = ADDRESS, **options: Any) -> StepHarness:
    harness = StepHarness()
    harness.http.answer(url, body, **options)
    return harness


class TestHTTPRequest:
    async def test_parses_json(self) -> None:
        outputs = await answering({"a": [1]}).run(HTTPRequest, {"url": ADDRESS})
        assert outputs == {"data": {"a": [1]}, "text": '{"a": [1]}', "status": 200}

    async def test_gives_other_text_as_it_is(self) -> None:
        outputs = await answering("plain").run(HTTPRequest, {"url": ADDRESS})
        assert outputs == {"data": "plain", "text": "plain", "status": 200}

    @pytest.mark.parametrize(
        ("body", "sent", "media_type"),
        [
            ({"å": 1}, '{"å": 1}'.encode(), "application/json"),
            ([1], b"[1]", "application/json"),
            ("words", b"words", "text/plain; charset=utf-8"),
            ('{"made": "by hand"}', b'{"made": "by hand"}', "application/json"),
            (None, b"", None),
        ],
    )
    async def test_sends_text_or_json(self, body: Any, sent: bytes, media_type: str | None) -> None:
        harness = answering(method="POST")
        values = {"url": ADDRESS, "method": "POST", "body": body, "headers": {"X-Team": "k"}, "timeout_seconds": 5}
        await harness.run(HTTPRequest, values)
        (request,) = harness.http.requests
        assert (request.method, request.body, request.timeout_seconds) == ("POST", sent, 5.0)
        assert request.headers.get("content-type") == media_type
        assert request.headers["x-team"] == "k"

    async def test_sends_the_secrets_that_headers_refer_to(self) -> None:
        harness = answering()
        harness.ctx.secrets["API_KEY"] = "sk-1"
        headers = {"Authorization": {"secret": "API_KEY", "scheme": "Bearer"}, "X-Key": {"secret": "API_KEY"}}
        await harness.run(HTTPRequest, {"url": ADDRESS, "headers": headers})
        assert harness.http.requests[0].headers == {"authorization": "Bearer sk-1", "x-key": "sk-1"}

    @pytest.mark.parametrize("text", ["API_KEY", "Bearer API_KEY", '{"secret": "API_KEY"}', "{{API_KEY}}", "$API_KEY"])
    async def test_sends_text_as_it_is_whatever_it_names(self, text: str) -> None:
        harness = answering()
        harness.ctx.secrets["API_KEY"] = "sk-1"
        await harness.run(HTTPRequest, {"url": ADDRESS, "headers": {"X-Key": text}})
        assert harness.http.requests[0].headers == {"x-key": text}

    async def test_never_shows_a_variable_with_a_line_break(self) -> None:
        harness = answering()
        harness.ctx.secrets["API_KEY"] = "sk-secret\nX: 1"
        with pytest.raises(ComponentError, match="line break") as caught:
            await harness.run(HTTPRequest, {"url": ADDRESS, "headers": {"X-Key": {"secret": "API_KEY"}}})
        assert "sk-secret" not in str(caught.value)

    async def test_keeps_a_content_type_that_was_set(self) -> None:
        harness = answering(method="PUT")
        headers = {"Content-Type": "application/x-ndjson"}
        await harness.run(HTTPRequest, {"url": ADDRESS, "method": "PUT", "body": "{}", "headers": headers})
        assert harness.http.requests[0].headers["content-type"] == "application/x-ndjson"

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    async def test_sends_an_idempotency_key_where_it_changes_something(self, method: str) -> None:
        harness = answering(method=method)
        await harness.run(HTTPRequest, {"url": ADDRESS, "method": method})
        assert harness.http.requests[0].headers["idempotency-key"] == "key-1"

    @pytest.mark.parametrize(
        ("values", "sent"),
        [
            ({"method": "GET"}, None),
            ({"method": "POST", "idempotency_key": False}, None),
            ({"method": "POST", "headers": {"Idempotency-Key": "mine"}}, "mine"),
        ],
    )
    async def test_sends_no_key_or_the_one_that_was_set(self, values: dict[str, Any], sent: str | None) -> None:
        harness = answering(method=values["method"])
        await harness.run(HTTPRequest, {"url": ADDRESS, **values})
        assert harness.http.requests[0].headers.get("idempotency-key") == sent

    async def test_sends_once_for_all_outputs(self) -> None:
        harness = answering()
        await harness.run(HTTPRequest, {"url": ADDRESS})
        assert len(harness.http.requests) == 1

    async def test_stores_binary_content(self) -> None:
        harness = answering(b"\x89PNG\x00", url="https://a.test/p/pic.png", media_type="image/png")
        outputs = await harness.run(HTTPRequest, {"url": "https://a.test/p/pic.png"})
        assert outputs["text"] == ""
        assert outputs["data"]["name"] == "pic.png"
        assert await harness.ctx.files.read(harness.ctx.files.saved[0]) == b"\x89PNG\x00"

    async def test_fails_on_an_error_status_unless_told(self) -> None:
        with pytest.raises(UpstreamFailed, match=r"api\.test answered 404: gone") as caught:
            await answering("gone", status=404).run(HTTPRequest, {"url": ADDRESS})
        assert caught.value.extra == {"upstream_status": 404}
        outputs = await answering("gone", status=404).run(HTTPRequest, {"url": ADDRESS, "fail_on_error": False})
        assert (outputs["status"], outputs["text"]) == (404, "gone")

    async def test_says_that_json_is_broken(self) -> None:
        with pytest.raises(ComponentError, match="HTTPRequest: the text is not JSON"):
            await answering("{oops", media_type="application/json").run(HTTPRequest, {"url": ADDRESS})

    @pytest.mark.parametrize("headers", [{"A": "b\r\nEvil: 1"}, {"A\r\nEvil": "b"}, {"Host": "x"}])
    async def test_refuses_header_injection(self, headers: dict[str, str]) -> None:
        harness = answering()
        with pytest.raises(ComponentError, match="HTTPRequest"):
            await harness.run(HTTPRequest, {"url": ADDRESS, "headers": headers})
        assert harness.http.requests == []

    async def test_sends_nothing_once_cancelled(self) -> None:
        harness = answering()
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(HTTPRequest, {"url": ADDRESS})
        assert harness.http.requests == []

    async def test_lets_the_clients_refusal_through(self) -> None:
        harness = StepHarness()
        harness.http.fail(ADDRESS, Forbidden("10.0.0.1 is private"))
        with pytest.raises(Forbidden):
            await harness.run(HTTPRequest, {"url": ADDRESS})

    @pytest.mark.parametrize(("method", "effect"), [("GET", False), ("HEAD", False), ("POST", True), ("{{x}}", True)])
    def test_is_an_effect_when_it_changes_something(self, method: str, effect: bool) -> None:
        assert HTTPRequest.template({"method": method}).effect is effect
        assert HTTPRequest.template().effect is False


class TestURL:
    async def test_reads_a_page(self) -> None:
        html = "<title>T</title><nav>no</nav><h1>H</h1><a href='x'>link</a>"
        harness = answering(html, url="https://a.test/docs/", media_type="text/html; charset=utf-8")
        outputs = await harness.run(URL, {"url": "a.test/docs/"})
        assert outputs == {
            "text": "# H\n\n[link](https://a.test/docs/x)",
            "title": "T",
            "links": [{"text": "link", "url": "https://a.test/docs/x"}],
        }
        assert len(harness.http.requests) == 1

    @pytest.mark.parametrize(
        ("content", "media_type", "text"),
        [
            ("# Markdown *stays*", "text/markdown", "# Markdown *stays*"),
            ('{"a": 1}', "application/json", '{"a": 1}'),
            ("Åäö".encode("latin-1"), "text/plain; charset=ISO-8859-1", "Åäö"),
            ("<p>åäö</p>".encode("latin-1"), "text/html; charset=latin-1", "åäö"),
            (b"<meta charset='latin-1'><p>\xe5</p>", "text/html", "å"),
            (pdf("From a PDF"), "application/pdf", "From a PDF"),
        ],
    )
    async def test_reads_what_is_no_page(self, content: Any, media_type: str, text: str) -> None:
        outputs = await answering(content, media_type=media_type).run(URL, {"url": ADDRESS})
        assert outputs["text"] == text

    async def test_says_what_it_cannot_read(self) -> None:
        with pytest.raises(ComponentError, match="no text to read"):
            await answering(picture(), media_type="image/png").run(URL, {"url": ADDRESS})

    async def test_names_an_error_status(self) -> None:
        with pytest.raises(UpstreamFailed, match=r"URL: api\.test answered 503"):
            await answering("busy", status=503).run(URL, {"url": ADDRESS})


class TestCheckedUrl:
    @pytest.mark.parametrize(
        ("url", "checked"),
        [
            ("example.org/a", "https://example.org/a"),
            (" http://a.b ", "http://a.b"),
            ("localhost:8000", "https://localhost:8000"),
        ],
    )
    def test_completes(self, url: str, checked: str) -> None:
        assert checked_url(url, subject="X") == checked

    @pytest.mark.parametrize(
        "url",
        [
            "",
            " ",
            "file:///etc/passwd",
            "ftp://a.b",
            "javascript:alert(1)",
            "https://",
            "https://a b",
            "http://[bad",
            "//x",
            "h://\n",
        ],
    )
    def test_refuses(self, url: str) -> None:
        with pytest.raises(ComponentError, match="is not a URL"):
            checked_url(url, subject="X")


class TestWithQuery:
    def test_adds_what_is_set(self) -> None:
        assert with_query("https://a.b/?x=1#f", {"q": "å &", "n": 2, "on": True, "no": None}) == (
            "https://a.b/?x=1&q=%C3%A5+%26&n=2&on=true#f"
        )
        assert with_query("https://a.b", {}) == "https://a.b"
